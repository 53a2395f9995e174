/**
 * Verifies signed output before publication: read back from disk, without data of the signing step.
 *
 * Level B uses the quick check. Higher levels and output of the remote portal go through full validation. At every
 * level the new signature must be valid, and every earlier signature that was valid must stay valid; one that was
 * invalid before is ignored, as is an error that the file had before.
 *
 * Source: docs/batch-values.md §6.4.
 */
import {
  asicDataObjects,
  brokenSignatures,
  isIntact,
  matchingSignature,
  newFaults,
  type ReadSignatures,
  readSignatures,
  type SignatureLevel,
  type SignatureRecord,
  type SignedFileRequest,
  type TrustSettings,
  type ValidationItem,
  type ValidationReport,
  verifyFile,
} from '@sealwright/signatures';
import type { FileDigest, JobFormat, UploadedFile } from '../../machines/batch/job-context.ts';
import { filesDigests, prefixDigest } from '../shared/files/digest.ts';
import type { TrustOptions } from '../shared/signing/trust-options.ts';
import { type CoSignedForm, coSignedForm } from './co-sign.ts';
import { isContainer as isZip } from './extend.ts';
import { TaskFailure } from './task-failure.ts';
import type { WorkerProfileRuntime } from './worker-profiles.ts';

export interface OutputCheck {
  readonly format: JobFormat;
  /** The signed file. */
  readonly path: string;
  /** Name of the input, also of its member in a container. */
  readonly fileName: string;
  /** Opens input and output when they are encrypted PDFs. */
  readonly password?: string;
  /** `Extend`: the input was signed already and was raised to the level of the profile. */
  readonly operation?: 'Extend';
  /** The files concatenated in the input. @default one file */
  readonly files?: readonly UploadedFile[];
  /** The staged input, for detached signatures. */
  readonly stagedPath: string;
  /** The staged content; null when unknown. */
  readonly content: FileDigest | null;
  readonly profile: WorkerProfileRuntime;
  readonly trust: TrustOptions;
  /** True: signed on the remote portal, by another party's key. */
  readonly remote: boolean;
  readonly at: number;
}

/**
 * Returns or resolves when the output is valid; synchronous at level B without earlier signatures.
 * @throws {TaskFailure} `verification.failed`, naming every failed check
 */
export function verifyOutput(check: OutputCheck): void | Promise<void> {
  if (check.operation === 'Extend') return verifyExtended(check);
  if (check.remote) return verifyRemote(check);
  const signedAlready = coSignedForm(check.stagedPath, check, check.profile);
  if (signedAlready !== undefined) return verifyCoSigned(check, signedAlready);
  const isRead = check.profile.demand !== undefined && check.format === 'Pades';
  if (isContainer(check) || levelOf(check) !== 'B' || isRead) return verifyFully(check);
  const signatures = verifyQuickly(check, check.profile.anchors);
  return signatures > 1 && maySurvive(check) ? verifyEarlier(check) : undefined;
}

/** True where earlier signatures are kept: PDF and XML; CMS covers the whole file. */
function maySurvive({ format }: OutputCheck): boolean {
  return format !== 'Cades';
}

async function verifyEarlier(check: OutputCheck): Promise<void> {
  const before = await verifyInWorker(check, check.stagedPath);
  const misses = worseThan(before, await verifyInWorker(check, check.path));
  if (misses.length > 0) fail(misses);
}

function worseThan(before: ValidationReport, after: ValidationReport): readonly string[] {
  return [...brokenSignatures(before, after).map((harm) => `earlier: ${harm}`), ...newFaults(before, after)];
}

const readings = new WeakMap<OutputCheck, Map<string, ReadSignatures>>();

/** Validates a file of the job. Its signatures are read once, whatever trust they are judged by. */
export function judged(
  check: OutputCheck,
  file: Pick<SignedFileRequest, 'format' | 'path' | 'content'>,
  trust: TrustSettings,
): Promise<ValidationReport> {
  const known = readings.get(check) ?? new Map<string, ReadSignatures>();
  readings.set(check, known);
  const key = JSON.stringify([file.format, file.path, file.content]);
  const { password, at } = check;
  const read =
    known.get(key) ??
    readSignatures({ ...file, ...opening(password), certificates: check.trust.intermediates });
  known.set(key, read);
  return read.validate({ trust, at });
}

const NOBODY = { anchors: [], intermediates: [], revocation: 'none', algorithms: 'as-listed' } as const;

/** Validates the file without trust anchors. */
function verifyInWorker(check: OutputCheck, path: string): Promise<ValidationReport> {
  return judged(check, { format: check.format, path }, NOBODY);
}

function opening(password: string | undefined): { readonly password?: string } {
  return password === undefined ? {} : { password };
}

function levelOf({ profile }: OutputCheck): SignatureLevel {
  return profile.choices.level ?? 'B';
}

function isContainer({ profile }: OutputCheck): boolean {
  return profile.form.container !== undefined;
}

function isDetached({ format, profile }: OutputCheck): boolean {
  return format === 'Cades' && profile.form.detached;
}

/** @returns the number of signatures in the file */
function verifyQuickly(check: OutputCheck, anchors: readonly Buffer[]): number {
  const { format, path, stagedPath, content, profile, at } = check;
  const report = verifyFile({
    format,
    path,
    at,
    isPlaced: profile.choices.xades?.place !== undefined,
    isPlain: profile.choices.xades?.form === 'xmldsig',
    ...opening(check.password),
    ...(isDetached(check) && { contentPath: stagedPath }),
    ...(profile.signer && { signer: profile.signer.fingerprint }),
    ...(content && { content }),
    ...(anchors.length > 0 && { anchors }),
  });
  // Earlier signatures are compared with their state before.
  const failed = report.checks.filter(({ name, ok }) => !ok && !name.startsWith('earlier-'));
  if (failed.length > 0) fail(failed.map(({ name, detail }) => `${name}: ${detail}`));
  return report.signatures;
}

/** Verifies a new signature above level B: own certificate, staged content, all properties of its level. */
async function verifyFully(check: OutputCheck): Promise<void> {
  const { format, path, stagedPath, content, profile, trust } = check;
  const level = levelOf(check);
  // The quick check does not know incremental updates after the signature; the signed revision comes first.
  if (isContainer(check)) verifyMembers(check);
  else if (format !== 'Pades') verifyQuickly(check, []);
  else if (content && prefixDigest(path, content.length) !== content.sha256)
    fail(['content: The file does not begin with what was to be signed.']);
  const isLong = level !== 'B' && level !== 'T';
  const file = {
    format: isContainer(check) ? 'Asic' : format,
    path,
    ...(isDetached(check) && { content: stagedPath }),
  } as const;
  const report = await judged(check, file, {
    anchors: [...profile.anchors, ...trust.roots],
    intermediates: trust.intermediates,
    // Revocation was checked before signing; from level LT on the responses are in the file.
    revocation: isLong && trust.revocation !== 'none' ? 'soft' : 'none',
    algorithms: 'as-listed',
    // The authority is judged below, where roots are configured for it.
    levels: 'present',
  });
  const hasBefore = maySurvive(check) && !isContainer(check);
  const misses = [
    ...(hasBefore ? [] : newFaults(undefined, report)),
    ...missingLevels(ownSignature(report, profile), level, {
      signer: profile.anchors.length > 0,
      authority: trust.roots.length > 0,
    }),
  ];
  if (misses.length > 0) fail(misses);
  if (hasBefore && hasMore(report)) await verifyEarlier(check);
}

/** True for a file with more than one valid signature. */
function hasMore({ signatures, results }: ValidationReport): boolean {
  return !results.isValid || signatures.filter(({ isTimestamp }) => !isTimestamp).length > 1;
}

/** Compares the data objects of a container with the staged files. */
function verifyMembers({ path, stagedPath, fileName, files, content }: OutputCheck): void {
  const expected = files
    ? filesDigests(stagedPath, files)
    : content && [{ name: fileName, sha256: content.sha256, length: content.length }];
  if (expected === null) return;
  const found = asicDataObjects(path);
  const isFound = (file: (typeof expected)[number]) =>
    found.some(
      ({ name, sha256, length }) => name === file.name && sha256 === file.sha256 && length === file.length,
    );
  if (found.length !== expected.length || !expected.every(isFound))
    fail(['content: The container does not hold the files that were to be signed.']);
}

/**
 * Verifies an extended file: no valid signature got worse or was removed, and every valid one has at least the level of
 * the profile. A PDF starts with the original bytes.
 */
async function verifyExtended(check: OutputCheck): Promise<void> {
  const { path, stagedPath, content } = check;
  const format = isZip(stagedPath) ? 'Asic' : check.format;
  if (format === 'Pades' && content && prefixDigest(path, content.length) !== content.sha256)
    fail(['content: The file does not begin with what was to be extended.']);
  const before = await judged(check, { format, path: stagedPath }, NOBODY);
  const after = await judged(check, { format, path }, NOBODY);
  const level = levelOf(check);
  const low = after.signatures.filter(
    (record) =>
      !record.isTimestamp && record.isInContent !== true && isIntact(record) && !reaches(record, level),
  );
  const misses = [
    ...worseThan(before, after),
    ...low.map(({ name, level: has }) => `level: ${name} is of level ${has ?? 'none'}, not ${level}.`),
  ];
  if (misses.length > 0) fail(misses);
}

/**
 * Verifies a file that got another signature: it has the level of the profile, and every signature that was intact still
 * is. Names do not tell signatures of CMS apart: they count positions, which DER sorts anew.
 */
async function verifyCoSigned(check: OutputCheck, format: CoSignedForm): Promise<void> {
  const { path, stagedPath, profile, trust } = check;
  const neutral = {
    anchors: [...profile.anchors, ...trust.roots],
    intermediates: trust.intermediates,
    // The authority is judged by `missingLevels`, where roots are configured for it.
    revocation: 'none',
    algorithms: 'as-listed',
    levels: 'present',
  } as const;
  const before = await judged(check, { format, path: stagedPath }, neutral);
  const after = await judged(check, { format, path }, neutral);
  const intact = ({ signatures }: ValidationReport) =>
    signatures.filter((record) => !record.isTimestamp && isIntact(record)).map(keyOf);
  const had = intact(before);
  const has = intact(after);
  const added = after.signatures.filter((record) => !had.includes(keyOf(record)));
  const own = ownSignature({ ...after, signatures: added }, profile) ?? ownSignature(after, profile);
  const misses = [
    ...newFaults(before, after),
    ...missingLevels(own, levelOf(check), {
      signer: profile.anchors.length > 0,
      authority: trust.roots.length > 0,
    }),
    ...(has.length === had.length + 1 && had.every((key) => has.includes(key))
      ? []
      : ['earlier: The signatures that were there are not all as they were.']),
  ];
  if (misses.length > 0) fail(misses);
}

/** Certificate and claimed time of a signature. */
export function keyOf({ certificate, signingTime }: SignatureRecord): string {
  return `${certificate?.thumbprint} ${signingTime}`;
}

function reaches({ level: has }: SignatureRecord, level: SignatureLevel): boolean {
  return has !== undefined && LEVELS.indexOf(has) >= LEVELS.indexOf(level);
}

/** The last signature of the profile's certificate. */
function ownSignature(
  { signatures }: ValidationReport,
  profile: WorkerProfileRuntime,
): SignatureRecord | undefined {
  return signatures.filter((record) => isBy(record, profile)).at(-1);
}

/** True for a signature of the profile's certificate. */
export function isBy(record: SignatureRecord, { signer }: WorkerProfileRuntime): boolean {
  const thumbprint = Buffer.from(signer?.fingerprint ?? '', 'hex').toString('base64');
  return isSignature(record) && record.certificate?.thumbprint === thumbprint;
}

/** True for a signature of the file itself. */
export function isSignature({ isTimestamp, isInContent }: SignatureRecord): boolean {
  return !isTimestamp && isInContent !== true;
}

const LEVELS: readonly SignatureLevel[] = ['B', 'T', 'LT', 'LTA'];

/** @param paths records whose path to a trust anchor is required */
function missingLevels(
  record: SignatureRecord | undefined,
  level: SignatureLevel,
  paths: { readonly signer: boolean; readonly authority: boolean },
): readonly string[] {
  if (record === undefined) return ['signer: No signature is by the certificate of the profile.'];
  const misses = errorsOf(record, paths.signer);
  if (!reaches(record, level))
    misses.push(`level: The signature is of level ${record.level ?? 'none'}, not ${level}.`);
  const stamps = record.timestamps.filter(({ kind }) => kind === 'signature');
  if (stamps.length === 0 && level !== 'B') misses.push('timestamp: There is no signature time-stamp.');
  for (const { results } of record.timestamps) {
    // Without roots, trust in the time-stamp authority is left to the recipient; the integrity of the token is
    // checked here.
    misses.push(
      ...results.errors.filter(({ type }) => paths.authority || type !== 'timestamp.chain').map(sentence),
    );
  }
  return misses;
}

/** Defects of a signature; with `withChain` including those of the certificate chain. */
function errorsOf({ results, changes }: SignatureRecord, withChain: boolean): string[] {
  return [
    ...results.errors.filter(({ type }) => withChain || type !== 'chain').map(sentence),
    ...changes.filter(({ permitted }) => !permitted).map(({ description }) => `changes: ${description}`),
  ];
}

/**
 * Verifies output of the remote portal: at least one signature, all intact unless invalid before, in the format of the
 * job, over the content that was sent. Requires chains only with configured roots.
 */
async function verifyRemote(check: OutputCheck): Promise<void> {
  const { format, path, stagedPath, trust, profile } = check;
  const withChain = trust.roots.length > 0;
  const file = { format, path, ...(format === 'Cades' && { content: stagedPath }) };
  const report = await judged(check, file, {
    anchors: trust.roots,
    intermediates: trust.intermediates,
    revocation: 'none',
    algorithms: 'as-listed',
  });
  const before =
    maySurvive(check) && (report.signatures.length > 1 || !report.results.isValid)
      ? await verifyInWorker(check, stagedPath)
      : undefined;
  const misses = [
    ...newFaults(before, report),
    ...report.signatures
      .filter((record) => !wasBroken(record, before))
      .flatMap((record) => errorsOf(record, withChain)),
    ...(before && report.signatures.every((record) => matchingSignature(record, before))
      ? ['signature: The portal added none to those that were there.']
      : []),
    ...(profile.compareContent ? otherContent(check) : []),
  ];
  if (misses.length > 0) fail([...new Set(misses)]);
}

/** True for a signature that was invalid before the file was sent to the portal. */
function wasBroken(record: SignatureRecord, before: ValidationReport | undefined): boolean {
  const then = before && matchingSignature(record, before);
  return then !== undefined && !isIntact(then);
}

/**
 * Detects a valid signature over other content. A PDF must start with the sent file; XML must equal it without the
 * signature; CMS must contain it or be detached from it.
 */
function otherContent({ format, path, stagedPath, content, at }: OutputCheck): readonly string[] {
  if (content === null) return [];
  const beside = format === 'Cades' ? { contentPath: stagedPath } : {};
  const { checks } = verifyFile({ format, path, content, at, ...beside });
  if (checks.some(({ name, ok }) => name === 'content' && ok)) return [];
  return ['content: What the portal returned is not a signature of what was sent.'];
}

function sentence({ type, message, detail, inner }: ValidationItem): string {
  const more = detail ?? inner?.errors[0]?.detail;
  return `${type}: ${message}${more === undefined ? '' : ` (${more})`}`;
}

function fail(misses: readonly string[]): never {
  throw new TaskFailure('verification.failed', `Verification failed. ${misses.join('; ')}`);
}

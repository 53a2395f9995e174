/**
 * The look at what was signed before it is published: read back from the disk, nothing taken over from signing.
 *
 * Level B has the quick check. Signatures above it carry more than that looks at, so they go through full validation,
 * and so does what the remote portal gives back. At every level the new signature has to be good, and every earlier one
 * that was good before has to be good after; one that was broken already is its signer's business.
 *
 * Source: batch-gaps §6.4.
 */
import {
  counterpart,
  harmedSignatures,
  isIntact,
  type SignatureLevel,
  type SignatureRecord,
  type ValidationItem,
  type ValidationReport,
  validateFile,
  verifyFile,
} from '../../crypto/index.ts';
import type { FileDigest, JobFormat } from '../../machines/job-context.ts';
import { beginningDigest } from '../files/digest.ts';
import type { TrustOptions } from '../trust.ts';
import { TaskFailure } from './task-failure.ts';
import type { ThreadProfile } from './worker-profiles.ts';

export interface OutputCheck {
  readonly format: JobFormat;
  /** The signed file. */
  readonly path: string;
  /** The input as it was staged, for what is signed beside it. */
  readonly stagedPath: string;
  /** What was staged; null when nothing is known of it. */
  readonly content: FileDigest | null;
  readonly profile: ThreadProfile;
  readonly trust: TrustOptions;
  /** True: signed on the remote portal, by somebody else's key. */
  readonly remote: boolean;
  readonly at: number;
}

/**
 * Returns, or resolves, when the output is good; level B answers at once when the file had no signature before.
 * @throws {TaskFailure} `verification.failed`, naming every check that missed
 */
export function verifyOutput(check: OutputCheck): void | Promise<void> {
  if (check.remote) return verifyRemote(check);
  if (levelOf(check) !== 'B') return verifyFully(check);
  const signatures = verifyQuickly(check, check.profile.anchors);
  return signatures > 1 && maySurvive(check) ? verifyEarlier(check) : undefined;
}

/** CMS is about the file as it is, whatever that may be; in PDF and XML the new signature joins those that are there. */
function maySurvive({ format }: OutputCheck): boolean {
  return format !== 'Cades';
}

async function verifyEarlier(check: OutputCheck): Promise<void> {
  const harmed = harmedSignatures(await looked(check, check.stagedPath), await looked(check, check.path));
  if (harmed.length > 0) fail(harmed.map((sentence) => `earlier: ${sentence}`));
}

/** What the file holds, trusting nobody. */
function looked({ format, at }: OutputCheck, path: string): Promise<ValidationReport> {
  const trust = { anchors: [], intermediates: [], revocation: 'none', algorithms: 'as-listed' } as const;
  return validateFile({ format, path, trust, at });
}

function levelOf({ profile }: OutputCheck): SignatureLevel {
  return profile.choices.level ?? 'B';
}

function isDetached({ format, profile }: OutputCheck): boolean {
  return format === 'Cades' && profile.form.detached;
}

/** @returns how many signatures the file has */
function verifyQuickly(check: OutputCheck, anchors: readonly Buffer[]): number {
  const { format, path, stagedPath, content, profile, at } = check;
  const report = verifyFile({
    format,
    path,
    ...(isDetached(check) && { contentPath: stagedPath }),
    ...(profile.signer && { signer: profile.signer.fingerprint }),
    at,
    ...(content && { content }),
    ...(anchors.length > 0 && { anchors }),
  });
  // Earlier signatures are compared with what they were before.
  const failed = report.checks.filter(({ name, ok }) => !ok && !name.startsWith('earlier-'));
  if (failed.length > 0) fail(failed.map(({ name, detail }) => `${name}: ${detail}`));
  return report.signatures;
}

/** A signature of ours above level B: ours, over what was staged, with everything its level promises. */
async function verifyFully(check: OutputCheck): Promise<void> {
  const { format, path, stagedPath, content, profile, trust, at } = check;
  const level = levelOf(check);
  // What follows the signature in a PDF is more than the quick check knows; its beginning is what was signed.
  if (format !== 'Pades') verifyQuickly(check, []);
  else if (content && beginningDigest(path, content.length) !== content.sha256)
    fail(['content: The file does not begin with what was to be signed.']);
  const report = await validateFile({
    format,
    path,
    ...(isDetached(check) && { content: stagedPath }),
    trust: {
      anchors: [...profile.anchors, ...trust.roots],
      intermediates: trust.intermediates,
      // The signer was asked about before signing; from level LT on the answers are in the file.
      revocation: level === 'T' || trust.revocation === 'none' ? 'none' : 'soft',
      algorithms: 'as-listed',
    },
    at,
  });
  const misses = [
    ...report.results.errors.map(sentence),
    ...missesOf(ours(report, profile), level, {
      signer: profile.anchors.length > 0,
      authority: trust.roots.length > 0,
    }),
  ];
  if (misses.length > 0) fail(misses);
  if (maySurvive(check) && report.signatures.filter(({ isTimestamp }) => !isTimestamp).length > 1)
    await verifyEarlier(check);
}

/** The newest signature by the profile's certificate. */
function ours({ signatures }: ValidationReport, { signer }: ThreadProfile): SignatureRecord | undefined {
  const thumbprint = Buffer.from(signer?.fingerprint ?? '', 'hex').toString('base64');
  return signatures
    .filter(({ isTimestamp, certificate }) => !isTimestamp && certificate?.thumbprint === thumbprint)
    .at(-1);
}

const LEVELS: readonly SignatureLevel[] = ['B', 'T', 'LT', 'LTA'];

/** @param paths whose path to an anchor counts */
function missesOf(
  record: SignatureRecord | undefined,
  level: SignatureLevel,
  paths: { readonly signer: boolean; readonly authority: boolean },
): readonly string[] {
  if (record === undefined) return ['signer: No signature is by the certificate of the profile.'];
  const misses = errorsOf(record, paths.signer);
  if (record.level === undefined || LEVELS.indexOf(record.level) < LEVELS.indexOf(level))
    misses.push(`level: The signature is of level ${record.level ?? 'none'}, not ${level}.`);
  const stamps = record.timestamps.filter(({ kind }) => kind === 'signature');
  if (stamps.length === 0) misses.push('timestamp: There is no signature time-stamp.');
  for (const { results } of record.timestamps) {
    // Without roots, whether its authority is trusted is for those who receive the file; that the token is whole is ours.
    misses.push(
      ...results.errors.filter(({ type }) => paths.authority || type !== 'timestamp.chain').map(sentence),
    );
  }
  return misses;
}

/** What is wrong with a signature; whom its certificate is from counts only when that is asked. */
function errorsOf({ results, changes }: SignatureRecord, withChain: boolean): string[] {
  return [
    ...results.errors.filter(({ type }) => withChain || type !== 'chain').map(sentence),
    ...changes.filter(({ permitted }) => !permitted).map(({ description }) => `changes: ${description}`),
  ];
}

/**
 * What the portal gave back: at least one signature, every one intact that was not broken when it was sent, in the format
 * of the job, over what was sent.
 * Chains count only when roots are configured, since nobody else vouches for people's certificates.
 */
async function verifyRemote(check: OutputCheck): Promise<void> {
  const { format, path, stagedPath, trust, at, profile } = check;
  const withChain = trust.roots.length > 0;
  const report = await validateFile({
    format,
    path,
    ...(format === 'Cades' && { content: stagedPath }),
    trust: {
      anchors: trust.roots,
      intermediates: trust.intermediates,
      revocation: 'none',
      algorithms: 'as-listed',
    },
    at,
  });
  const before =
    maySurvive(check) && report.signatures.length > 1 ? await looked(check, stagedPath) : undefined;
  const misses = [
    ...report.results.errors.map(sentence),
    ...report.signatures
      .filter((record) => !wasBroken(record, before))
      .flatMap((record) => errorsOf(record, withChain)),
    ...(before && report.signatures.every((record) => counterpart(record, before))
      ? ['signature: The portal added none to those that were there.']
      : []),
    ...(profile.compareContent ? otherContent(check) : []),
  ];
  if (misses.length > 0) fail([...new Set(misses)]);
}

/** Somebody's signature that was broken when the file was sent to the portal. */
function wasBroken(record: SignatureRecord, before: ValidationReport | undefined): boolean {
  const then = before && counterpart(record, before);
  return then !== undefined && !isIntact(then);
}

/**
 * A signature that is good may be over another document than the one that was sent. A PDF must begin with it; XML must
 * be it once the signature is taken away; CMS must hold it, or be over it.
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

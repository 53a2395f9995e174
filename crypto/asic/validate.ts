/** Inspects the signatures of one container, without trust decisions (EN 319 162-1 §4.3.3.1, §4.4.3.1, annex A.1). */
import { TAG } from '../asn1/read.ts';
import { type InspectionContext, inspectCades } from '../cades/validate.ts';
import { memorySource, type Source } from '../core/files.ts';
import { type Finding, failed, passed, warned } from '../core/validation-report.ts';
import { WORK_BUDGET_EXCEEDED, WorkBudget, withinWorkBudget } from '../core/work-budget.ts';
import type { FileSignatures, SignatureInfo } from '../validation/signature-info.ts';
import type { Certificate } from '../x509/certificate.ts';
import { signatureReport } from '../xades/signature-report.ts';
import { readable, topSignatures } from '../xades/validate.ts';
import { referenceContext } from '../xades/validation/reference-data.ts';
import { holds } from '../xades/validation/signature-node.ts';
import { ZipError } from '../zip/zip-error.ts';
import { assertIntact } from '../zip/zip-member.ts';
import { nameOfUri, printableName } from '../zip/zip-names.ts';
import { FLAG, METHOD, SIGNATURE } from '../zip/zip-records.ts';
import {
  type AsicKind,
  Container,
  isLookalike,
  isSpelledOtherwise,
  kindOf,
  MIME_TYPE,
  MIME_TYPE_MEMBER,
  NAMES,
  roleOf,
} from './container.ts';
import {
  archiveProofsOf,
  timestampsOverFile,
  timestampsOverManifests,
  withArchiveProofs,
} from './container-timestamps.ts';
import {
  type CoveringSignature,
  coverageFindings,
  forContainer,
  referencedMembers,
  statedTypes,
} from './coverage.ts';
import { type ListedMembers, listedMembers, MemberDigests } from './listed-members.ts';
import { mediaTypeFindings } from './media-types.ts';

/** Findings: `container.mimetype`, `container.lookalike`, `container.names`, `container.data-objects`, `container.signatures`, `container.comment`. */
function containerFindings(container: Container): Finding[] {
  const { kind } = container;
  return [
    mimeType(container),
    ...lookalikes(container),
    ...otherSpellings(container),
    ...dataObjects(container, kind),
    ...comment(container),
    ...evidenceRecords(container),
  ];
}

function mimeType(container: Container): Finding {
  const type = 'container.mimetype';
  const given = container.mimeType;
  if (given === undefined) {
    return warned(type, 'The container does not say at its beginning what it is.');
  }
  const [first] = container.directory.entries;
  const inPlace =
    first?.name === MIME_TYPE_MEMBER &&
    first.plain &&
    first.header.method === METHOD.stored &&
    (first.header.flags & FLAG.descriptor) === 0;
  if (!inPlace) {
    return warned(type, 'The media type is not the first member, stored as it is and without extra fields.');
  }
  const detail = printableName(given);
  if (kindOf(given) === undefined) {
    return warned(type, 'The media type is not one of signature containers.', detail);
  }
  return passed(type, 'The container says at its beginning what it is.', detail);
}

function lookalikes({ directory }: Container): Finding[] {
  return directory.entries
    .filter(({ name }) => isLookalike(name))
    .map(({ name }) =>
      failed(
        'container.lookalike',
        'The name of a member differs from one with a meaning only in its case.',
        'FORMAT_FAILURE',
        printableName(name),
      ),
    );
}

/** Reports names of META-INF in other letters than the standard has, which some programs do not recognise. */
function otherSpellings({ directory }: Container): Finding[] {
  const names = directory.entries.map(({ name }) => name).filter(isSpelledOtherwise);
  if (names.length === 0) return [];
  const message =
    'Names in META-INF differ in their case from those of the standard; not all programs see them.';
  return [warned('container.names', message, names.slice(0, 10).map(printableName).join(', '))];
}

function dataObjects(container: Container, kind: AsicKind): Finding[] {
  const objects = container.named('data');
  const type = 'container.data-objects';
  if (objects.length === 0) {
    return [failed(type, 'The container holds no file that could be signed.')];
  }
  if (kind === 'E') {
    return [passed(type, 'The container holds files.', `${objects.length}`)];
  }
  const findings: Finding[] = [];
  const alone = objects.length === 1 && !objects[0]?.includes('/');
  findings.push(
    alone
      ? passed(type, 'The container holds one file.', printableName(objects[0] ?? ''))
      : failed(
          type,
          'A container of its kind holds one file, which stands in no folder.',
          'FORMAT_FAILURE',
          objects.slice(0, 10).map(printableName).join(', '),
        ),
  );
  // Time-stamps over the same file may stand beside each other; each is judged.
  const files = container.named('xades', 'cades');
  if (
    files.length > 1 ||
    (files.length > 0 &&
      container.named('timestamp').length > 0 &&
      container.named('archive-manifest').length === 0)
  ) {
    findings.push(
      failed(
        'container.signatures',
        'A container of its kind has one file of signatures.',
        'FORMAT_FAILURE',
        files.slice(0, 10).map(printableName).join(', '),
      ),
    );
  }
  return findings;
}

/** Reports evidence records (RFC 4998, RFC 6283) and their manifests: recognised, not evaluated. */
function evidenceRecords(container: Container): Finding[] {
  const records = container.named('evidence-record');
  if (records.length === 0) return [];
  const message = 'The container has evidence records, which are not evaluated.';
  const detail = records.slice(0, 10).map(printableName).join(', ');
  return [warned('evidence-record', message, detail)];
}

/** Reports a ZIP comment that contradicts the media type, since some readers take it from there, however it is written. */
function comment(container: Container): Finding[] {
  const { directory, mimeType: given } = container;
  const text = directory.comment.toString('latin1').replaceAll('\0', '');
  // A line end in either of them is a warning about the media type, not another media type.
  const [name] = /^[\s\xa0\xef\xbb\xbf\xfe\xff]*mimetype\s*[=:]/i.exec(text) ?? [];
  const named = name === undefined ? undefined : text.slice(name.length).trim();
  const types = text.match(/vnd\.etsi\.asic-[a-z]/gi) ?? [];
  const own = `vnd.etsi.asic-${container.kind}`.toLowerCase();
  const isOther = types.some((type) => type.toLowerCase() !== own);
  if (!isOther && (named === undefined || named === (given?.trim() ?? MIME_TYPE[container.kind]))) return [];
  // Some programs name the type of the signed file there.
  if (container.kind === 'S' && given !== undefined && types.length === 0) {
    const message = 'The comment of the container names the media type of its file, not its own.';
    return [warned('container.comment', message, printableName(named ?? ''))];
  }
  const message = 'The comment of the container names another media type than the container.';
  return [failed('container.comment', message)];
}

/** Limit of signature files; each can hold several signatures. */
const MAX_FILES = 200;

/** True for the first bytes of a ZIP file. Signatures in CMS, XML and PDF start differently. */
export function mayBeContainer(source: Source): boolean {
  const start = source.read(0, 4);
  return start.length === 4 && start.readUInt32LE(0) === SIGNATURE.local;
}

/**
 * Inspects a container: one entry per signature in the files of META-INF. Invalid bytes become findings: those of
 * `ZipErrorCode` as `container.<flaw>`, those of `containerFindings` and `coverageFindings`, and `container.manifest`
 * for signatures without manifest. Beyond the work budget of a file, the result has the finding `file.work`.
 * @param certificates candidates for certificates that the container lacks; untrusted
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function inspectAsic(source: Source, certificates: readonly Certificate[] = []): FileSignatures {
  const work = WorkBudget.forFile(source.size);
  try {
    const container = new Container(source);
    for (const entry of container.directory.entries) assertIntact(source, entry);
    const facts = withinWorkBudget(
      () => signaturesIn(container, { certificates, work }),
      () => ({ signatures: [], findings: [WORK_BUDGET_EXCEEDED] }),
    );
    return { ...facts, content: dataPlaces(container), work };
  } catch (error) {
    if (!(error instanceof ZipError)) throw error;
    const subIndication = error.isUnread ? 'GENERIC' : 'FORMAT_FAILURE';
    return { signatures: [], findings: [failed(`container.${error.flaw}`, error.message, subIndication)] };
  }
}

/** Bytes of the files that signatures are over. */
function dataPlaces({ directory: { entries } }: Container): NonNullable<FileSignatures['content']> {
  return entries.flatMap(({ name, dataStart, header }) =>
    roleOf(name) === 'data' ? [[dataStart, dataStart + header.compressed] as const] : [],
  );
}

/** Cost of one signature or time-stamp: compressed files can hold thousands of equal ones. */
const STEPS_PER_VALUE = 600;

/** Charges signatures to the work budget. @throws {WorkBudgetExceeded} */
function counted(signatures: readonly SignatureInfo[], work: WorkBudget): void {
  for (const { timestamps, counterSignatures } of signatures) {
    work.spend(STEPS_PER_VALUE * (1 + timestamps.length));
    counted(counterSignatures, work);
  }
}

/** Result for all files of one kind. */
interface Found {
  readonly signatures: readonly CoveringSignature[];
  readonly findings: readonly Finding[];
  /** META-INF members with a known role. */
  readonly accounted: readonly string[];
}

function signaturesIn(container: Container, context: InspectionContext): FileSignatures {
  const { certificates, work } = context;
  const digests = new MemberDigests(container);
  const files = container.named('xades', 'cades');
  const findings = containerFindings(container);
  if (files.length > MAX_FILES) {
    findings.push(
      failed(
        'container.signatures',
        `More than ${MAX_FILES} files of signatures are not looked at.`,
        'GENERIC',
      ),
    );
  }
  const chosen = files.slice(0, MAX_FILES);
  const ofXades = chosen
    .filter((name) => roleOf(name) === 'xades')
    .map((name) => xadesIn(container, name, context));
  const p7s = chosen.filter((name) => roleOf(name) === 'cades');
  const ofCades =
    container.kind === 'S'
      ? cadesAlone(container, p7s, context)
      : cadesByManifest(container, p7s, digests, context);
  const archives = archiveProofsOf(container, digests);
  const proofs = new Set(archives.proofs.map(({ listed }) => listed.proof));
  const stamps = container.named('timestamp').filter((name) => !proofs.has(name));
  const ofTimestamps =
    container.kind === 'S'
      ? unnamedAll(container, timestampsOverFile(container, stamps, digests, certificates))
      : timestampsOverManifests(
          container,
          container.named('manifest').map((name) => listedMembers(container, name, digests)),
          certificates,
        );
  counted(
    ofTimestamps.signatures.map(({ facts }) => facts),
    work,
  );
  const all = [...ofXades, ofCades, ofTimestamps];
  const signatures = all.flatMap((found) => found.signatures);
  const accounted = new Set([
    ...all.flatMap((found) => found.accounted),
    ...archives.proofs
      .filter(({ listed }) => [...files, ...ofTimestamps.accounted].some((name) => listed.names.has(name)))
      .flatMap(({ listed }) => [listed.manifestName, listed.proof ?? '']),
  ]);
  return {
    signatures: signatures.map(({ facts, parts }) => withArchiveProofs(facts, parts, archives.proofs)),
    findings: [
      ...findings,
      ...all.flatMap((found) => found.findings),
      ...archives.findings,
      ...coverageFindings(container, signatures, accounted),
      ...mediaTypeFindings(
        container,
        signatures.flatMap(({ types = [] }) => types),
      ),
    ],
  };
}

/** Roots of files of XML signatures (EN 319 162-1 §A.5; OpenDocument 1.2 part 3 §5; one signature alone). */
const SIGNATURE_ROOTS: ReadonlySet<string> = new Set(['XAdESSignatures', 'document-signatures', 'Signature']);

/** Reports a signature file that other programs may not read. */
function otherForm(file: string, how: string): Finding {
  const message = 'A file of signatures has another form than the standard gives it.';
  return warned('container.signatures', message, `${printableName(file)}: ${how}`);
}

function xadesIn(container: Container, file: string, { certificates, work }: InspectionContext): Found {
  const map = readable(container.bytes(file));
  if (!('utf8' in map))
    return { signatures: [], findings: [{ ...map, detail: printableName(file) }], accounted: [] };
  const findings: Finding[] = [];
  if (map.unseen > 0) {
    findings.push(
      failed(
        'file.signatures',
        `${printableName(file)} has ${map.unseen} more signatures than are looked at.`,
        'GENERIC',
      ),
    );
  }
  const found = (uri: string | undefined) => {
    const name = nameOfUri(uri);
    return name === undefined ? undefined : container.member(name);
  };
  const context = { ...referenceContext(map, found), given: certificates };
  const root = map.root.name.replace(/^.*:/, '');
  if (!SIGNATURE_ROOTS.has(root)) findings.push(otherForm(file, `its root is ${printableName(root)}`));
  const nodes = topSignatures(map);
  if (nodes.length === 0)
    findings.push(failed('file.signatures', `${printableName(file)} has no signature.`));
  const signatures = nodes.map((node) => {
    const covered = referencedMembers(node);
    // A counter-signer may sign files of the container as well.
    const ofCounters = map.signatures.filter(
      (one) => one !== node && !nodes.includes(one) && holds(node, one),
    );
    const alsoCovered = new Set(ofCounters.flatMap((one) => [...referencedMembers(one)]));
    const facts = signatureReport(context, node);
    counted([facts], work);
    return { ...forContainer(file, facts, { covered, container }), alsoCovered, types: statedTypes(node) };
  });
  return { signatures, findings, accounted: [file] };
}

/** Adds that the signature covers the bytes of the one file alone: CMS has no name of it (EN 319 162-1 §4.3.3.2). */
function unnamed(facts: SignatureInfo, object: string | undefined): SignatureInfo {
  if (object === undefined) return facts;
  const message = 'The name of the file is not signed: anyone can rename it, also to another kind of file.';
  return {
    ...facts,
    findings: [...facts.findings, warned('container.name', message, printableName(object))],
  };
}

function unnamedAll<T extends Pick<Found, 'signatures'>>(container: Container, found: T): T {
  const [object] = container.named('data');
  return {
    ...found,
    signatures: found.signatures.map((one) => ({ ...one, facts: unnamed(one.facts, object) })),
  };
}

/** Inspects ASiC-S with CAdES: the signature covers the one file. */
function cadesAlone(
  container: Container,
  files: readonly string[],
  { certificates, work }: InspectionContext,
): Found {
  const [object] = container.named('data');
  const content = object === undefined ? undefined : container.member(object);
  const found = files.map((file) => {
    const name =
      file.toLowerCase() === NAMES.signature.toLowerCase()
        ? []
        : [
            failed(
              'container.signatures',
              `${printableName(file)} is not the name of the signature in a container of one file.`,
            ),
          ];
    const bytes = container.bytes(file);
    const facts = inspectCades(
      memorySource(file, bytes),
      content === undefined ? { certificates } : { content, certificates },
    );
    counted(facts.signatures, work);
    const covered = new Set(object === undefined ? [] : [object]);
    return {
      signatures: facts.signatures.map((one) =>
        forContainer(file, unnamed(one, object), { covered, container }),
      ),
      findings: [...name, ...facts.findings, ...formOf(file, bytes, facts)],
    };
  });
  return {
    signatures: found.flatMap(({ signatures }) => signatures),
    findings: found.flatMap(({ findings }) => findings),
    accounted: files,
  };
}

/** Reports a time-stamp in a file for a signature, since nobody signed, and a signature as text. */
function formOf(file: string, bytes: Buffer, { signatures }: FileSignatures): Finding[] {
  if (signatures.some(({ isTimestamp }) => isTimestamp)) {
    const message = `${printableName(file)} holds a time-stamp in place of a signature.`;
    return [failed('container.signatures', message, 'SIG_CONSTRAINTS_FAILURE')];
  }
  return signatures.length > 0 && bytes[0] !== TAG.sequence ? [otherForm(file, 'it is text')] : [];
}

/** Inspects ASiC-E with CAdES: the signature covers a manifest that lists files. */
function cadesByManifest(
  container: Container,
  files: readonly string[],
  digests: MemberDigests,
  { certificates, work }: InspectionContext,
): Found {
  const manifests = container.named('manifest').map((name) => listedMembers(container, name, digests));
  const findings: Finding[] = [];
  const signatures = files.flatMap((file) => {
    const [manifest, ...more] = manifests.filter(({ proof }) => proof === file);
    if (manifest === undefined || more.length > 0) {
      const message = manifest === undefined ? 'No manifest names' : 'Several manifests name';
      const isUnread = manifests.some(({ findings: own }) => own.some(isOpen));
      const subIndication = manifest === undefined && isUnread ? 'GENERIC' : 'FORMAT_FAILURE';
      const finding = `${message} the signature ${printableName(file)}.`;
      findings.push(failed('container.manifest', finding, subIndication));
      return [];
    }
    const content = memorySource(manifest.manifestName, manifest.bytes);
    const bytes = container.bytes(file);
    const facts = inspectCades(memorySource(file, bytes), { content, certificates });
    counted(facts.signatures, work);
    findings.push(...facts.findings, ...formOf(file, bytes, facts));
    return facts.signatures.map((one) => overManifest(container, file, one, manifest));
  });
  const used = manifests.filter(({ proof }) => proof !== undefined && files.includes(proof));
  return {
    signatures,
    findings: [...findings, ...unsigned(container, manifests, files)],
    accounted: [...files, ...used.map(({ manifestName }) => manifestName)],
  };
}

function overManifest(
  container: Container,
  file: string,
  facts: CoveringSignature['facts'],
  manifest: ListedMembers,
): CoveringSignature {
  const { findings, algorithms, good, manifestName } = manifest;
  const whole = {
    ...facts,
    findings: [...facts.findings, ...findings],
    algorithms: [...facts.algorithms, ...algorithms],
  };
  return {
    ...forContainer(file, whole, { covered: good, container, between: [manifestName] }),
    types: manifest.types,
  };
}

/** True for a manifest that may name anything, because it is not read. */
function isOpen({ type, subIndication }: Finding): boolean {
  return type === 'structure.manifest' && subIndication === 'GENERIC';
}

/** True when a time-stamp token replaces the signature. */
function isToken(container: Container, name: string): boolean {
  return roleOf(name) === 'timestamp' && container.has(name);
}

/** Reports manifests whose signature is missing. */
function unsigned(
  container: Container,
  manifests: readonly ListedMembers[],
  files: readonly string[],
): Finding[] {
  return manifests
    .filter(({ proof }) => proof === undefined || !(files.includes(proof) || isToken(container, proof)))
    .flatMap(({ proof, manifestName, findings }) =>
      // Without a proof, the findings say why the manifest is not read.
      proof === undefined && findings.length > 0
        ? findings
        : [
            failed(
              'container.manifest',
              `The signature of the manifest ${printableName(manifestName)} is not there.`,
            ),
          ],
    );
}

/** What is to be found out about the signatures of one container, before anybody is trusted (EN 319 162-1). */
import { cadesFacts } from '../cades/facts.ts';
import type { Source } from '../files/source.ts';
import type { FileFacts, Finding, SignatureFacts } from '../validation/facts.ts';
import { TOO_MUCH_WORK, withinWork } from '../validation/too-much-work.ts';
import { Work } from '../work.ts';
import { readable, topSignatures } from '../xades/validate.ts';
import { dataRoom } from '../xades/validation/reference-data.ts';
import { signatureFacts } from '../xades/validation/signature-facts.ts';
import { containerArchives, withArchives } from './archive-facts.ts';
import { Container } from './container.ts';
import { containerFindings } from './container-findings.ts';
import { NAMES } from './container-kinds.ts';
import { type CoveringSignature, coverageFindings, inContainer, referencedMembers } from './covered.ts';
import { type ListedMembers, listedMembers, MemberDigests } from './listed-members.ts';
import { memorySource } from './memory-source.ts';
import { ZipFault } from './zip-fault.ts';
import { assertIntact } from './zip-member.ts';
import { nameOfUri, shownName } from './zip-names.ts';
import { SIGNATURE } from './zip-records.ts';

/** Files of signatures; each may hold several. */
const MAX_FILES = 200;

/** True for what begins as a ZIP file does. Signatures in CMS, XML and PDF begin otherwise. */
export function mayBeContainer(source: Source): boolean {
  const start = source.read(0, 4);
  return start.length === 4 && start.readUInt32LE(0) === SIGNATURE.local;
}

/**
 * One entry per signature in the files of META-INF. Bad bytes are findings: those of `ZipFlaw` as `container.<flaw>`, those
 * of `containerFindings` and `coverageFindings`, and `container.manifest` for signatures whose manifest is not there. What
 * takes more work than is done for one file is left open by `file.work`.
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function asicFacts(source: Source): FileFacts {
  const work = Work.forFile(source.size);
  try {
    const container = new Container(source);
    for (const entry of container.directory.entries) assertIntact(source, entry);
    const facts = withinWork(
      () => factsIn(container, work),
      () => ({ signatures: [], findings: [TOO_MUCH_WORK] }),
    );
    return { ...facts, work };
  } catch (error) {
    if (!(error instanceof ZipFault)) throw error;
    return { signatures: [], findings: [failed(`container.${error.flaw}`, error.message)] };
  }
}

/** For one signature or time-stamp: packed files can hold thousands of the same. */
const STEPS_PER_VALUE = 600;

/** @throws {OutOfWork} when these signatures were more than may be looked at */
function counted(signatures: readonly SignatureFacts[], work: Work): void {
  for (const { timestamps, counterSignatures } of signatures) {
    work.spend(STEPS_PER_VALUE * (1 + timestamps.length));
    counted(counterSignatures, work);
  }
}

/** What was found in all files of one kind. */
interface Found {
  readonly signatures: readonly CoveringSignature[];
  readonly findings: readonly Finding[];
  /** Members about signatures that have their place. */
  readonly accounted: readonly string[];
}

function factsIn(container: Container, work: Work): FileFacts {
  const digests = new MemberDigests(container);
  const files = container.named('xades', 'cades');
  const findings = containerFindings(container);
  if (files.length > MAX_FILES) {
    findings.push(
      failed('container.signatures', `More than ${MAX_FILES} files of signatures are not looked at.`),
    );
  }
  const chosen = files.slice(0, MAX_FILES);
  const ofXades = chosen
    .filter((name) => name.endsWith('.xml'))
    .map((name) => xadesIn(container, name, work));
  const p7s = chosen.filter((name) => name.endsWith('.p7s'));
  const ofCades =
    container.kind === 'S'
      ? cadesAlone(container, p7s, work)
      : cadesByManifest(container, p7s, digests, work);
  const archives = containerArchives(container, digests);
  const all = [...ofXades, ofCades];
  const signatures = all.flatMap((found) => found.signatures);
  const accounted = new Set([
    ...all.flatMap((found) => found.accounted),
    ...archives.proofs
      .filter(({ listed }) => files.some((name) => listed.names.has(name)))
      .flatMap(({ listed }) => [listed.manifestName, listed.proof ?? '']),
  ]);
  return {
    signatures: signatures.map(({ facts, parts }) => withArchives(facts, parts, archives.proofs)),
    findings: [
      ...findings,
      ...all.flatMap((found) => found.findings),
      ...archives.findings,
      ...coverageFindings(container, signatures, accounted),
    ],
  };
}

function xadesIn(container: Container, file: string, work: Work): Found {
  const map = readable(container.bytes(file));
  if (!('utf8' in map))
    return { signatures: [], findings: [{ ...map, detail: shownName(file) }], accounted: [] };
  const findings: Finding[] = [];
  if (map.unseen > 0) {
    findings.push(
      failed('file.signatures', `${shownName(file)} has ${map.unseen} more signatures than are looked at.`),
    );
  }
  const room = dataRoom(map, (uri) => {
    const name = nameOfUri(uri);
    return name === undefined ? undefined : container.member(name);
  });
  const nodes = topSignatures(map);
  if (nodes.length === 0) findings.push(failed('file.signatures', `${shownName(file)} has no signature.`));
  const signatures = nodes.map((node) => {
    const covered = referencedMembers(node);
    const facts = signatureFacts(room, node);
    counted([facts], work);
    return inContainer(file, facts, covered, container);
  });
  return { signatures, findings, accounted: [file] };
}

/** ASiC-S: the signature is over the one file. */
function cadesAlone(container: Container, files: readonly string[], work: Work): Found {
  const [object] = container.named('data');
  const content = object === undefined ? undefined : container.member(object);
  const found = files.map((file) => {
    const name =
      file === NAMES.signature
        ? []
        : [
            failed(
              'container.signatures',
              `${shownName(file)} is not the name of the signature in a container of one file.`,
            ),
          ];
    const facts = cadesFacts(
      memorySource(file, container.bytes(file)),
      content === undefined ? {} : { content },
    );
    counted(facts.signatures, work);
    const covered = new Set(object === undefined ? [] : [object]);
    return {
      signatures: facts.signatures.map((one) => inContainer(file, one, covered, container)),
      findings: [...name, ...facts.findings],
    };
  });
  return {
    signatures: found.flatMap(({ signatures }) => signatures),
    findings: found.flatMap(({ findings }) => findings),
    accounted: files,
  };
}

/** ASiC-E: the signature is over a manifest, which lists files. */
function cadesByManifest(
  container: Container,
  files: readonly string[],
  digests: MemberDigests,
  work: Work,
): Found {
  const manifests = container.named('manifest').map((name) => listedMembers(container, name, digests));
  const findings: Finding[] = [];
  const signatures = files.flatMap((file) => {
    const [manifest, ...more] = manifests.filter(({ proof }) => proof === file);
    if (manifest === undefined || more.length > 0) {
      const message = manifest === undefined ? 'No manifest names' : 'Several manifests name';
      findings.push(failed('container.manifest', `${message} the signature ${shownName(file)}.`));
      return [];
    }
    const content = memorySource(manifest.manifestName, manifest.bytes);
    const facts = cadesFacts(memorySource(file, container.bytes(file)), { content });
    counted(facts.signatures, work);
    findings.push(...facts.findings);
    return facts.signatures.map((one) => overManifest(container, file, one, manifest));
  });
  const used = manifests.filter(({ proof }) => proof !== undefined && files.includes(proof));
  return {
    signatures,
    findings: [...findings, ...unsigned(manifests, files)],
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
  return inContainer(file, whole, good, container, [manifestName]);
}

/** Manifests whose signature is not there. */
function unsigned(manifests: readonly ListedMembers[], files: readonly string[]): Finding[] {
  return manifests
    .filter(({ proof }) => proof === undefined || !files.includes(proof))
    .map(({ manifestName }) =>
      failed('container.manifest', `The signature of the manifest ${shownName(manifestName)} is not there.`),
    );
}

function failed(type: string, message: string): Finding {
  return { status: 'failed', type, message, subIndication: 'FORMAT_FAILURE' };
}

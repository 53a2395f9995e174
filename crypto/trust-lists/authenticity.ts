/**
 * Authenticity of a trusted list (TS 119 615 §4.1, §4.2): its one signature, over the whole list, by a certificate that
 * its pointer names byte by byte. No path is built, and no purpose, revocation or present expiry is judged.
 */
import type { Finding } from '../core/validation-report.ts';
import { ListFault, MAX_LIST_BYTES } from '../qualification/list-tree.ts';
import { dayOf } from '../qualification/trusted-list.ts';
import { isBroken } from '../validation/algorithms.ts';
import { inspectXadesDocument } from '../xades/validate.ts';

/** An authentic list's signature. */
export interface ListSignature {
  /** SHA-256 of the signer's certificate, lower-case hex. */
  readonly signer: string;
  /** Claimed time of signing, milliseconds since the epoch. */
  readonly signedAt: number;
}

/**
 * Findings of warnings that leave a list authentic; any other warning and any failed check refuses it. `data-format` and
 * `issuer-name`: what lists in use have; comments between elements, which no reader of lists sees. The others say that a
 * value is written in an older or longer form.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  'attributes.data-format',
  'attributes.target',
  'certificate.issuer-name',
  'reference.type',
  'scope.comments',
  'signature.encoding',
]);

/** Checks that must have passed, each at least once. */
const NEEDED: readonly string[] = [
  'structure.signature',
  'ids.unique',
  'digest.content',
  'digest.properties',
  'certificate.signer',
  'signature.value',
];

/** Lead of the clock of a signer that is accepted. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/**
 * Checks the signature of a list.
 * @param signers SHA-256 of the certificates one of which must have made it
 * @param at present time, milliseconds since the epoch
 * @throws {ListFault} why it is not authentic
 */
export function authenticate(document: Buffer, signers: ReadonlySet<string>, at: number): ListSignature {
  if (document.length > MAX_LIST_BYTES) throw new ListFault(`has more than ${MAX_LIST_BYTES} bytes`);
  const { signatures, findings } = inspectXadesDocument(document);
  const [broken] = findings.filter(isAgainst);
  if (broken !== undefined) throw new ListFault(`is not read: ${broken.message}`);
  const [signature, ...more] = signatures;
  if (signature === undefined) throw new ListFault('has no signature');
  if (more.length > 0 || signature.counterSignatures.length > 0)
    throw new ListFault('has more than one signature');
  const against = signature.findings.find(isAgainst);
  if (against !== undefined) throw new ListFault(`has a signature that is not accepted: ${against.message}`);
  const isPassed = (type: string) =>
    signature.findings.some((finding) => finding.type === type && finding.status === 'passed');
  const missing = NEEDED.find((type) => !isPassed(type));
  if (missing !== undefined) throw new ListFault(`has a signature without the check ${missing}`);
  if (signature.scope.kind !== 'document') throw new ListFault('is not signed as a whole');
  if (signature.algorithms.some((use) => use.preimage !== true && isBroken(use)))
    throw new ListFault('is signed with a weak algorithm');
  const { certificate, claimedTime } = signature;
  if (certificate === undefined || !signers.has(certificate.fingerprint))
    throw new ListFault('is signed by a certificate that may not sign it');
  if (claimedTime === undefined) throw new ListFault('has no time of signing');
  if (claimedTime < certificate.notBefore || claimedTime > certificate.notAfter)
    throw new ListFault('was signed outside of the validity of its certificate');
  if (claimedTime > at + CLOCK_TOLERANCE_MS)
    throw new ListFault(`was signed on ${dayOf(claimedTime)}, newer than the time of validation (--at)`);
  return { signer: certificate.fingerprint, signedAt: claimedTime };
}

function isAgainst({ status, type }: Finding): boolean {
  return status === 'failed' || (status === 'warning' && !HARMLESS.has(type));
}

/**
 * Brings the signatures of a PDF to a higher level, and renews what archives them (ETSI EN 319 142-1, clause 6).
 */
import type { SigningServices } from '../authorities.ts';
import type { Source } from '../files/source.ts';
import { type AugmentFileRequest, CryptoError, type DigestName, type SignedFile } from '../types.ts';
import { breakIn } from '../validation/soundness.ts';
import { appendEvidence, evidenceOf } from './evidence.ts';
import { GrowingPdf, openPdfFile } from './growing-pdf.ts';
import { readStoredSignatures, type StoredSignature, type StoredSignatures } from './stored-signatures.ts';
import { appendDocumentTimestamp, timestampsOf } from './time-stamping.ts';
import { padesFacts } from './validate.ts';
import { CHANGES } from './validation/judged-changes.ts';

/** Of document time-stamps. */
const DIGEST: DigestName = 'sha256';

/**
 * Writes the signed PDF `input` with its sound signatures at level `to` into the new file `output`, by the contract of
 * `augmentFile`. What is missing is added at the end and nothing before it changes:
 * - T: a document time-stamp, when some signature has neither a time-stamp of its own nor one after it;
 * - LT: evidence for signatures and time-stamps that have none yet, the newest document time-stamp included;
 * - LTA: a document time-stamp over all of it, a further one when there is one already (renewal).
 * A file that is at level T or LT already comes out as it is.
 * @throws {CryptoError} `input.*`, `output.*`, `pdf.*`, `cms.malformed`, `authority.*`, `revocation.missing`,
 *   `certificate.revoked`; `signature.mismatch` when all signatures are broken; `request.invalid` when there is no signature, or a service is missing
 */
export async function augmentPades(
  request: AugmentFileRequest,
  services: SigningServices,
): Promise<SignedFile> {
  const { to, at } = request;
  const authority = timestampsOf(services, to);
  const evidence = to === 'T' ? undefined : evidenceOf(services, to);
  const source = openPdfFile(request.input);
  try {
    const broken = brokenFields(source);
    const isSound = (field: string): boolean => !broken.has(field);
    const before = readStoredSignatures(source, isSound);
    if (!before.signatures.some(({ isTimestamp }) => !isTimestamp)) {
      const [fault] = broken.values();
      if (fault !== undefined)
        throw new CryptoError('signature.mismatch', `A signature in the PDF is broken: ${fault}.`);
      throw new CryptoError('request.invalid', 'The PDF has no signature that could be augmented.');
    }
    const file = new GrowingPdf(source, request.output, [DIGEST]);
    try {
      const needsTime = before.signatures.some((one) => !one.isTimestamp && !one.isStamped);
      if (needsTime) await appendDocumentTimestamp(file, authority, DIGEST, at);
      if (evidence !== undefined) {
        const now = needsTime ? readStoredSignatures(file, isSound) : before;
        const missing = now.signatures.filter(unproven(now));
        // Above level LT, only the newest document time-stamp has nobody yet who vouches for it.
        const isAbove = !needsTime && missing.every(({ isTimestamp }) => isTimestamp);
        if (to === 'LTA' || !isAbove)
          await appendEvidence(file, missing, now.store.certificates, evidence, at);
      }
      if (to === 'LTA') await appendDocumentTimestamp(file, authority, DIGEST, at);
      return file.finish(request.sync ?? true);
    } catch (error) {
      file.discard();
      throw error;
    }
  } finally {
    source.close();
  }
}

/**
 * Why nothing can be built on some of the signatures, by their fields. What later revisions changed is no reason: what is
 * added proves the file as it is, and says nothing of what a signature allows.
 */
function brokenFields(source: Source): ReadonlyMap<string, string> {
  const { signatures } = padesFacts(source);
  return new Map(
    signatures.flatMap((one): [string, string][] => {
      const fault = breakIn({ ...one, findings: one.findings.filter(({ type }) => type !== CHANGES) });
      return fault === undefined ? [] : [[one.name, fault]];
    }),
  );
}

/**
 * Which signatures have no evidence in the document yet: neither an entry of their own, nor, in stores that have no
 * such entries, all their certificates below a time-stamp that was made afterwards.
 */
function unproven({ signatures, store }: StoredSignatures): (signature: StoredSignature) => boolean {
  const stored = new Set(store.certificates.map((der) => der.toString('latin1')));
  const lastTimestamp = signatures.findLastIndex(({ isTimestamp }) => isTimestamp);
  return (signature) => {
    if (store.keys.has(signature.key)) return false;
    const isCovered = signatures.indexOf(signature) < lastTimestamp;
    return !(isCovered && signature.ends.every(({ der }) => stored.has(der.toString('latin1'))));
  };
}

/** Raises the signatures of a PDF to a higher level, and renews archive time-stamps (ETSI EN 319 142-1, clause 6). */
import type { Source } from '../core/files.ts';
import {
  type AugmentFileRequest,
  CryptoError,
  type DigestName,
  type InputFile,
  type OutputFile,
  type SignedFile,
} from '../core/types.ts';
import { type SigningServices, servicesFor } from '../evidence/authorities.ts';
import { integrityFailure } from '../validation/soundness.ts';
import { openIncrementalFile, writeIncremental } from './incremental-file.ts';
import { appendEvidence } from './levels.ts';
import { readStoredSignatures, type StoredSignature, type StoredSignatures } from './stored-signatures.ts';
import { appendDocumentTimestamp } from './time-stamping.ts';
import { inspectPades } from './validate.ts';
import { CHANGES } from './validation/judged-changes.ts';

/** Of document time-stamps. */
const DIGEST: DigestName = 'sha256';

/**
 * Writes the signed PDF `input` with its valid signatures at level `to` into the new file `output`, as
 * `augmentFile` defines. Additions are appended and earlier bytes never change:
 * - T: a document time-stamp, when some signature has neither a time-stamp of its own nor a later one;
 * - LT: evidence for signatures and time-stamps without any, the newest document time-stamp included. Evidence for
 *   the signatures is stored before a time-stamp is added for them, since validators that go back from time-stamp to
 *   time-stamp use only the store that each one covers;
 * - LTA: a document time-stamp over the whole file, an additional one when there is one already (renewal).
 * A file that is already at level T or LT is written unchanged.
 * @throws {CryptoError} `input.*`, `output.*`, `pdf.*`, `cms.malformed`, `authority.*`, `revocation.missing`,
 * `certificate.revoked`; `signature.mismatch` when all signatures are invalid; `request.invalid` without a
 * signature or a service
 */
export async function augmentPades(
  request: AugmentFileRequest<InputFile, OutputFile>,
  services: SigningServices,
): Promise<SignedFile> {
  const { to, at } = request;
  const { timestamps, evidence } = servicesFor(to, services);
  const source = openIncrementalFile(request.input, request.password);
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
    return await writeIncremental(source, request, [DIGEST], async (file) => {
      const needsTime = before.signatures.some((one) => !one.isTimestamp && !one.isStamped);
      if (needsTime) {
        const { signatures, store } = before;
        if (evidence !== undefined)
          await appendEvidence(file, signatures.filter(unproven(before)), {
            others: store.certificates,
            source: evidence,
            at,
          });
        await appendDocumentTimestamp(file, timestamps, DIGEST, at);
      }
      if (evidence !== undefined) {
        const now = needsTime ? readStoredSignatures(file, isSound) : before;
        const missing = now.signatures.filter(unproven(now));
        // Above level LT, only the newest document time-stamp has no evidence yet.
        const isAbove = !needsTime && missing.every(({ isTimestamp }) => isTimestamp);
        if (to === 'LTA' || !isAbove)
          await appendEvidence(file, missing, { others: now.store.certificates, source: evidence, at });
      }
      if (to === 'LTA') await appendDocumentTimestamp(file, timestamps, DIGEST, at);
    });
  } finally {
    source.close();
  }
}

/**
 * Returns the reasons why signatures can't be augmented, by field. Changes of later revisions are not a reason: an
 * addition proves the file as it is, and is independent of the changes a signature permits.
 */
function brokenFields(source: Source): ReadonlyMap<string, string> {
  const { signatures } = inspectPades(source);
  return new Map(
    signatures.flatMap((one): [string, string][] => {
      const fault = integrityFailure({
        ...one,
        findings: one.findings.filter(({ type }) => type !== CHANGES),
      });
      return fault === undefined ? [] : [[one.name, fault]];
    }),
  );
}

/**
 * Returns a predicate for signatures without evidence in the document: neither a /VRI entry, nor, in stores without
 * entries, all their certificates covered by a later time-stamp.
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

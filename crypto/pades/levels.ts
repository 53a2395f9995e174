/**
 * Signs a PDF at the levels B-T, B-LT and B-LTA (ETSI EN 319 142-1, clause 6).
 *
 * Collects evidence for long-term validation, and stores it in the document (ETSI EN 319 142-1, clause 6.3, level
 * B-LT).
 */
import { CryptoError, type SignatureLevel, type SignedFile, type SignFileRequest } from '../core/types.ts';
import type { EvidenceSource, SigningServices } from '../evidence/authorities.ts';
import { IncrementalFile, openIncrementalFile } from './incremental-file.ts';
import { type StoreEntry, storeUpdate } from './security-store.ts';
import { completedUpdate, padesOptions, preparePades, signPades } from './sign.ts';
import { newestSignatures, type StoredSignature } from './stored-signatures.ts';
import { appendDocumentTimestamp, attributeSpace, signedAndStamped, timestampsOf } from './time-stamping.ts';

/** Returns the evidence source. @throws {CryptoError} `request.invalid` when there is none */
export function evidenceOf({ evidence }: SigningServices, level: string): EvidenceSource {
  if (evidence !== undefined) return evidence;
  throw new CryptoError('request.invalid', `Level ${level} needs a source of revocation answers.`);
}

/**
 * Appends evidence for the signers of these signatures and of their time-stamps.
 * @param others DER of certificates that may be on their paths
 * @param at milliseconds since the epoch
 * @throws {CryptoError} as `EvidenceSource.collect`; `revocation.missing` when a signer's certificate is not inside
 */
export async function appendEvidence(
  file: IncrementalFile,
  signatures: readonly StoredSignature[],
  others: readonly Buffer[],
  source: EvidenceSource,
  at: number,
): Promise<void> {
  const entries = await Promise.all(
    signatures.map(async ({ field, key, ends, certificates }): Promise<StoreEntry> => {
      if (ends.length === 0) {
        throw new CryptoError(
          'revocation.missing',
          `The signature in field ${field} has no certificate to ask about.`,
        );
      }
      const own = ends.map((end) => end.der);
      return { key, evidence: await source.collect(own, [...certificates, ...others], at) };
    }),
  );
  if (entries.length > 0) file.append(storeUpdate(file, entries, `${at} security store`));
}

/**
 * Signs as `signPades`, at the level of the request. Reads the input once at every level. Evidence is stored for the
 * new signature and its time-stamp; `augmentPades` adds that of earlier signatures.
 * @throws {CryptoError} as `signPades`; `authority.*`, `revocation.missing`, `certificate.revoked`; `request.invalid`
 *   when a service is missing. There is no output then.
 */
export async function signPadesAtLevel(
  request: SignFileRequest,
  services: SigningServices,
): Promise<SignedFile> {
  const level = request.level ?? 'B';
  if (level === 'B') return signPades(request);
  const authority = timestampsOf(services, level);
  const evidence = level === 'T' ? undefined : evidenceOf(services, level);
  const source = openIncrementalFile(request.input, request.password);
  try {
    const unsignedLength = attributeSpace(authority);
    const options = { ...padesOptions(request), signer: request.signer, unsignedLength };
    const prepared = preparePades(source, options);
    const file = new IncrementalFile(source, request.output, [options.digest]);
    try {
      file.append(await signedAndStamped(file, options, prepared, authority));
      if (evidence !== undefined) {
        const newest = newestSignatures(file, 1);
        await appendEvidence(file, newest, request.signer.chain, evidence, request.at);
      }
      if (level === 'LTA') await appendDocumentTimestamp(file, authority, options.digest, request.at);
      return file.finish(request.sync ?? true);
    } catch (error) {
      file.discard();
      throw error;
    }
  } finally {
    source.close();
  }
}

/** The parts of a request that differ between the signatures. */
type SeriesStep = Pick<SignFileRequest, 'at' | 'pades'>;

/**
 * Reads the input once for any number of signatures.
 * @throws {CryptoError} as `signPadesAtLevel`. There is no output then.
 */
export async function signPadesSeries(
  request: Omit<SignFileRequest, keyof SeriesStep | 'format'>,
  steps: readonly SeriesStep[],
  services: SigningServices = {},
): Promise<SignedFile> {
  const level: SignatureLevel = request.level ?? 'B';
  const authority = level === 'B' ? undefined : timestampsOf(services, level);
  const evidence = level === 'LT' || level === 'LTA' ? evidenceOf(services, level) : undefined;
  const unsignedLength = authority === undefined ? 0 : attributeSpace(authority);
  const source = openIncrementalFile(request.input, request.password);
  try {
    const optionsOf = (step: SeriesStep) => ({
      ...padesOptions({ ...request, format: 'Pades', ...step }),
      signer: request.signer,
      unsignedLength,
    });
    const digests = steps.map((step) => optionsOf(step).digest);
    const file = new IncrementalFile(source, request.output, digests);
    try {
      for (const step of steps) {
        const options = optionsOf(step);
        const prepared = preparePades(file, options);
        const update =
          authority === undefined
            ? completedUpdate(file, prepared, options)
            : await signedAndStamped(file, options, prepared, authority);
        file.append(update);
        if (evidence !== undefined)
          await appendEvidence(file, newestSignatures(file, 1), request.signer.chain, evidence, step.at);
      }
      const last = steps.at(-1);
      if (level === 'LTA' && authority !== undefined && last !== undefined)
        await appendDocumentTimestamp(file, authority, optionsOf(last).digest, last.at);
      return file.finish(request.sync ?? true);
    } catch (error) {
      file.discard();
      throw error;
    }
  } finally {
    source.close();
  }
}

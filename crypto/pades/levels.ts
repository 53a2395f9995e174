/**
 * Signs a PDF at the levels B-T, B-LT and B-LTA (ETSI EN 319 142-1, clause 6).
 */
import type { SignatureLevel, SignedFile, SignFileRequest } from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import { appendEvidence, evidenceOf } from './evidence.ts';
import { IncrementalFile, openIncrementalFile } from './incremental-file.ts';
import { preparePades } from './prepare.ts';
import { completedUpdate, padesOptions, signPades } from './sign.ts';
import { newestSignatures } from './stored-signatures.ts';
import { appendDocumentTimestamp, attributeSpace, signedAndStamped, timestampsOf } from './time-stamping.ts';

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

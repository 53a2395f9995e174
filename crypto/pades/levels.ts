/**
 * Signs a PDF at the levels B-T, B-LT and B-LTA (ETSI EN 319 142-1, clause 6).
 *
 * Collects evidence for long-term validation, and stores it in the document (ETSI EN 319 142-1, clause 6.3, level
 * B-LT).
 */
import {
  CryptoError,
  type InputFile,
  type OutputFile,
  type SignAtLevelRequest,
  type SignedFile,
} from '../core/types.ts';
import { type EvidenceSource, type SigningServices, servicesFor } from '../evidence/authorities.ts';
import { type IncrementalFile, openIncrementalFile, writeIncremental } from './incremental-file.ts';
import { type StoreEntry, storeUpdate } from './security-store.ts';
import { padesOptions, prepareFirst, preparePades } from './sign.ts';
import { newestSignatures, type StoredSignature } from './stored-signatures.ts';
import { appendDocumentTimestamp, attributeSpace, signedUpdate } from './time-stamping.ts';

/**
 * Appends evidence for the signers of these signatures and of their time-stamps.
 * @throws {CryptoError} as `EvidenceSource.collect`; `revocation.missing` when a signer's certificate is not inside
 */
export async function appendEvidence(
  file: IncrementalFile,
  signatures: readonly StoredSignature[],
  {
    others,
    source,
    at,
  }: {
    /** DER of certificates that may be on their paths. */
    readonly others: readonly Buffer[];
    readonly source: EvidenceSource;
    /** Milliseconds since the epoch. */
    readonly at: number;
  },
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
export function signPadesAtLevel(
  request: SignAtLevelRequest<InputFile, OutputFile>,
  services: SigningServices,
): Promise<SignedFile> {
  return signPadesSeries(request, [request], services);
}

/** The parts of a request that differ between the signatures. */
type SeriesStep = Pick<SignAtLevelRequest<InputFile, OutputFile>, 'at' | 'pades'>;

/**
 * Reads the input once for any number of signatures.
 * Source: EN 319 142-1 §6.3.
 * @throws {CryptoError} as `signPadesAtLevel`. There is no output then.
 */
export async function signPadesSeries(
  request: Omit<SignAtLevelRequest<InputFile, OutputFile>, keyof SeriesStep | 'format'>,
  steps: readonly SeriesStep[],
  services: SigningServices = {},
): Promise<SignedFile> {
  const level = request.level ?? 'B';
  const { timestamps, evidence } = servicesFor(level, services) ?? {};
  const unsignedLength = timestamps === undefined ? 0 : attributeSpace(timestamps);
  const options = steps.map(({ at, pades }) => ({
    ...padesOptions({ ...request, format: 'Pades', at, ...(pades !== undefined && { pades }) }),
    signer: request.signer,
    unsignedLength,
  }));
  const source = openIncrementalFile(request.input, request.password);
  try {
    // Before there is an output: a file that cannot be signed is not copied.
    const first = options[0] && prepareFirst(source, options[0]);
    const signed = await writeIncremental(
      source,
      request,
      options.map(({ digest }) => digest),
      async (file) => {
        for (const [index, one] of options.entries()) {
          const prepared = index === 0 && first !== undefined ? first.prepared : preparePades(file, one);
          file.append(await signedUpdate(file, one, prepared, timestamps));
          if (evidence !== undefined)
            await appendEvidence(file, newestSignatures(file, 1), {
              others: request.signer.chain,
              source: evidence,
              at: one.at,
            });
        }
        const last = options.at(-1);
        if (level === 'LTA' && timestamps !== undefined && last !== undefined)
          await appendDocumentTimestamp(file, timestamps, last.digest, last.at);
      },
    );
    return { ...signed, ...first?.signing };
  } finally {
    source.close();
  }
}

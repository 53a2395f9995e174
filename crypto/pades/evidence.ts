/**
 * Collects evidence for long-term validation, and stores it in the document (ETSI EN 319 142-1, clause 6.3,
 * level B-LT).
 */

import { CryptoError } from '../core/types.ts';
import type { EvidenceSource, SigningServices } from '../evidence/authorities.ts';
import type { IncrementalFile } from './incremental-file.ts';
import { type StoreEntry, storeUpdate } from './security-store.ts';
import type { StoredSignature } from './stored-signatures.ts';

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

/** Writes an enveloping signature around its content. */

import { CryptoError } from '../core/types.ts';
import type { Source } from '../files/source.ts';
import { type ContentDigests, hashSource } from './content-digests.ts';
import { envelopeOf } from './envelope.ts';
import type { SignatureOutput } from './signature-files.ts';

/**
 * Copies the bytes of `source` into the signature as its content: a second pass, which must read the same bytes.
 * @param der SignedData without content
 * @throws {CryptoError} `input.changed`
 */
export function writeEnveloping(
  der: Buffer,
  source: Source,
  expected: Pick<ContentDigests, 'sha256'>,
  output: SignatureOutput,
): void {
  const { head, tail } = envelopeOf(der, source.size);
  output.write(head);
  const { sha256 } = hashSource(source, [], (piece) => output.write(piece));
  if (sha256 !== expected.sha256) {
    throw new CryptoError('input.changed', `${source.path} changed while it was being signed.`);
  }
  output.write(tail);
}

/** Writes a signature that is complete but for its content, inside or beside it. */
import type { Source } from '../files/source.ts';
import { CryptoError } from '../types.ts';
import { type ContentDigests, hashSource } from './content-digests.ts';
import { envelopeOf } from './envelope.ts';
import type { SignatureOutput } from './signature-files.ts';

/**
 * Puts the bytes of `source` into the signature as its content: a second pass, which has to find what the first found.
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

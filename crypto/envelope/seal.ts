/** Puts a file into an encryption envelope, piece by piece. Source: batch-gaps §9. */
import { createCipheriv, createHash } from 'node:crypto';
import { openSource } from '../files/source.ts';
import { createTarget } from '../files/target.ts';
import { CryptoError } from '../types.ts';
import { CIPHER, MOST_BYTES, NONCE_BYTES, PIECE, START, TAG_BYTES } from './format.ts';

export interface SealRequest {
  /** Path of the file to encrypt. */
  readonly input: string;
  /** Path of the envelope. Must not exist; removed again when sealing fails. Synced before this returns. */
  readonly output: string;
  /** 32 bytes, as `envelopeKey` gives them. */
  readonly key: Uint8Array;
  /** 12 bytes, never used before with this key. */
  readonly nonce: Uint8Array;
}

/**
 * Synchronous; takes a few megabytes of memory whatever the file's size.
 * @returns digest (lower-case hex) and length of the envelope
 * @throws {CryptoError} `input.unreadable`, `input.changed`, `input.too-large`, `output.exists`, `output.unwritable`
 */
export function sealFile({ input, output, key, nonce }: SealRequest): {
  readonly sha256: string;
  readonly length: number;
} {
  if (nonce.length !== NONCE_BYTES) throw new RangeError(`a nonce has ${NONCE_BYTES} bytes`);
  const source = openSource(input);
  try {
    if (source.size > MOST_BYTES)
      throw new CryptoError(
        'input.too-large',
        'The file is too large for an encryption envelope of version 1.',
      );
    const target = createTarget(output);
    try {
      const hash = createHash('sha256');
      const put = (bytes: Uint8Array) => {
        hash.update(bytes);
        target.write(bytes);
      };
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      put(START);
      put(nonce);
      for (let at = 0; at < source.size; at += PIECE)
        put(cipher.update(source.read(at, Math.min(PIECE, source.size - at))));
      put(cipher.final());
      put(cipher.getAuthTag());
      source.assertUnchanged();
      target.sync();
      target.close();
      return { sha256: hash.digest('hex'), length: target.length };
    } catch (error) {
      target.discard();
      throw error;
    }
  } finally {
    source.close();
  }
}

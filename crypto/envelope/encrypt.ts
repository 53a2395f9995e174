/** Writes a file into an encryption envelope, chunk by chunk. Source: docs/batch-values.md §9. */
import { createCipheriv, createHash } from 'node:crypto';
import { CryptoError } from '../core/types.ts';
import { openSource } from '../files/source.ts';
import { createTarget } from '../files/target.ts';
import { CHUNK_BYTES, CIPHER, HEADER, MAX_PLAINTEXT_BYTES, NONCE_BYTES, TAG_BYTES } from './format.ts';

export interface EncryptRequest {
  /** Path of the file to encrypt. */
  readonly input: string;
  /** Path of the envelope. Must not exist; removed again when encryption fails. Synced before this returns. */
  readonly output: string;
  /** 32 bytes, as `envelopeKey` returns them. */
  readonly key: Uint8Array;
  /** 12 bytes, used once with this key. */
  readonly nonce: Uint8Array;
}

/**
 * Encrypts synchronously; uses a few megabytes of memory for any file size.
 * @returns digest (lower-case hex) and length of the envelope
 * @throws {CryptoError} `input.unreadable`, `input.changed`, `input.too-large`, `output.exists`, `output.unwritable`
 */
export function encryptFile({ input, output, key, nonce }: EncryptRequest): {
  readonly sha256: string;
  readonly length: number;
} {
  if (nonce.length !== NONCE_BYTES) throw new RangeError(`a nonce has ${NONCE_BYTES} bytes`);
  const source = openSource(input);
  try {
    if (source.size > MAX_PLAINTEXT_BYTES)
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
      put(HEADER);
      put(nonce);
      for (let at = 0; at < source.size; at += CHUNK_BYTES)
        put(cipher.update(source.read(at, Math.min(CHUNK_BYTES, source.size - at))));
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

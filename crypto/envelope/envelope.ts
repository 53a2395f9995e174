/** Decrypts an encryption envelope, chunk by chunk. Source: docs/batch-values.md §9. */
import { createCipheriv, createDecipheriv, createHash, pbkdf2 } from 'node:crypto';
import { linkSync, renameSync, unlinkSync } from 'node:fs';
import { createTarget, openSource } from '../core/files.ts';
import { CryptoError } from '../core/types.ts';

/** Failure to open an envelope. Matched on `code`. */
export class EnvelopeError extends Error {
  /** `envelope.malformed`: no envelope, unknown version, or truncated; `envelope.tag`: wrong key, or modified. */
  readonly code: 'envelope.malformed' | 'envelope.tag';
  constructor(code: 'envelope.malformed' | 'envelope.tag', message: string) {
    super(message);
    this.name = 'EnvelopeError';
    this.code = code;
  }
}

interface DecryptRequest {
  /** Path of the envelope. */
  readonly input: string;
  /** Path of the decrypted file; must not exist. */
  readonly output: string;
  /** 32 bytes, as `envelopeKey` returns them. */
  readonly key: Uint8Array;
}

/**
 * Decrypts into `<output>.part` and renames it when the tag of the whole envelope is verified.
 * On failure, both are removed.
 * @throws {EnvelopeError}; {CryptoError} `input.unreadable`, `input.changed`, `output.exists`, `output.unwritable`
 */
export function decryptFile({ input, output, key }: DecryptRequest): void {
  const source = openSource(input);
  try {
    const head = source.read(0, Math.min(HEAD_BYTES, source.size));
    if (!head.subarray(0, HEADER.length).equals(HEADER))
      throw new EnvelopeError('envelope.malformed', 'It is not an encryption envelope of version 1.');
    if (source.size < OVERHEAD_BYTES)
      throw new EnvelopeError('envelope.malformed', 'The envelope is cut short.');
    const end = source.size - TAG_BYTES;
    const nonce = Buffer.from(head.subarray(HEADER.length));
    const tag = Buffer.from(source.read(end, TAG_BYTES));
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAuthTag(tag);
    const target = createTarget(`${output}.part`);
    try {
      for (let at = HEAD_BYTES; at < end; at += CHUNK_BYTES)
        target.write(decipher.update(source.read(at, Math.min(CHUNK_BYTES, end - at))));
      target.write(authenticate(() => decipher.final()));
      source.assertUnchanged();
      target.sync();
      rename(target.path, output);
    } finally {
      // An output under its final name is kept.
      target.discard();
    }
  } finally {
    source.close();
  }
}

function authenticate(final: () => Buffer): Buffer {
  try {
    return final();
  } catch {
    throw new EnvelopeError(
      'envelope.tag',
      'The envelope does not open: the password, salt or iterations are others, or it was changed.',
    );
  }
}

/** Renames without overwriting an existing file. */
function rename(part: string, output: string): void {
  try {
    linkSync(part, output);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (code === 'EEXIST') throw new CryptoError('output.exists', `${output} exists already.`);
    if (!LINK_REFUSALS.has(code))
      throw new CryptoError('output.unwritable', `${output} can't be written: ${code}.`, { cause: error });
    claimAndRename(part, output);
  }
}

const LINK_REFUSALS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Fallback for file systems without hard links: creates an empty file under the name, then renames over it. */
function claimAndRename(part: string, output: string): void {
  const claim = createTarget(output);
  claim.close();
  try {
    renameSync(part, output);
  } catch (error) {
    unlinkSync(output);
    throw error;
  }
}

// Encryption envelope, version 1: magic, version, nonce, ciphertext, tag. It excludes salt and iteration count.
//
// | offset | length | field |
// |--------|--------|-------|
// | 0      | 8      | magic |
// | 8      | 1      | version |
// | 9      | 12     | nonce |
// | 21     | N      | ciphertext, AES-256-GCM over the whole file, no associated data |
// | 21+N   | 16     | tag |
//
// Source: docs/batch-values.md §9.

/** `BSENC` and three zero bytes. */
const MAGIC = Buffer.from('4253454e43000000', 'hex');
const VERSION = 1;

/** Cipher of version 1 (NIST SP 800-38D). */
const CIPHER = 'aes-256-gcm';
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The first nine bytes of every envelope. */
const HEADER = Buffer.concat([MAGIC, Buffer.from([VERSION])]);
const HEAD_BYTES = HEADER.length + NONCE_BYTES;
/** Bytes of an envelope in addition to its plaintext; also the shortest envelope. */
const OVERHEAD_BYTES = HEAD_BYTES + TAG_BYTES;

const KEY_BYTES = 32;

/** Limit of GCM under one nonce: 2^36 - 32 bytes (NIST SP 800-38D §5.2.1.1). */
const MAX_PLAINTEXT_BYTES = 2 ** 36 - 32;

/** Bytes read, encrypted and written at once. */
const CHUNK_BYTES = 1 << 20;

/**
 * Derives the key: PBKDF2-HMAC-SHA256 over the password as UTF-8; 32 bytes. Deliberately slow.
 * Source: RFC 8018 §5.2.
 */
export function envelopeKey(password: string, salt: Uint8Array, iterations: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    pbkdf2(password, salt, iterations, KEY_BYTES, 'sha256', (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}

/** Writes a file into an encryption envelope, chunk by chunk. Source: docs/batch-values.md §9. */
interface EncryptRequest {
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

/** Decrypts an encryption envelope, chunk by chunk. Source: docs/batch-values.md §9. */
import { createDecipheriv } from 'node:crypto';
import { linkSync, renameSync, unlinkSync } from 'node:fs';
import { CryptoError } from '../core/types.ts';
import { openSource } from '../files/source.ts';
import { createTarget } from '../files/target.ts';
import { CHUNK_BYTES, CIPHER, HEAD_BYTES, HEADER, OVERHEAD_BYTES, TAG_BYTES } from './format.ts';

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

export interface DecryptRequest {
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
      throw new CryptoError('output.unwritable', `${output} can't be written: ${code}.`);
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

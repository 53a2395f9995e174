/** Opens an encryption envelope, piece by piece. Source: batch-gaps §9. */
import { createDecipheriv } from 'node:crypto';
import { linkSync, renameSync, unlinkSync } from 'node:fs';
import { openSource } from '../files/source.ts';
import { createTarget } from '../files/target.ts';
import { CryptoError } from '../types.ts';
import { CIPHER, HEAD_BYTES, OVERHEAD, PIECE, START, TAG_BYTES } from './format.ts';

/** Why an envelope cannot be opened. Matched on `code`. */
export class EnvelopeError extends Error {
  /** `envelope.malformed`: no envelope, another version, cut short; `envelope.tag`: another key, or changed. */
  readonly code: 'envelope.malformed' | 'envelope.tag';
  constructor(code: 'envelope.malformed' | 'envelope.tag', message: string) {
    super(message);
    this.name = 'EnvelopeError';
    this.code = code;
  }
}

export interface OpenRequest {
  /** Path of the envelope. */
  readonly input: string;
  /** Path of the decrypted file; must not exist. */
  readonly output: string;
  /** 32 bytes, as `envelopeKey` gives them. */
  readonly key: Uint8Array;
}

/**
 * The output appears under its name only when the whole envelope has proven to be untouched; until then it grows beside
 * it as `<output>.part`. Whatever fails, nothing is left behind.
 * @throws {EnvelopeError}; {CryptoError} `input.unreadable`, `input.changed`, `output.exists`, `output.unwritable`
 */
export function openEnvelope({ input, output, key }: OpenRequest): void {
  const source = openSource(input);
  try {
    const head = source.read(0, Math.min(HEAD_BYTES, source.size));
    if (!head.subarray(0, START.length).equals(START))
      throw new EnvelopeError('envelope.malformed', 'It is not an encryption envelope of version 1.');
    if (source.size < OVERHEAD) throw new EnvelopeError('envelope.malformed', 'The envelope is cut short.');
    const end = source.size - TAG_BYTES;
    const decipher = createDecipheriv(CIPHER, key, Buffer.from(head.subarray(START.length)), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(Buffer.from(source.read(end, TAG_BYTES)));
    const target = createTarget(`${output}.part`);
    try {
      for (let at = HEAD_BYTES; at < end; at += PIECE)
        target.write(decipher.update(source.read(at, Math.min(PIECE, end - at))));
      target.write(proven(() => decipher.final()));
      source.assertUnchanged();
      target.sync();
      giveName(target.path, output);
    } finally {
      // Under its own name, if it got there, the file stays.
      target.discard();
    }
  } finally {
    source.close();
  }
}

function proven(final: () => Buffer): Buffer {
  try {
    return final();
  } catch {
    throw new EnvelopeError(
      'envelope.tag',
      'The envelope does not open: the password, salt or iterations are others, or it was changed.',
    );
  }
}

/** Never over a file that is there. */
function giveName(part: string, output: string): void {
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

/** For file systems without hard links: the name is taken by an empty file, and the whole one takes its place. */
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

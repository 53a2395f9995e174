/** Writes a planned signature and its input into a new file. */
import { createHash } from 'node:crypto';
import { createTarget, type Source, type Target } from '../core/files.ts';
import type { InputFile, OutputFile, SignedFile, SignFileRequest } from '../core/types.ts';
import { CLOSE_SIGNATURE } from './elements/signature-text.ts';
import { base64Of, type Frame } from './plan.ts';

/** A signed document as byte ranges; `before` and `after` are views of the input. */
interface SignedXml {
  readonly before: Buffer;
  readonly inserted: Buffer;
  /** Input bytes inside the signature; empty for most packagings. */
  readonly content: Buffer;
  /** Rest of the signature after `content`. */
  readonly closing: Buffer;
  readonly after: Buffer;
}

/** Combines input and signature. @param opened the signature from `openSignature` */
export function assemble(input: Buffer, frame: Frame, opened: string): SignedXml {
  const { cut, resume, lead, trail, object, encode } = frame;
  const before = input.subarray(0, cut);
  const after = input.subarray(resume);
  const isPlain = opened.startsWith('<Signature ');
  if (object?.content !== 'verbatim') {
    const inserted = encode(`${lead}${opened}${isPlain ? '</Signature>' : CLOSE_SIGNATURE}${trail}`);
    return { before, inserted, content: NOTHING, closing: NOTHING, after };
  }
  return {
    before,
    inserted: encode(lead + opened + object.open),
    content: input.subarray(cut, resume),
    closing: encode(CLOSE_OBJECT + trail),
    after,
  };
}

const NOTHING = Buffer.alloc(0);
const CLOSE_OBJECT = `</ds:Object>${CLOSE_SIGNATURE}`;

type OutputRequest = Pick<SignFileRequest<InputFile, OutputFile>, 'output' | 'sync'>;

/**
 * Writes the output of an input in memory; both are hashed meanwhile.
 * @param parts of the output; the first one is the start of the input
 * @throws {CryptoError} `input.changed`, `output.exists`, `output.unwritable`. No output is left then.
 */
export function writeChunks(
  source: Source,
  input: Buffer,
  parts: readonly [beginning: Buffer, ...rest: readonly Buffer[]],
  request: OutputRequest,
): SignedFile {
  source.assertUnchanged();
  const [beginning, ...rest] = parts;
  const output = createHash('sha256').update(beginning);
  const sha256 = output.copy().update(input.subarray(beginning.length)).digest('hex');
  for (const part of rest) output.update(part);
  const length = write(request, (target) => target.write(...parts));
  return { input: fingerprint(source, sha256), output: { sha256: output.digest('hex'), length } };
}

/**
 * Writes the output of an input that is read in chunks: a signature alone, or around Base64.
 * @throws {CryptoError} as `writeChunks`, and `input.unreadable`
 */
export function writeStreamed(
  source: Source,
  frame: Frame,
  opened: string,
  request: OutputRequest,
): SignedFile {
  const input = createHash('sha256');
  const output = createHash('sha256');
  const length = write(request, (target) => {
    const put = (text: string): void => {
      const bytes = frame.encode(text);
      output.update(bytes);
      target.write(bytes);
    };
    put(frame.lead + opened + (frame.object?.open ?? ''));
    if (frame.object === undefined) {
      for (const chunk of source.chunks()) input.update(chunk);
      put(CLOSE_SIGNATURE + frame.trail);
    } else {
      for (const text of base64Of(source, (chunk) => input.update(chunk))) put(text);
      put(CLOSE_OBJECT + frame.trail);
    }
    source.assertUnchanged();
  });
  const sha256 = input.digest('hex');
  return { input: fingerprint(source, sha256), output: { sha256: output.digest('hex'), length } };
}

function fingerprint({ size, mtimeMs, inode }: Source, sha256: string): SignedFile['input'] {
  return { sha256, length: size, mtimeMs, inode };
}

function write({ output, sync = true }: OutputRequest, fill: (target: Target) => void): number {
  const target = createTarget(output);
  try {
    fill(target);
    if (sync) target.sync();
    target.close();
    return target.length;
  } catch (error) {
    target.discard();
    throw error;
  }
}

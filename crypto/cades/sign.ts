/** CAdES-B-B with the content inside: one pass over the input, one over the output, bounded memory. */
import { createHash } from 'node:crypto';
import { openSource, type Source, WHOLE_LIMIT } from '../files/source.ts';
import { createTarget, type Target } from '../files/target.ts';
import { CryptoError, type SignedFile, type SignFileRequest } from '../types.ts';
import { type Envelope, type EnvelopeRequest, envelope, promisedTail, promisingHead } from './envelope.ts';

/**
 * Signs any file into a CMS SignedData in DER that holds it (EN 319 122-1, baseline B). What the file is plays no
 * part: one that is CMS already is content like any other. Lengths above 4 GiB are written exactly.
 * The output is synced when this returns (unless `sync` is false) and removed when it throws.
 * @throws {CryptoError} `input.unreadable`, `input.empty`, `input.changed`, `output.exists`, `output.unwritable`,
 *   `key.unsupported`
 */
export function signCades(request: SignFileRequest): SignedFile {
  const source = openSource(request.input);
  try {
    if (source.size === 0) throw new CryptoError('input.empty', `${request.input} is empty.`);
    const target = createTarget(request.output);
    try {
      const { signer, at, digest = 'sha256' } = request;
      const write = source.size <= WHOLE_LIMIT ? writeSmall : writeLarge;
      const digests = write(source, target, { signer, at, digest });
      source.assertUnchanged();
      if (request.sync ?? true) target.sync();
      const { length } = target;
      target.close();
      return {
        input: {
          sha256: digests.input,
          length: source.size,
          mtimeMs: source.mtimeMs,
          inode: source.inode,
        },
        output: { sha256: digests.output, length },
      };
    } catch (error) {
      target.discard();
      throw error;
    }
  } finally {
    source.close();
  }
}

/** Lower-case hex SHA-256 of both files. */
interface Digests {
  readonly input: string;
  readonly output: string;
}

function writeSmall(source: Source, target: Target, request: EnvelopeRequest): Digests {
  const content = source.read(0, source.size);
  const { head, tail, messageDigest } = envelopBytes(content, request);
  target.write(head, content, tail);
  const input = request.digest === 'sha256' ? messageDigest : createHash('sha256').update(content).digest();
  return {
    input: input.toString('hex'),
    output: createHash('sha256').update(head).update(content).update(tail).digest('hex'),
  };
}

/** What stands before and after the content of a CAdES-B-B signature made in memory. @throws as `signCades` */
export function envelopBytes(
  content: Buffer,
  request: EnvelopeRequest,
): Envelope & { readonly messageDigest: Buffer } {
  const messageDigest = createHash(request.digest).update(content).digest();
  return { ...envelope(request, content.length, messageDigest), messageDigest };
}

function writeLarge(source: Source, target: Target, request: EnvelopeRequest): Digests {
  const input = createHash('sha256');
  const output = createHash('sha256');
  const other = request.digest === 'sha256' ? undefined : createHash(request.digest);
  const head = promisingHead(request, source.size);
  output.update(head);
  target.write(head);
  for (const chunk of source.chunks()) {
    input.update(chunk);
    other?.update(chunk);
    output.update(chunk);
    target.write(chunk);
  }
  const sha256 = input.digest();
  const tail = promisedTail(request, other?.digest() ?? sha256);
  output.update(tail);
  target.write(tail);
  return { input: sha256.toString('hex'), output: output.digest('hex') };
}

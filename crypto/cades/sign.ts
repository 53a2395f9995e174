/** CAdES-B-B, enveloping or detached: one pass over the input, one over the output, bounded memory. */
import { createHash } from 'node:crypto';
import { buildSignedData } from '../cms/build.ts';
import { IN_MEMORY_BYTES, type Source } from '../core/files.ts';
import { CryptoError, type SignedFile, type SignFileRequest } from '../core/types.ts';
import { algorithmOf } from '../x509/signature-algorithms.ts';
import { hashSource } from './content-digests.ts';
import { type Envelope, type EnvelopeRequest, envelope, indefiniteHead, indefiniteTail } from './envelope.ts';
import { type FilesDone, type SignatureOutput, withFiles } from './signature-files.ts';

/**
 * Signs any file into a CMS SignedData in DER or PEM, enveloping or detached (EN 319 122-1, baseline B).
 * The content is opaque: a CMS file is signed like any other. Lengths above 4 GiB are exact.
 * The output is synced when this returns (unless `sync` is false) and removed when it throws.
 * @throws {CryptoError} `input.unreadable`, `input.empty`, `input.changed`, `output.exists`, `output.unwritable`,
 * `key.unsupported`; `request.invalid` for a level above B (`signCadesAtLevel`) or a policy that can't be written
 */
export function signCades(given: SignFileRequest): SignedFile {
  const { level = 'B', cades = {} } = given;
  const request = { ...given, contentIdentifier: cades.contentIdentifier };
  if (level !== 'B') throw new CryptoError('request.invalid', `Level ${level} needs authorities.`);
  return withFiles(request, cades.armor ?? 'der', (source, output) => {
    if (cades.detached === true) return writeDetached(source, output, request);
    const write = source.size <= IN_MEMORY_BYTES ? writeSmall : writeLarge;
    return write(source, output, request);
  });
}

function writeDetached(source: Source, output: SignatureOutput, request: EnvelopeRequest): FilesDone {
  const { digest } = algorithmOf(request.signer, request);
  const digests = hashSource(source, [digest]);
  const der = buildSignedData({ ...request, messageDigest: digests.of(digest), signingTime: request.at });
  output.write(der);
  return { sha256: digests.sha256 };
}

function writeSmall(source: Source, output: SignatureOutput, request: EnvelopeRequest): FilesDone {
  const content = source.read(0, source.size);
  const { head, tail, messageDigest } = envelopBytes(content, request);
  output.write(head, content, tail);
  const { digest } = algorithmOf(request.signer, request);
  const sha256 = digest === 'sha256' ? messageDigest : createHash('sha256').update(content).digest();
  return { sha256: sha256.toString('hex') };
}

/** Builds the bytes before and after the content of a CAdES-B-B signature made in memory. @throws as `signCades` */
export function envelopBytes(
  content: Buffer,
  request: EnvelopeRequest,
): Envelope & { readonly messageDigest: Buffer } {
  const { digest } = algorithmOf(request.signer, request);
  const messageDigest = createHash(digest).update(content).digest();
  return { ...envelope(request, content.length, messageDigest), messageDigest };
}

function writeLarge(source: Source, output: SignatureOutput, request: EnvelopeRequest): FilesDone {
  const { digest } = algorithmOf(request.signer, request);
  output.write(indefiniteHead(request, source.size));
  const digests = hashSource(source, [digest], (piece) => output.write(piece));
  output.write(indefiniteTail(request, digests.of(digest)));
  return { sha256: digests.sha256 };
}

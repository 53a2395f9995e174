/**
 * Signs a PDF: PAdES baseline B-B (ETSI EN 319 142-1) by an incremental update; no byte of the original changes.
 */
import { createHash, type Hash } from 'node:crypto';
import { buildSignedData } from '../cms/build.ts';
import { openSource, type Source, WHOLE_LIMIT } from '../files/source.ts';
import { createTarget, type Target } from '../files/target.ts';
import { bufferSource } from '../pdf/index.ts';
import { CryptoError, type SignedFile, type SignFileRequest } from '../types.ts';
import { type PadesOptions, type PreparedPades, preparePades } from './prepare.ts';

/**
 * Signs the file `input` into the new file `output`, which is on disk (unless `sync` is false) when this returns and gone when it throws.
 * The bytes of the input are read once; memory does not grow with the file.
 * @throws {CryptoError} `input.*`, `pdf.*`, `output.*`
 */
export function signPades(request: SignFileRequest): SignedFile {
  const source = openSource(request.input);
  try {
    if (source.size === 0) throw new CryptoError('input.empty', 'The file to sign is empty.');
    const options: PadesOptions = {
      signer: request.signer,
      at: request.at,
      digest: request.digest ?? 'sha256',
    };
    const prepared = preparePades(source, options);
    const target = createTarget(request.output);
    try {
      const signed = write(source, target, prepared, options);
      if (request.sync ?? true) target.sync();
      target.close();
      return signed;
    } catch (error) {
      target.discard();
      throw error;
    }
  } finally {
    source.close();
  }
}

function write(source: Source, target: Target, prepared: PreparedPades, options: PadesOptions): SignedFile {
  const original = createHash('sha256');
  const signed = options.digest === 'sha256' ? undefined : createHash(options.digest);
  // A small file goes out together with its update in one call.
  const small = source.size <= WHOLE_LIMIT;
  for (const chunk of source.chunks()) {
    original.update(chunk);
    signed?.update(chunk);
    if (!small) target.write(chunk);
  }
  completePades(prepared, signed ?? original.copy(), options);
  const output = original.copy().update(prepared.update).digest('hex');
  if (small) target.write(source.read(0, source.size), prepared.update);
  else target.write(prepared.update);
  source.assertUnchanged();
  return {
    input: {
      sha256: original.digest('hex'),
      length: source.size,
      mtimeMs: source.mtimeMs,
      inode: source.inode,
    },
    output: { sha256: output, length: source.size + prepared.update.length },
  };
}

/**
 * Signs and puts the signature into its place in `prepared.update`.
 * @param original hash of the original made with `options.digest`; it is used up
 */
export function completePades(prepared: PreparedPades, original: Hash, options: PadesOptions): void {
  const { update, holeStart, holeEnd } = prepared;
  original.update(update.subarray(0, holeStart)).update(update.subarray(holeEnd));
  const cms = buildSignedData({
    signer: options.signer,
    digest: options.digest,
    messageDigest: original.digest(),
  });
  if (cms.length * 2 > holeEnd - holeStart - 2) {
    throw new CryptoError('key.unsupported', 'The signature is longer than was computed beforehand.');
  }
  update.write(cms.toString('hex'), holeStart + 1, 'latin1');
}

/** Signs a PDF in memory and gives the signed one. @throws {CryptoError} as `signPades` */
export function signPdfBytes(pdf: Buffer, options: PadesOptions): Buffer {
  const prepared = preparePades(bufferSource(pdf), options);
  completePades(prepared, createHash(options.digest).update(pdf), options);
  return Buffer.concat([pdf, prepared.update]);
}

/**
 * Signs a PDF: PAdES baseline B-B (ETSI EN 319 142-1) by an incremental update; no byte of the original changes.
 */
import { createHash } from 'node:crypto';
import { buildSignedData } from '../cms/build.ts';
import { algorithmOf } from '../keys/algorithm.ts';
import { bufferSource } from '../pdf/index.ts';
import {
  type BeginSigningRequest,
  CryptoError,
  type SignedFile,
  type Signer,
  type SignFileRequest,
} from '../types.ts';
import { GrowingPdf, openPdfFile } from './growing-pdf.ts';
import { type PadesOptions, preparePades } from './prepare.ts';
import { fillHole, type PreparedUpdate } from './signature-dictionary.ts';

/** As `PadesOptions`, with the key at hand. */
export interface SignPadesOptions extends PadesOptions {
  readonly signer: Signer;
}

/**
 * Signs the file `input` into the new file `output` at level B, which is on disk (unless `sync` is false) when this
 * returns and gone when it throws. The bytes of the input are read once; memory does not grow with the file.
 * @throws {CryptoError} `input.*`, `pdf.*`, `output.*`, `key.*`, `request.invalid`
 */
export function signPades(request: SignFileRequest): SignedFile {
  const source = openPdfFile(request.input);
  try {
    const options = { ...padesOptions(request), signer: request.signer };
    const prepared = preparePades(source, options);
    const file = new GrowingPdf(source, request.output, [options.digest]);
    try {
      complete(prepared, file.digestAround(prepared, options.digest), options);
      file.append(prepared.update);
      return file.finish(request.sync ?? true);
    } catch (error) {
      file.discard();
      throw error;
    }
  } finally {
    source.close();
  }
}

/** What of a request the layout depends on; what it leaves open is decided. */
export function padesOptions(request: SignFileRequest | BeginSigningRequest): PadesOptions {
  const { signer, at, padding, includeChain, policy, pades } = request;
  return {
    signer,
    at,
    digest: algorithmOf(signer, request).digest,
    ...(padding === undefined ? {} : { padding }),
    ...(includeChain === undefined ? {} : { includeChain }),
    ...(policy === undefined ? {} : { policy }),
    ...(pades === undefined ? {} : { form: pades }),
  };
}

/** @param messageDigest of everything but the hole, made with `options.digest` */
function complete(prepared: PreparedUpdate, messageDigest: Buffer, options: SignPadesOptions): void {
  if (!fillHole(prepared, buildSignedData({ ...options, messageDigest }))) {
    throw new CryptoError('key.unsupported', 'The signature is longer than was computed beforehand.');
  }
}

/** Signs a PDF in memory and gives the signed one. @throws {CryptoError} as `signPades` */
export function signPdfBytes(pdf: Buffer, options: SignPadesOptions): Buffer {
  const prepared = preparePades(bufferSource(pdf), options);
  const { update, holeStart, holeEnd } = prepared;
  const around = createHash(options.digest).update(pdf).update(update.subarray(0, holeStart));
  complete(prepared, around.update(update.subarray(holeEnd)).digest(), options);
  return Buffer.concat([pdf, update]);
}

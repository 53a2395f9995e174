/**
 * Signs a PDF: PAdES baseline B-B (ETSI EN 319 142-1) by an incremental update; no byte of the original changes.
 */
import { createHash } from 'node:crypto';
import { buildSignedData } from '../cms/build.ts';
import {
  type BeginSigningRequest,
  CryptoError,
  type SignedFile,
  type Signer,
  type SignFileRequest,
} from '../core/types.ts';
import { bufferSource } from '../pdf/index.ts';
import { algorithmOf } from '../x509/algorithm-identifier.ts';
import { fillPlaceholder, type PreparedUpdate } from './fields/signature-dictionary.ts';
import { IncrementalFile, openIncrementalFile } from './incremental-file.ts';
import { type PadesOptions, preparePades } from './prepare.ts';

/** `PadesOptions` with a local key. */
export interface SignPadesOptions extends PadesOptions {
  readonly signer: Signer;
}

/**
 * Signs the file `input` into the new file `output` at level B. The output is on disk (unless `sync` is false) when this
 * returns and removed when it throws. The input is read once; memory does not grow with its size.
 * @throws {CryptoError} `input.*`, `pdf.*`, `output.*`, `key.*`, `request.invalid`
 */
export function signPades(request: SignFileRequest): SignedFile {
  const source = openIncrementalFile(request.input, request.password);
  try {
    const options = { ...padesOptions(request), signer: request.signer };
    const prepared = preparePades(source, options);
    const file = new IncrementalFile(source, request.output, [options.digest]);
    try {
      file.append(completedUpdate(file, prepared, options));
      return file.finish(request.sync ?? true);
    } catch (error) {
      file.discard();
      throw error;
    }
  } finally {
    source.close();
  }
}

/** Returns the update with the signature value over the file so far and the update itself. @throws {CryptoError} `key.*` */
export function completedUpdate(
  file: IncrementalFile,
  prepared: PreparedUpdate,
  options: SignPadesOptions,
): Buffer {
  complete(prepared, file.digestAround(prepared, options.digest), options);
  return prepared.update;
}

/** Resolves the defaults of a request that the layout depends on. */
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

/**
 * Fills the placeholder with the signature.
 * @param messageDigest of all bytes except the placeholder, made with `options.digest`
 * @throws {CryptoError} `key.*`
 */
function complete(prepared: PreparedUpdate, messageDigest: Buffer, options: SignPadesOptions): void {
  if (!fillPlaceholder(prepared, buildSignedData({ ...options, messageDigest }))) {
    throw new CryptoError('key.unsupported', 'The signature is longer than was computed beforehand.');
  }
}

/** Signs a PDF in memory and returns the signed PDF. @throws {CryptoError} as `signPades` */
export function signPdfBytes(pdf: Buffer, options: SignPadesOptions): Buffer {
  const prepared = preparePades(bufferSource(pdf), options);
  const { update, placeholderStart, placeholderEnd } = prepared;
  const around = createHash(options.digest).update(pdf).update(update.subarray(0, placeholderStart));
  complete(prepared, around.update(update.subarray(placeholderEnd)).digest(), options);
  return Buffer.concat([pdf, update]);
}

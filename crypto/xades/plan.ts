/**
 * Result of planning one packaging before the key is needed: the references, and where the signature is placed in the
 * output.
 */
import { createHash, type Hash } from 'node:crypto';
import { basename } from 'node:path';
import type { Source } from '../core/files.ts';
import {
  CryptoError,
  type SignatureAlgorithm,
  type SignatureParameters,
  type SignerIdentity,
  type XadesFormat,
} from '../core/types.ts';
import type { ByteSink } from '../xml/index.ts';
import { ID_PREFIX } from './elements/signature-survey.ts';
import { type DataReference, mimeTypeOf, mimeTypeText, uriText } from './elements/signature-text.ts';

export interface PlanRequest extends Pick<SignatureParameters, 'at'> {
  readonly signer: Pick<SignerIdentity, 'fingerprint'>;
  readonly algorithm: SignatureAlgorithm;
  readonly form: XadesFormat;
  /** True when an archive time-stamp follows. @default false */
  readonly archived?: boolean;
}

export interface SigningPlan {
  readonly id: string;
  readonly references: readonly DataReference[];
  /** Prefixes in values of what is signed, as a PrefixList names them. */
  readonly prefixes: readonly string[];
  /**
   * Hash over the bytes of all references in order, with the digest of the algorithm: the start of an archive
   * time-stamp's imprint. Callers copy it and do not finish it. Undefined unless `archived` was requested.
   */
  readonly signed: Hash | undefined;
  readonly frame: Frame;
  /**
   * Writes the canonical form of the objects that hold signed content: the end of an archive time-stamp's imprint.
   */
  writeObjects?(sink: ByteSink): void;
}

/**
 * Layout of the output: bytes of the input up to `cut`, `lead`, the signature, `trail`, bytes of the input from
 * `resume` on. The signature may hold an object made from the input.
 */
export interface Frame {
  /** Offset in the input. */
  readonly cut: number;
  readonly resume: number;
  readonly lead: string;
  readonly trail: string;
  readonly object?: {
    /** Start tag of the object, in ASCII. */
    readonly open: string;
    /** `verbatim`: the input between `cut` and `resume`; `base64`: all of it. */
    readonly content: 'verbatim' | 'base64';
  };
  /** Encodes text in the encoding of the output. */
  encode(text: string): Buffer;
}

/**
 * Returns the requested identifier, or one derived from content, signer and time: equal requests give equal output.
 */
export function idFor(
  digest: Buffer,
  { at, signer, form }: Pick<PlanRequest, 'at' | 'signer'> & Partial<Pick<PlanRequest, 'form'>>,
  isFree: (id: string) => boolean = () => true,
): string {
  const seed = createHash('sha256').update(digest).update(`${at} ${signer.fingerprint}`);
  const base = form?.id ?? ID_PREFIX + seed.digest('hex').slice(0, 32);
  if (isFree(base)) return base;
  for (let number = 2; ; number++) {
    const id = `${base}.${number}`;
    if (isFree(id)) return id;
  }
}

/** Returns the digest, and a copy of the hash state when more data follows. Copying has a cost. */
export function endOrKeep(
  hash: Hash,
  { archived = false }: Pick<PlanRequest, 'archived'>,
): { readonly digest: Buffer; readonly signed: Hash | undefined } {
  if (!archived) return { digest: hash.digest(), signed: undefined };
  return { digest: hash.copy().digest(), signed: hash };
}

/** Layout of a signature in its own file. */
export const ALONE: Pick<Frame, 'lead' | 'trail' | 'encode'> = {
  lead: '<?xml version="1.0" encoding="UTF-8"?>\n',
  trail: '',
  encode: (text) => Buffer.from(text),
};

/** Encodes a file in Base64 without line breaks, chunk by chunk. @throws {CryptoError} as `Source.chunks` */
export function* base64Of(
  source: Pick<Source, 'chunks'>,
  onChunk?: (chunk: Buffer) => void,
): Generator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for (const chunk of source.chunks()) {
    onChunk?.(chunk);
    // Three bytes make four characters: only the last chunk may leave a remainder.
    const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = whole.length - (whole.length % 3);
    yield whole.toString('base64', 0, end);
    rest = Buffer.from(whole.subarray(end));
  }
  yield rest.toString('base64');
}

// Detached signatures in their own file, over the bytes of other files that they reference (EN 319 132-1 §6.3).

/** One file that a detached signature covers. */
export interface DetachedContent {
  /** Relative to the signature, percent-encoded. @default the name in `source.path` */
  readonly uri?: string;
  /** @default by the extension of the name */
  readonly mimeType?: string;
  readonly source: Source;
}

/**
 * Reads each file once, in chunks, and plans the references.
 * @throws {CryptoError} `request.invalid` for a URI that names no file or an invalid media type; `input.unreadable`,
 *   `input.changed`
 */
export function planDetached(
  contents: readonly DetachedContent[],
  request: Omit<PlanRequest, 'form'>,
): SigningPlan {
  const { digest: name } = request.algorithm;
  const signed = createHash(name);
  const references = contents.map(({ uri, mimeType, source }) => {
    // With one file, the digest of its content is also the digest of everything signed.
    const own = contents.length === 1 ? signed : createHash(name);
    for (const chunk of source.chunks()) {
      own.update(chunk);
      if (own !== signed) signed.update(chunk);
    }
    return {
      uri: fileUriText(uri ?? encodeURIComponent(basename(source.path))),
      transforms: '',
      digest: own.copy().digest(),
      mimeType: mimeType === undefined ? mimeTypeOf(source.path) : mimeTypeText(mimeType),
    };
  });
  return {
    id: idFor(Buffer.concat(references.map(({ digest }) => digest)), request),
    references,
    prefixes: [],
    signed,
    frame: { ...ALONE, cut: 0, resume: Number.MAX_SAFE_INTEGER },
  };
}

function fileUriText(uri: string): string {
  if (!uri.startsWith('#')) return uriText(uri, 'the name of a signed file');
  throw new CryptoError('request.invalid', `"${uri}" names a part of the signature's own file.`);
}

/** Reads a CAdES file as SignedData without content and digests of that content. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { Asn1Error, Asn1LimitError } from '../asn1/read.ts';
import { memorySource, type Source, SourceRange } from '../core/files.ts';
import { CryptoError } from '../core/types.ts';
import type { Finding } from '../core/validation-report.ts';
import type { SignatureInfo } from '../validation/signature-info.ts';
import type { HashName } from '../x509/signature-algorithms.ts';
import type { SignedBytes } from '../x509/signature-values.ts';
import { behindArmor, signatureSource, textEncoding } from './armor-reader.ts';
import { type ContentInfo, type DetachedSignedData, readDetachedContent } from './detached-content.ts';

export interface SignatureFile {
  /** The SignedData without its content. */
  readonly der: Buffer;
  readonly content: ContentDigests;
  /** Bytes of the file that are its content; undefined for one beside it, and in text. */
  readonly place: ContentInfo['place'] | undefined;
  /** Bytes after the end of the structure, which nothing covers. */
  readonly bytesAfter: number;
  /** Text stands before the label of PEM, which nothing covers. */
  readonly hasTextBefore: boolean;
  /** Text or a signature behind the first signature of a file in PEM. */
  readonly behind: ReturnType<typeof behindArmor>;
}

/**
 * Reads a file in DER or BER, or as text around them, once.
 * @param beside content of a detached signature
 * @returns the reason when the bytes are not a CMS signature
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function readSignatureFile(file: Source, beside: Source | undefined): SignatureFile | UnreadableFile {
  try {
    const source = signatureSource(file, 'first');
    const detached = readDetachedContent(source);
    const { der, bytesAfter } = detached;
    const hasTextBefore = textEncoding(file)?.hasTextBefore === true;
    const content = new ContentDigests(source, detached, beside);
    const place = source === file ? detached.content?.place : undefined;
    return { der, content, place, bytesAfter, hasTextBefore, behind: behindArmor(file) };
  } catch (error) {
    if (error instanceof Asn1Error)
      return { reason: `${error.message}.`, isBeyondLimit: error instanceof Asn1LimitError };
    if (error instanceof CryptoError && error.code === 'cms.malformed') return { reason: error.message };
    throw error;
  }
}

/** Reason for which a file is no signature. */
export interface UnreadableFile {
  readonly reason: string;
  /** True for a structure beyond a limit of the reader, which may be right. */
  readonly isBeyondLimit?: boolean;
}

/** Most bytes of content in segments that are joined in memory. */
const MAX_SEGMENTED = 64 << 20;

/** Digests of the signed content, inside the file or detached. */
export class ContentDigests {
  readonly scope: SignatureInfo['scope'];
  readonly #source: Source;
  /** Undefined when the signature is detached. */
  readonly inside: ContentInfo | undefined;
  readonly #beside: Source | undefined;
  readonly #made: Map<HashName, Buffer>;

  constructor(source: Source, { content }: DetachedSignedData, beside: Source | undefined) {
    this.#source = source;
    this.inside = content;
    this.#beside = beside;
    this.#made = new Map(content?.digests);
    const description =
      content === undefined ? nameOf(beside) : `the content inside, ${content.length} bytes`;
    this.scope = { kind: 'content', description };
  }

  /** Bytes; undefined when the content is unavailable. */
  get length(): number | undefined {
    return this.inside?.length ?? this.#beside?.size;
  }

  /** Undefined when the content is unavailable. */
  of(hash: HashName): Buffer | undefined {
    let digest = this.#made.get(hash);
    if (digest === undefined) {
      digest = this.inside === undefined ? digestOf(this.#beside, hash) : this.#again(hash);
      if (digest !== undefined) this.#made.set(hash, digest);
    }
    return digest;
  }

  /** The content in order; undefined when it is unavailable. */
  get bytes(): SignedBytes | undefined {
    const source = this.#source;
    if (this.inside === undefined) return this.#beside && passOn(this.#beside, 0, this.#beside.size);
    const { offset, length } = this.inside;
    if (offset !== undefined) return passOn(source, offset, length);
    return (take) => {
      readDetachedContent(source, { onContent: take });
    };
  }

  /** Opens the content inside; undefined when it is in segments and longer than what is held in memory. */
  openInside(): Source | undefined {
    if (this.inside === undefined) return undefined;
    const { offset, length } = this.inside;
    const { path } = this.#source;
    if (offset !== undefined) return new SourceRange(this.#source, path, offset, length);
    if (length > MAX_SEGMENTED) return undefined;
    const pieces: Buffer[] = [];
    readDetachedContent(this.#source, { onContent: (piece) => pieces.push(Buffer.from(piece)) });
    return memorySource(path, Buffer.concat(pieces));
  }

  /** Compares a file given beside an enveloping signature with the content inside. */
  compare(): Finding[] {
    const inside = this.inside?.digests.get('sha256');
    if (inside === undefined) return [];
    const same = digestOf(this.#beside, 'sha256')?.equals(inside) === true;
    return [
      {
        status: same ? 'passed' : 'failed',
        type: 'content.given',
        message: same
          ? 'The given content is the one inside the signature.'
          : 'The signature holds other content than the given one.',
        ...(same ? {} : { subIndication: 'HASH_FAILURE' }),
      },
    ];
  }

  #again(hash: HashName): Buffer | undefined {
    return readDetachedContent(this.#source, { digests: [hash] }).content?.digests.get(hash);
  }
}

function passOn(source: Source, offset: number, length: number): SignedBytes {
  return (take) => {
    for (const chunk of source.chunks(offset, offset + length)) take(chunk);
  };
}

function nameOf(beside: Source | undefined): string {
  return beside === undefined ? 'content that is not at hand' : basename(beside.path);
}

/** Undefined without a source. */
export function digestOf(source: Source | undefined, hash: HashName): Buffer | undefined {
  if (source === undefined) return undefined;
  const made = createHash(hash);
  for (const piece of source.chunks()) made.update(piece);
  return made.digest();
}

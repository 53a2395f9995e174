/** Reads a CAdES file as SignedData without content and digests of that content. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { Asn1Error } from '../../base/asn1/asn1-error.ts';
import { TAG } from '../../base/asn1/tags.ts';
import type { HashName } from '../algorithms/hashes.ts';
import type { Finding } from '../core/finding.ts';
import { CryptoError } from '../core/types.ts';
import type { Source } from '../files/source.ts';
import type { SignatureInfo } from '../validation/signature-info.ts';
import { armoredSource, isArmored } from './armor-reader.ts';
import { type ContentInfo, type DetachedSignedData, readDetachedContent } from './detached-content.ts';

export interface SignatureFile {
  /** The SignedData without its content. */
  readonly der: Buffer;
  readonly content: ContentDigests;
}

/**
 * Reads a file in DER, BER or PEM once.
 * @param beside content of a detached signature
 * @returns the reason as a string when the bytes are not a CMS signature
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function readSignatureFile(
  file: Source,
  beside: Source | undefined,
): SignatureFile | { readonly reason: string } {
  try {
    // DER begins with its tag, PEM with text; most files are read once.
    const armored = file.read(0, 1)[0] !== TAG.sequence && isArmored(file);
    const source = armored ? armoredSource(file) : file;
    const detached = readDetachedContent(source);
    return { der: detached.der, content: new ContentDigests(source, detached, beside) };
  } catch (error) {
    if (error instanceof Asn1Error) return { reason: `${error.message}.` };
    if (error instanceof CryptoError && error.code === 'cms.malformed') return { reason: error.message };
    throw error;
  }
}

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

function nameOf(beside: Source | undefined): string {
  return beside === undefined ? 'content that is not at hand' : basename(beside.path);
}

function digestOf(source: Source | undefined, hash: HashName): Buffer | undefined {
  if (source === undefined) return undefined;
  const made = createHash(hash);
  for (const piece of source.chunks()) made.update(piece);
  return made.digest();
}

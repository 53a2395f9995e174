/** A CAdES file taken apart: the signature on one side, digests of its content, wherever that is, on the other. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { Asn1Error } from '../asn1/error.ts';
import { TAG } from '../asn1/tags.ts';
import type { HashName } from '../cms/hashes.ts';
import type { Source } from '../files/source.ts';
import { CryptoError } from '../types.ts';
import type { Finding, SignatureFacts } from '../validation/facts.ts';
import { armoredSource, isArmored } from './armor-reader.ts';
import { type ContentFacts, type Detached, detachContent } from './detach.ts';

export interface SignatureFile {
  /** The SignedData without its content. */
  readonly der: Buffer;
  readonly content: ContentDigests;
}

/**
 * Reads a file in DER, BER or PEM once.
 * @param beside what a detached signature is over
 * @returns why it is no CMS signature, for bytes that are none
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function readSignatureFile(
  file: Source,
  beside: Source | undefined,
): SignatureFile | { readonly because: string } {
  try {
    // A structure begins with its tag, no text does; most files need no second look.
    const armored = file.read(0, 1)[0] !== TAG.sequence && isArmored(file);
    const source = armored ? armoredSource(file) : file;
    const detached = detachContent(source);
    return { der: detached.der, content: new ContentDigests(source, detached, beside) };
  } catch (error) {
    if (error instanceof Asn1Error) return { because: `${error.message}.` };
    if (error instanceof CryptoError && error.code === 'cms.malformed') return { because: error.message };
    throw error;
  }
}

/** Digests of the signed content, wherever it is. */
export class ContentDigests {
  readonly scope: SignatureFacts['scope'];
  readonly #source: Source;
  /** Undefined when the signature is detached. */
  readonly inside: ContentFacts | undefined;
  readonly #beside: Source | undefined;
  readonly #made: Map<HashName, Buffer>;

  constructor(source: Source, { content }: Detached, beside: Source | undefined) {
    this.#source = source;
    this.inside = content;
    this.#beside = beside;
    this.#made = new Map(content?.digests);
    const description =
      content === undefined ? nameOf(beside) : `the content inside, ${content.length} bytes`;
    this.scope = { kind: 'content', description };
  }

  /** Bytes; undefined when the content is not at hand. */
  get length(): number | undefined {
    return this.inside?.length ?? this.#beside?.size;
  }

  /** Undefined when the content is not at hand. */
  of(hash: HashName): Buffer | undefined {
    let digest = this.#made.get(hash);
    if (digest === undefined) {
      digest = this.inside === undefined ? digestOf(this.#beside, hash) : this.#again(hash);
      if (digest !== undefined) this.#made.set(hash, digest);
    }
    return digest;
  }

  /** Who names a file beside a signature that holds its content has to be told when they differ. */
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
    return detachContent(this.#source, { digests: [hash] }).content?.digests.get(hash);
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

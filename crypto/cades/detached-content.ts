/** Separates the content from a CMS file of any size; holds one window of it in memory. */
import { createHash, type Hash } from 'node:crypto';
import { ID } from '../asn1/oids.ts';
import {
  Asn1Error,
  childrenOf,
  encoded,
  type Header,
  MAX_HEADER,
  parseAlgorithm,
  readElement,
  readHeader,
  TAG,
} from '../asn1/read.ts';
import { sequence, tlv } from '../asn1/write.ts';
import type { Source } from '../core/files.ts';
import { HEADER_BYTES } from '../core/header-format.ts';
import { HASH_BY_OID, type HashName } from '../x509/signature-algorithms.ts';

export interface DetachedSignedData {
  /** The same SignedData without its content. */
  readonly der: Buffer;
  /** Undefined for a detached signature. */
  readonly content: ContentInfo | undefined;
  /** Bytes after the end of the structure, which nothing covers. */
  readonly bytesAfter: number;
}

export interface ContentInfo {
  readonly length: number;
  /** The first bytes of it, at most `HEADER_BYTES`. */
  readonly start: Buffer;
  /** Offset in the file; undefined for content in segments. */
  readonly offset: number | undefined;
  /** By name: SHA-256 always, and each digest the file announces before its content. */
  readonly digests: ReadonlyMap<HashName, Buffer>;
}

/** Most bytes of certificates, revocation lists and signers together; a large revocation list has a few megabytes. */
const MAX_TAIL = 16 << 20;

/** Most bytes of version, digest algorithms and content type together. */
const MAX_START = 4096;

/** Most segments of a constructed OCTET STRING; writers make segments of a few kilobytes. */
const MAX_SEGMENTS = 1_000_000;

const WINDOW = 64 << 10;

/** Processing of the content while it is read. */
interface ContentOptions {
  /** Digests to compute in addition to those of `ContentInfo`. */
  readonly digests?: readonly HashName[];
  /** Receives the content in order; a chunk is only valid during the call. */
  readonly onContent?: (chunk: Buffer) => void;
}

/**
 * Reads a whole CMS file once: definite or indefinite lengths, content primitive or constructed (X.690 §8.1, §8.7).
 * `parseSignedData` gives the ASN.1 definition.
 * @throws {Asn1Error} when it does not begin with a SignedData
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function readDetachedContent(source: Source, options: ContentOptions = {}): DetachedSignedData {
  const walk = new BerReader(source);
  const contentInfo = walk.enter(TAG.sequence);
  const type = walk.readSmall();
  if (!type.equals(ID.signedData)) throw new Asn1Error('not a SignedData', 0);
  const wrapped = walk.enter(TAG.context0Constructed);
  const signedData = walk.enter(TAG.sequence);
  const version = walk.readSmall();
  const digestAlgorithms = walk.readSmall();
  const encapsulated = walk.enter(TAG.sequence);
  const contentType = walk.readSmall();
  let content: ContentInfo | undefined;
  if (!walk.atEnd(encapsulated)) {
    const explicit = walk.enter(TAG.context0Constructed);
    content = hashContent(walk, hashesFor(digestAlgorithms, options.digests), options.onContent);
    walk.leave(explicit);
  }
  walk.leave(encapsulated);
  const tail = walk.readRest(signedData);
  walk.leave(signedData);
  walk.leave(wrapped);
  walk.leave(contentInfo);
  const inner = sequence(version, digestAlgorithms, sequence(contentType), ...tail);
  return {
    der: sequence(type, tlv(TAG.context0Constructed, inner)),
    content,
    bytesAfter: source.size - walk.at,
  };
}

function hashesFor(digestAlgorithms: Buffer, wanted: readonly HashName[] = []): Map<HashName, Hash> {
  const always: readonly HashName[] = ['sha256', ...wanted];
  const hashes = new Map(always.map((name) => [name, createHash(name)]));
  for (const element of childrenOf(readElement(digestAlgorithms))) {
    const name = HASH_BY_OID.get(parseAlgorithm(element).id);
    if (name !== undefined && !hashes.has(name)) hashes.set(name, createHash(name));
  }
  return hashes;
}

function hashContent(
  walk: BerReader,
  hashes: ReadonlyMap<HashName, Hash>,
  onContent: ContentOptions['onContent'],
): ContentInfo {
  let start: Buffer = Buffer.alloc(0);
  const take = (chunk: Buffer) => {
    if (start.length < HEADER_BYTES)
      start = Buffer.concat([start, chunk.subarray(0, HEADER_BYTES - start.length)]);
    for (const hash of hashes.values()) hash.update(chunk);
    onContent?.(chunk);
  };
  let length = 0;
  let offset: number | undefined;
  if (walk.peekTag() === TAG.octetString) {
    length = walk.readOctets(take);
    offset = walk.at - length;
  } else {
    const pieces = walk.enter(TAG.octetStringConstructed);
    for (let chunk = 0; !walk.atEnd(pieces); chunk++) {
      if (chunk === MAX_SEGMENTS) throw new Asn1Error('content cut into too many pieces', walk.at);
      length += walk.readOctets(take);
    }
    walk.leave(pieces);
  }
  return {
    length,
    start,
    offset,
    digests: new Map([...hashes].map(([name, hash]) => [name, hash.digest()])),
  };
}

/** An open constructed element. */
interface Level {
  /** Offset of its end, exclusive; for the indefinite form, that of its parent. */
  readonly end: number;
  readonly indefinite: boolean;
}

/** Reads a file element by element. */
class BerReader {
  readonly #source: Source;
  #at = 0;
  /** Ends of the open elements of known length, the innermost last. */
  readonly #ends: number[];
  #window: Buffer = Buffer.alloc(0);
  #windowAt = 0;

  constructor(source: Source) {
    this.#source = source;
    this.#ends = [source.size];
  }

  get at(): number {
    return this.#at;
  }

  peekTag(): number {
    return this.#header().tag;
  }

  enter(tag: number): Level {
    const header = this.#header();
    if (header.tag !== tag) throw new Asn1Error('unexpected element', this.#at);
    const from = this.#at + header.headerLength;
    const indefinite = header.length < 0;
    const end = indefinite ? this.#limit() : from + header.length;
    if (end > this.#limit()) throw new Asn1Error('length runs past the end', this.#at);
    this.#ends.push(end);
    this.#at = from;
    return { end, indefinite };
  }

  atEnd(level: Level): boolean {
    if (!level.indefinite) return this.#at >= level.end;
    const { tag, length } = this.#header();
    return tag === 0 && length === 0;
  }

  leave(level: Level): void {
    if (!this.atEnd(level) || (!level.indefinite && this.#at !== level.end)) {
      throw new Asn1Error('unexpected element', this.#at);
    }
    if (level.indefinite) this.#at += 2;
    this.#ends.pop();
  }

  /** Returns the next element with its header, at most a few kilobytes. */
  readSmall(): Buffer {
    const bytes = this.#fill(Math.min(MAX_START, this.#limit() - this.#at));
    const element = readElement(bytes);
    this.#at += element.next;
    return Buffer.from(encoded(element));
  }

  /** Passes the bytes of one primitive OCTET STRING on. Returns their number. */
  readOctets(take: (chunk: Buffer) => void): number {
    const { tag, headerLength, length } = this.#header();
    if (tag !== TAG.octetString) throw new Asn1Error('expected an octet string', this.#at);
    const from = this.#at + headerLength;
    if (length > this.#limit() - from) throw new Asn1Error('length runs past the end', this.#at);
    this.#at = from;
    if (length <= WINDOW) take(this.#fill(length));
    else for (const chunk of this.#source.chunks(from, from + length)) take(chunk);
    this.#at += length;
    return length;
  }

  /** Returns every element left inside a level. */
  readRest(level: Level): Buffer[] {
    const length = level.end - this.#at;
    if (length > MAX_TAIL) throw new Asn1Error('certificates and signers are too large', this.#at);
    const bytes = this.#source.read(this.#at, length);
    const elements: Buffer[] = [];
    let at = 0;
    while (at < bytes.length && !(level.indefinite && bytes[at] === 0 && bytes[at + 1] === 0)) {
      const element = readElement(bytes, at);
      // SignedData has three fields after its content; more is malformed.
      if (elements.length === 3) throw new Asn1Error('unexpected element', this.#at + at);
      elements.push(encoded(element));
      at = element.next;
    }
    this.#at += at;
    return elements;
  }

  #header(): Header {
    return readHeader(this.#fill(Math.min(MAX_HEADER, this.#limit() - this.#at)), 0, MAX_HEADER);
  }

  #limit(): number {
    return this.#ends[this.#ends.length - 1] ?? 0;
  }

  /** Returns the next `length` bytes without moving; at most one window. */
  #fill(length: number): Buffer {
    const offset = this.#at - this.#windowAt;
    if (offset < 0 || offset + length > this.#window.length) {
      this.#window = this.#source.read(this.#at, WINDOW);
      this.#windowAt = this.#at;
      return this.#window.subarray(0, length);
    }
    return this.#window.subarray(offset, offset + length);
  }
}

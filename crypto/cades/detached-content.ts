/** Separates the content from a CMS file of any size; holds one window of it in memory. */
import { createHash, type Hash } from 'node:crypto';
import { ID } from '../asn1/oids.ts';
import { Asn1Error, childrenOf, parseAlgorithm, readElement, TAG } from '../asn1/read.ts';
import { sequence, tlv } from '../asn1/write.ts';
import type { Source } from '../core/files.ts';
import { HEADER_BYTES } from '../core/header-format.ts';
import { HASH_BY_OID, type HashName } from '../x509/signature-algorithms.ts';
import { BerReader } from './ber-file-reader.ts';

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
  /** Offset of its element in the file, and of what follows it. */
  readonly place: readonly [from: number, to: number];
  /** By name: SHA-256 always, and each digest the file announces before its content. */
  readonly digests: ReadonlyMap<HashName, Buffer>;
}

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
  // Certificates, revocation lists and signers; more is malformed.
  const tail = walk.readRest(signedData, 3);
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
  const from = walk.at;
  const isWhole = walk.peekTag() === TAG.octetString;
  const length = isWhole ? walk.readOctets(take) : walk.readSegments(take);
  const offset = isWhole ? walk.at - length : undefined;
  return {
    length,
    start,
    offset,
    place: [from, walk.at],
    digests: new Map([...hashes].map(([name, hash]) => [name, hash.digest()])),
  };
}

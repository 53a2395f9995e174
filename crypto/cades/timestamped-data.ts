/** Opens time-stamped data (.tsd, RFC 5544): content with time-stamps over it. The content is not read into memory. */
import { createHash } from 'node:crypto';
import {
  Asn1Error,
  Asn1LimitError,
  Cursor,
  childrenOf,
  contents,
  type Element,
  encoded,
  enter,
  readElement,
  smallInteger,
  TAG,
} from '../asn1/read.ts';
import { memorySource, type Source, SourceRange } from '../core/files.ts';
import { CryptoError } from '../core/types.ts';
import { type Finding, failed, type SignatureScope } from '../core/validation-report.ts';
import { type Evidence, NO_EVIDENCE } from '../evidence/authorities.ts';
import { imprintOf } from '../evidence/timestamp-reader.ts';
import { type TimestampInfo, timestampInfo } from '../validation/signature-info.ts';
import { hashNamed } from '../x509/signature-algorithms.ts';
import { signatureSource } from './armor-reader.ts';
import { BerReader } from './ber-file-reader.ts';
import { contentTypeOf } from './content-type.ts';

const TIMESTAMPED_DATA = '1.2.840.113549.1.9.16.1.31';

/** Most time-stamps of one file; each costs a public-key operation. */
const MAX_STAMPS = 32;

/** Most bytes of content in segments that are joined in memory. */
const MAX_SEGMENTED = 64 << 20;

/** Content with its time-stamps. */
interface TimestampedData {
  /** Undefined when it is neither inside nor given. */
  readonly content: Source | undefined;
  /** Its bytes in the file; undefined for content beside it, and in text. */
  readonly place: readonly [from: number, to: number] | undefined;
  readonly scope: SignatureScope;
  /** In the order of proof: the first is over the content, each further one over the one before. */
  readonly stamps: readonly TimestampInfo[];
  /** Revocation lists beside the time-stamps. */
  readonly evidence: Evidence;
}

/**
 * Undefined for other files; a finding for one that can't be read or has other evidence than time-stamps.
 * @param beside the content, for data that stands elsewhere
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function readTimestampedData(
  file: Source,
  beside: Source | undefined,
): TimestampedData | Finding | undefined {
  try {
    if (contentTypeOf(file) !== TIMESTAMPED_DATA) return undefined;
    const source = signatureSource(file);
    const read = parse(source, beside);
    return source === file || 'status' in read ? read : { ...read, place: undefined };
  } catch (error) {
    if (error instanceof CryptoError && error.code === 'cms.malformed') return undefined;
    if (!(error instanceof Asn1Error)) throw error;
    const subIndication = error instanceof Asn1LimitError ? 'GENERIC' : 'FORMAT_FAILURE';
    return failed('structure.cms', `The time-stamped data can't be read: ${error.message}.`, subIndication);
  }
}

/**
 * TimeStampedData ::= SEQUENCE {
 *      version INTEGER { v1(1) }, dataUri IA5String OPTIONAL, metaData MetaData OPTIONAL,
 *      content OCTET STRING OPTIONAL, temporalEvidence Evidence }
 *     Evidence ::= CHOICE {
 *      tstEvidence [0] IMPLICIT SEQUENCE OF TimeStampAndCRL, ersEvidence [1] EvidenceRecord, otherEvidence [2] … }
 */
function parse(source: Source, beside: Source | undefined): TimestampedData | Finding {
  const walk = new BerReader(source);
  walk.enter(TAG.sequence);
  walk.readSmall();
  walk.enter(TAG.context0Constructed);
  const fields = walk.enter(TAG.sequence);
  if (smallInteger(readElement(walk.readSmall())) !== 1) throw new Asn1Error('the version is not 1', 0);
  if (walk.peekTag() === TAG.ia5String) walk.readSmall();
  const metaData = walk.peekTag() === TAG.sequence ? walk.readSmall() : undefined;
  const from = walk.at;
  const inside = contentInside(walk, source);
  const place = inside && ([from, walk.at] as const);
  const [evidence] = walk.readRest(fields, 1);
  if (evidence === undefined) throw new Asn1Error('there is no evidence', walk.at);
  const element = readElement(evidence);
  if (element.tag !== TAG.context0Constructed) {
    const message = 'The data is proven by other evidence than time-stamps, which is not supported.';
    return failed('file.unsupported', message, 'GENERIC');
  }
  const pairs = pairsIn(element);
  if (pairs.length === 0) throw new Asn1Error('there is no time-stamp', walk.at);
  if (pairs.length > MAX_STAMPS) throw new Asn1LimitError(`more than ${MAX_STAMPS} time-stamps`, walk.at);
  const content = inside ?? beside;
  const description =
    inside === undefined
      ? (beside?.path ?? 'content that is not at hand')
      : `the content inside, ${inside.size} bytes`;
  return {
    content,
    place,
    scope: { kind: 'content', description },
    stamps: stampsOver(content, isProtected(metaData) ? metaData : undefined, pairs),
    evidence: { ...NO_EVIDENCE, crls: pairs.flatMap(listBeside) },
  };
}

/**
 * Returns the elements of TimeStampTokenEvidence ::= SEQUENCE OF TimeStampAndCRL. Some writers encode its tag EXPLICIT, where
 * the module says IMPLICIT.
 */
function pairsIn(element: Element): Element[] {
  const found = childrenOf(element);
  const [only, ...more] = found;
  if (only === undefined || more.length > 0) return found;
  const token = enter(enter(only, TAG.sequence).next(), TAG.sequence).next();
  return token.tag === TAG.sequence ? childrenOf(only) : found;
}

function contentInside(walk: BerReader, source: Source): Source | undefined {
  const tag = walk.peekTag();
  const name = `content of ${source.path}`;
  if (tag === TAG.octetString) {
    const length = walk.readOctets(() => undefined);
    return new SourceRange(source, name, walk.at - length, length);
  }
  if (tag !== TAG.octetStringConstructed) return undefined;
  const pieces: Buffer[] = [];
  let length = 0;
  walk.readSegments((piece) => {
    length += piece.length;
    if (length > MAX_SEGMENTED) throw new Asn1LimitError('content in pieces is too large to join', walk.at);
    pieces.push(Buffer.from(piece));
  });
  return memorySource(name, Buffer.concat(pieces));
}

/** MetaData ::= SEQUENCE { hashProtected BOOLEAN, … }: whether the first time-stamp is over it too (RFC 5544 §2). */
function isProtected(metaData: Buffer | undefined): boolean {
  if (metaData === undefined) return false;
  const [first = 0] = contents(enter(readElement(metaData), TAG.sequence).next(TAG.boolean));
  return first !== 0;
}

/** TimeStampAndCRL ::= SEQUENCE { timeStamp TimeStampToken, crl CertificateList OPTIONAL } */
function stampsOver(
  content: Source | undefined,
  metaData: Buffer | undefined,
  pairs: readonly Element[],
): TimestampInfo[] {
  const made = new Map<string, Buffer>();
  const stamps = pairs.map((pair, index) => {
    const before = pairs[index - 1];
    const token = encoded(enter(pair, TAG.sequence).next());
    const ofContent = (algorithm: string) => {
      const digest = made.get(algorithm) ?? digestOf(content, metaData, algorithm);
      if (digest !== undefined) made.set(algorithm, digest);
      return digest;
    };
    return timestampInfo('document', token, before === undefined ? ofContent : imprintOf(encoded(before)));
  });
  return stamps.map((stamp, index) => {
    const later = stamps.slice(index);
    return { ...stamp, covers: (der) => !later.some(({ token }) => token?.der.includes(der)) };
  });
}

function digestOf(
  content: Source | undefined,
  metaData: Buffer | undefined,
  algorithm: string,
): Buffer | undefined {
  const name = hashNamed(algorithm);
  if (name === undefined || content === undefined) return undefined;
  const hash = createHash(name);
  if (metaData !== undefined) hash.update(metaData);
  for (const chunk of content.chunks()) hash.update(chunk);
  return hash.digest();
}

function listBeside(pair: Element): Buffer[] {
  const fields = new Cursor(pair);
  fields.next();
  return fields.done ? [] : [encoded(fields.next(TAG.sequence))];
}

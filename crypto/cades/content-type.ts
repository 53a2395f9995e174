/** Names what a file in ASN.1 holds, for files that are not signatures of CMS. */
import { Asn1Error, type Element, oidText, readElement, readHeader, TAG } from '../asn1/read.ts';
import type { Source } from '../core/files.ts';
import { HEADER_BYTES } from '../core/header-format.ts';
import { CONTENT_TYPES } from '../x509/algorithm-names.ts';
import { signatureSource } from './armor-reader.ts';

/**
 * Returns the dotted type of a ContentInfo (RFC 5652 §3); undefined for other bytes.
 *     ContentInfo ::= SEQUENCE { contentType OBJECT IDENTIFIER, content [0] EXPLICIT ANY }
 * @throws {CryptoError} `cms.malformed` for text that can't be decoded
 */
export function contentTypeOf(file: Source): string | undefined {
  const source = signatureSource(file);
  const head = source.read(0, Math.min(HEADER_BYTES, source.size));
  try {
    const { tag, headerLength } = readHeader(head, 0, head.length);
    return tag === TAG.sequence ? typeIn(readElement(head, headerLength)) : undefined;
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    return undefined;
  }
}

function typeIn(first: Element): string | undefined {
  return first.tag === TAG.oid ? oidText(first) : undefined;
}

/** Returns what the content of a ContentInfo is, for people. */
export function contentTypeName(type: string): string {
  return CONTENT_TYPES.get(type) ?? `content of the type ${type} in CMS`;
}

/** Unsigned attributes of a SignerInfo (RFC 5652 §5.3). */
import { OID } from '../asn1/oids.ts';
import { oid } from '../asn1/write.ts';
import { attribute } from './attributes-template.ts';

const SIGNATURE_TIMESTAMP = oid(OID.signatureTimestamp);

/**
 * Encodes an Attribute with one value (RFC 5652 §5.3). @param type dotted @param value DER
 *     Attribute ::= SEQUENCE { attrType OBJECT IDENTIFIER, attrValues SET OF AttributeValue }
 */
export function unsignedAttribute(type: string, value: Buffer): Buffer {
  return attribute(oid(type), value);
}

/**
 * Encodes a signature-time-stamp attribute (EN 319 122-1 §5.3). @param token DER of a TimeStampToken over the digest
 * of the signature value
 *     SignatureTimeStampToken ::= TimeStampToken      -- a ContentInfo, RFC 3161 §2.4.2
 */
export function signatureTimestampAttribute(token: Buffer): Buffer {
  return attribute(SIGNATURE_TIMESTAMP, token);
}

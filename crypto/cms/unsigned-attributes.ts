/** Attributes that are added beside a signature value and not signed by it (RFC 5652 §5.3). */
import { OID } from '../asn1/oids.ts';
import { oid } from '../asn1/write.ts';
import { attribute } from './attributes-template.ts';

const SIGNATURE_TIMESTAMP = oid(OID.signatureTimestamp);

/** DER of an Attribute with one value. @param type dotted @param value DER */
export function unsignedAttribute(type: string, value: Buffer): Buffer {
  return attribute(oid(type), value);
}

/** signature-time-stamp (EN 319 122-1 §5.3). @param token DER of a TimeStampToken over the digest of the value */
export function signatureTimestampAttribute(token: Buffer): Buffer {
  return attribute(SIGNATURE_TIMESTAMP, token);
}

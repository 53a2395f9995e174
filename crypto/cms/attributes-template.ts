/** Signed attributes of a CAdES baseline signature (EN 319 122-1 §5.2, §6.3), encoded once with placeholders. */
import { createHash } from 'node:crypto';
import { ID, OID } from '../asn1/oids.ts';
import { TAG } from '../asn1/read.ts';
import { timeText } from '../asn1/time.ts';
import { octetString, oid, sequence, setOf, tlv } from '../asn1/write.ts';
import { checkedRole } from '../core/request-checks.ts';
import { CryptoError, type DigestName, type SignaturePolicy } from '../core/types.ts';
import type { Certificate } from '../x509/certificate.ts';
import { DIGEST_LENGTH, digestIdentifier } from '../x509/signature-algorithms.ts';

/** Form of the signing-time attribute: absent, or one of the two forms of RFC 5652 §11.3. */
export type TimeFormat = 'none' | 'utc' | 'generalized';

/** Signed attributes with placeholders for digest and time. */
export interface AttributesTemplate {
  /** SET OF in DER, as it is signed. */
  readonly bytes: Buffer;
  /** Offset of the message digest. */
  readonly digestAt: number;
  /** Offset of the characters of the signing time; -1 without it. */
  readonly timeAt: number;
}

/** Values of all attributes except digest and time. */
interface AttributesFormat {
  readonly certificate: Certificate;
  readonly digest: DigestName;
  readonly policy: SignaturePolicy | undefined;
  /** Dotted; `none` in a counter-signature, which has no such attribute (RFC 5652 §11.4). */
  readonly contentType: string;
  /** Printable ASCII (RFC 5035 §2.10); undefined = no such attribute. */
  readonly contentIdentifier: string | undefined;
  /** As in `SignatureParameters`; undefined = no such attribute. */
  readonly claimedRole: string | undefined;
}

/** @throws {CryptoError} `request.invalid` for a policy, a content type, an identifier or a role that can't be written */
export function attributesTemplate(attributes: AttributesFormat, time: TimeFormat): AttributesTemplate {
  const { certificate, digest, policy, contentType, contentIdentifier, claimedRole } = attributes;
  const digestAttribute = attribute(ID.messageDigest, octetString(Buffer.alloc(DIGEST_LENGTH[digest])));
  const all = [digestAttribute, attribute(ID.signingCertificateV2, signingCertificateV2(certificate))];
  if (contentType !== 'none') all.push(attribute(ID.contentType, checkedOid(contentType)));
  if (policy !== undefined) all.push(attribute(SIGNATURE_POLICY, signaturePolicy(policy)));
  if (contentIdentifier !== undefined)
    all.push(attribute(ID.contentIdentifier, identifier(contentIdentifier)));
  if (claimedRole !== undefined) all.push(attribute(SIGNER_ATTRIBUTES, signerAttributes(claimedRole)));
  const timeAttribute = time === 'none' ? undefined : attribute(ID.signingTime, zeroTime(time));
  if (timeAttribute !== undefined) all.push(timeAttribute);
  // Attributes differ in length or in their identifier, both before any value, so values can't change the order.
  const bytes = setOf(all);
  return {
    bytes,
    digestAt: bytes.indexOf(digestAttribute) + digestAttribute.length - DIGEST_LENGTH[digest],
    timeAt:
      timeAttribute === undefined
        ? -1
        : bytes.indexOf(timeAttribute) + timeAttribute.length - timeCharacters(time),
  };
}

/**
 * Encodes an Attribute with one value (RFC 5652 §5.3). @param id DER of the type @param value DER
 *     Attribute ::= SEQUENCE { attrType OBJECT IDENTIFIER, attrValues SET OF AttributeValue }
 */
function attribute(id: Buffer, value: Buffer): Buffer {
  return sequence(id, setOf([value]));
}

function timeCharacters(form: TimeFormat): number {
  return form === 'utc' ? 13 : 15;
}

function zeroTime(form: TimeFormat): Buffer {
  const text = timeText(0).slice(form === 'utc' ? 2 : 0);
  return tlv(form === 'utc' ? TAG.utcTime : TAG.generalizedTime, Buffer.from(text, 'latin1'));
}

/**
 * Encodes SigningCertificateV2 with one ESSCertIDv2 (RFC 5035 §3, §4); SHA-256 is the default and not written.
 *     SigningCertificateV2 ::= SEQUENCE { certs SEQUENCE OF ESSCertIDv2, policies … OPTIONAL }
 *     ESSCertIDv2 ::= SEQUENCE {
 *      hashAlgorithm  AlgorithmIdentifier DEFAULT { algorithm id-sha256 },
 *      certHash       OCTET STRING,
 *      issuerSerial   SEQUENCE { issuer GeneralNames, serialNumber INTEGER } OPTIONAL }
 */
function signingCertificateV2({ der, issuer, serial }: Certificate): Buffer {
  const hash = octetString(createHash('sha256').update(der).digest());
  const directoryName = tlv(TAG.context4Constructed, issuer);
  const issuerSerial = sequence(sequence(directoryName), serial);
  return sequence(sequence(sequence(hash, issuerSerial)));
}

/** Permitted content identifiers, written and read. */
export const CONTENT_IDENTIFIER = /^[!-~]{1,64}$/;

function identifier(text: string): Buffer {
  if (CONTENT_IDENTIFIER.test(text)) return octetString(Buffer.from(text, 'latin1'));
  throw new CryptoError('request.invalid', 'A content identifier has up to 64 printable characters.');
}

const SIGNER_ATTRIBUTES = oid(OID.signerAttributesV2);
/** Name of X.520, whose value other programs show as a claimed role. */
const NAME = oid('2.5.4.41');

/**
 * Encodes SignerAttributeV2 with one claimed attribute (EN 319 122-1 §5.2.6.1; the tags are explicit).
 *     SignerAttributeV2 ::= SEQUENCE { claimedAttributes [0] SEQUENCE OF Attribute OPTIONAL, … }
 */
function signerAttributes(claimedRole: string): Buffer {
  const text = tlv(TAG.utf8String, Buffer.from(checkedRole(claimedRole)));
  return sequence(tlv(TAG.context0Constructed, sequence(attribute(NAME, text))));
}

const SIGNATURE_POLICY = oid(OID.signaturePolicy);
const POLICY_URI = oid('1.2.840.113549.1.9.16.5.1');

/**
 * Encodes a SignaturePolicyId (EN 319 122-1 §5.2.9.1) with an SPuri qualifier for the address (§5.2.9.2).
 *     SignaturePolicyId ::= SEQUENCE {
 *      sigPolicyId          OBJECT IDENTIFIER,
 *      sigPolicyHash        SEQUENCE { hashAlgorithm AlgorithmIdentifier, hashValue OCTET STRING },
 *      sigPolicyQualifiers  SEQUENCE OF SEQUENCE { id OBJECT IDENTIFIER, qualifier ANY } OPTIONAL }
 */
function signaturePolicy({ oid: id, digest, hash, uri }: SignaturePolicy): Buffer {
  if (hash.length !== DIGEST_LENGTH[digest]) {
    throw new CryptoError('request.invalid', `The digest of policy ${id} is not one of ${digest}.`);
  }
  const parts = [checkedOid(id), sequence(digestIdentifier(digest), octetString(hash))];
  if (uri !== undefined) {
    if (!/^[!-~]{1,2000}$/.test(uri)) {
      throw new CryptoError('request.invalid', `The address of policy ${id} is not one.`);
    }
    parts.push(sequence(sequence(POLICY_URI, tlv(TAG.ia5String, Buffer.from(uri, 'latin1')))));
  }
  return sequence(...parts);
}

/** Encodes an object identifier of a request after checking it. */
function checkedOid(dotted: string): Buffer {
  const arcs = dotted.split('.').map(Number);
  const [first = 3, second = 40] = arcs;
  const good =
    /^\d{1,16}(\.\d{1,16}){1,30}$/.test(dotted) &&
    arcs.every((arc) => Number.isSafeInteger(arc + 80)) &&
    (first < 2 ? second < 40 : first === 2);
  if (!good) throw new CryptoError('request.invalid', `${dotted} is not an object identifier.`);
  return oid(dotted);
}

/** Unsigned attributes of a SignerInfo (RFC 5652 §5.3). */
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

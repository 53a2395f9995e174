/** Reads CMS SignedData (RFC 5652 §5) of any writer: DER or BER, any number of certificates and signers. */

import { OID } from '../asn1/oids.ts';
import {
  type Algorithm,
  Asn1Error,
  Asn1LimitError,
  Cursor,
  childrenOf,
  contents,
  type Element,
  encoded,
  enter,
  octets,
  oidText,
  parseAlgorithm,
  readElement,
  readWhole,
  smallInteger,
  TAG,
} from '../asn1/read.ts';
import { CryptoError } from '../core/types.ts';
import { certificatesIn, pemText, readableCertificates } from '../x509/certificate.ts';

export interface SignedData {
  /** Dotted type of the signed content. */
  readonly contentType: string;
  /** Encapsulated content; undefined when the signature is detached. */
  readonly content: Buffer | undefined;
  /** DER of each X.509 certificate. */
  readonly certificates: readonly Buffer[];
  /** DER of each CertificateList in `crls`. */
  readonly crls: readonly Buffer[];
  /** DER of each BasicOCSPResponse or OCSPResponse in `crls` (RFC 5940 §2.1), as encoded. */
  readonly ocsps: readonly Buffer[];
  /** Encodings of every element of `certificates` and of `crls`, of any kind: archive time-stamps list them. */
  readonly certificateChoices: readonly Buffer[];
  readonly revocationChoices: readonly Buffer[];
  readonly signers: readonly SignerInfo[];
}

export interface SignerInfo {
  readonly id: SignerId;
  readonly digestAlgorithm: string;
  /** The signed attributes; undefined when the signature covers the content directly. */
  readonly attributes: Attributes | undefined;
  readonly signatureAlgorithm: Algorithm<Buffer>;
  readonly signature: Buffer;
  readonly unsignedAttributes: Attributes | undefined;
  /** Encoding of the whole SignerInfo. */
  readonly encoding: Buffer;
}

export type SignerId =
  | { readonly by: 'serial'; readonly issuer: Buffer; readonly serial: Buffer }
  | { readonly by: 'key'; readonly keyId: Buffer };

export interface Attributes {
  /** Dotted type of each attribute, in the order of the encoding. */
  readonly types: readonly string[];
  /** Encodings of the attributes, in the order of the encoding. */
  readonly encodings: readonly Buffer[];
  /** Values by dotted type; a type that appears twice has the values of both. */
  readonly values: ReadonlyMap<string, readonly Element[]>;
  /** Dotted types of attributes without a value. */
  readonly empty: ReadonlySet<string>;
}

/** Most signers in one structure; each costs a public-key operation. */
const MAX_SIGNERS = 500;

/**
 * Parses a ContentInfo that holds SignedData (RFC 5652 §3, §5.1). @throws {Asn1Error}
 *     ContentInfo ::= SEQUENCE { contentType OBJECT IDENTIFIER, content [0] EXPLICIT ANY }
 *     SignedData ::= SEQUENCE {
 *      version           CMSVersion,
 *      digestAlgorithms  SET OF AlgorithmIdentifier,
 *      encapContentInfo  SEQUENCE { eContentType OBJECT IDENTIFIER, eContent [0] EXPLICIT OCTET STRING OPTIONAL },
 *      certificates      [0] IMPLICIT SET OF CertificateChoices OPTIONAL,
 *      crls              [1] IMPLICIT SET OF RevocationInfoChoice OPTIONAL,
 *      signerInfos       SET OF SignerInfo }
 */
export function parseSignedData(der: Buffer): SignedData {
  const contentInfo = enter(readWhole(der), TAG.sequence);
  if (oidText(contentInfo.next()) !== OID.signedData) throw new Asn1Error('not a SignedData', 0);
  const wrapped = enter(contentInfo.next(), TAG.context0Constructed);
  contentInfo.end();
  const fields = enter(wrapped.next(), TAG.sequence);
  wrapped.end();
  smallInteger(fields.next());
  fields.next(TAG.set);
  const encapsulated = enter(fields.next(), TAG.sequence);
  const contentType = oidText(encapsulated.next());
  const inside = encapsulated.nextIf(TAG.context0Constructed);
  encapsulated.end();
  const certificates = choicesIn(fields.nextIf(TAG.context0Constructed));
  const revocation = choicesIn(fields.nextIf(TAG.context1Constructed));
  const signers = childrenOf(fields.next(TAG.set));
  fields.end();
  if (signers.length > MAX_SIGNERS) throw new Asn1LimitError(`more than ${MAX_SIGNERS} signers`, 0);
  return {
    contentType,
    content: inside === undefined ? undefined : octets(new Cursor(inside).next()),
    // Attribute certificates and other formats have context tags and are ignored.
    certificates: certificates.filter(({ tag }) => tag === TAG.sequence).map(encoded),
    ...readRevocation(revocation),
    certificateChoices: certificates.map(encoded),
    revocationChoices: revocation.map(encoded),
    signers: signers.map(parseSignerInfo),
  };
}

/** id-ri-ocsp-response and id-pkix-ocsp-basic: the two formats of OCSP responses beside CRLs. */
const OCSP_FORMATS: ReadonlySet<string> = new Set(['1.3.6.1.5.5.7.16.2', '1.3.6.1.5.5.7.48.1.1']);

function choicesIn(element: Element | undefined): Element[] {
  return element === undefined ? [] : childrenOf(element);
}

/**
 * Sorts the revocation values by kind (RFC 5652 §10.2.1, RFC 5940 §2.1).
 *     RevocationInfoChoice ::= CHOICE { crl CertificateList, other [1] IMPLICIT OtherRevocationInfoFormat }
 *     OtherRevocationInfoFormat ::= SEQUENCE { otherRevInfoFormat OBJECT IDENTIFIER, otherRevInfo ANY }
 */
function readRevocation(choices: readonly Element[]): Pick<SignedData, 'crls' | 'ocsps'> {
  const crls: Buffer[] = [];
  const ocsps: Buffer[] = [];
  for (const choice of choices) {
    if (choice.tag === TAG.sequence) crls.push(encoded(choice));
    else if (choice.tag === TAG.context1Constructed) {
      const fields = new Cursor(choice);
      if (OCSP_FORMATS.has(oidText(fields.next()))) ocsps.push(encoded(fields.next()));
    }
  }
  return { crls, ocsps };
}

/**
 * Parses a SignerInfo (RFC 5652 §5.3). @throws {Asn1Error}
 *     SignerInfo ::= SEQUENCE {
 *      version             CMSVersion,
 *      sid                 SignerIdentifier,
 *      digestAlgorithm     AlgorithmIdentifier,
 *      signedAttrs         [0] IMPLICIT SET OF Attribute OPTIONAL,
 *      signatureAlgorithm  AlgorithmIdentifier,
 *      signature           OCTET STRING,
 *      unsignedAttrs       [1] IMPLICIT SET OF Attribute OPTIONAL }
 */
export function parseSignerInfo(element: Element): SignerInfo {
  const fields = enter(element, TAG.sequence);
  smallInteger(fields.next());
  const id = parseSignerId(fields.next());
  const digestAlgorithm = parseAlgorithm(fields.next()).id;
  const attributes = fields.nextIf(TAG.context0Constructed);
  const signatureAlgorithm = parseAlgorithm(fields.next());
  const signature = octets(fields.next());
  const unsigned = fields.nextIf(TAG.context1Constructed);
  fields.end();
  return {
    id,
    digestAlgorithm,
    attributes: attributes === undefined ? undefined : parseAttributes(attributes),
    signatureAlgorithm,
    signature,
    unsignedAttributes: unsigned === undefined ? undefined : parseAttributes(unsigned),
    encoding: encoded(element),
  };
}

/**
 * Parses a SignerIdentifier (RFC 5652 §5.3).
 *     SignerIdentifier ::= CHOICE {
 *      issuerAndSerialNumber  SEQUENCE { issuer Name, serialNumber INTEGER },
 *      subjectKeyIdentifier   [0] IMPLICIT OCTET STRING }
 */
function parseSignerId(element: Element): SignerId {
  if (element.tag === TAG.context0) return { by: 'key', keyId: contents(element) };
  const fields = enter(element, TAG.sequence);
  const issuer = encoded(fields.next(TAG.sequence));
  const serial = encoded(fields.next(TAG.integer));
  fields.end();
  return { by: 'serial', issuer, serial };
}

/**
 * Parses a SET OF Attribute (RFC 5652 §5.3).
 *     Attribute ::= SEQUENCE { attrType OBJECT IDENTIFIER, attrValues SET OF AttributeValue }
 */
function parseAttributes(element: Element): Attributes {
  const all = childrenOf(element);
  const types: string[] = [];
  const values = new Map<string, Element[]>();
  const empty = new Set<string>();
  for (const attribute of all) {
    const fields = enter(attribute, TAG.sequence);
    const type = oidText(fields.next());
    types.push(type);
    const own = childrenOf(fields.next(TAG.set));
    if (own.length === 0) empty.add(type);
    const list = values.get(type) ?? [];
    list.push(...own);
    values.set(type, list);
    fields.end();
  }
  return { types, encodings: all.map(encoded), values, empty };
}

/** Reads certificate files: PEM, DER, and CMS without a signer (.p7b, .p7c). */
const PKCS7 = /-----BEGIN (PKCS7|CMS)-----([A-Za-z0-9+/=\s]+)-----END \1-----/;

/**
 * Returns the DER of every readable certificate in one file; empty when there is none.
 * Source: RFC 7468 §5, §8; RFC 5652 §10.2.3.
 */
export function certificatesInBundle(file: Buffer): readonly Buffer[] {
  const plain = certificatesIn(file).flatMap(readableCertificates);
  if (plain.length > 0) return plain.map(({ der }) => der);
  const armoured = PKCS7.exec(pemText(file))?.[2];
  const bytes = armoured === undefined ? file : Buffer.from(armoured, 'base64');
  try {
    const { certificates } = parseSignedData(encoded(readElement(bytes)));
    return certificates.flatMap(readableCertificates).map(({ der }) => der);
  } catch (error) {
    if (error instanceof Asn1Error || error instanceof CryptoError) return [];
    throw error;
  }
}

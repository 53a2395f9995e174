/**
 * Adds time-stamps, evidence and signers to an existing SignedData. All other values keep their bytes; only the
 * lengths around them change, and the version where RFC 5652 §5.1 requires it.
 */

import { ID } from '../asn1/oids.ts';
import {
  Asn1Error,
  Cursor,
  childrenOf,
  contents,
  type Element,
  encoded,
  enter,
  readWhole,
  smallInteger,
  TAG,
} from '../asn1/read.ts';
import { octetString, oid, sequence, setOf, small, tlv } from '../asn1/write.ts';

/** Additions, all in DER. Values that the SignedData already has are not added again. */
interface Amendment {
  /** AlgorithmIdentifier of digests. */
  readonly digestAlgorithms?: readonly Buffer[];
  readonly certificates?: readonly Buffer[];
  /** CertificateList. */
  readonly crls?: readonly Buffer[];
  /** BasicOCSPResponse; written as an OCSPResponse under id-ri-ocsp-response (RFC 5940 §2.1). */
  readonly ocsps?: readonly Buffer[];
  /** SignerInfo of further signers. */
  readonly signers?: readonly Buffer[];
  /** Unsigned attributes of existing signers, by index in `der`; they replace the attributes a signer has. */
  readonly unsigned?: ReadonlyMap<number, readonly Buffer[]>;
}

/**
 * Returns the amended ContentInfo. Sets in DER order stay in DER order; others keep theirs, and additions come last.
 * @throws {Asn1Error} when `der` is not a SignedData
 */
export function amendSignedData(der: Buffer, amendment: Amendment): Buffer {
  const { version, digestAlgorithms, encapsulated, certificates, crls, signers } = fieldsOf(der);
  const revocation = [...(amendment.crls ?? []), ...(amendment.ocsps ?? []).map(ocspChoice)];
  const amendedCrls = added(TAG.context1Constructed, crls, revocation);
  const amendedVersion = amendedCrls !== undefined && hasOther(amendedCrls) ? Math.max(version, 5) : version;
  const body = sequence(
    small(amendedVersion),
    addedDigests(digestAlgorithms, amendment.digestAlgorithms ?? []),
    encapsulated,
    added(TAG.context0Constructed, certificates, amendment.certificates ?? []) ?? EMPTY,
    amendedCrls ?? EMPTY,
    amendedSigners(signers, amendment),
  );
  return sequence(ID.signedData, tlv(TAG.context0Constructed, body));
}

/** Fields of a SignedData before and after its content. */
export interface AroundContent {
  /** CMSVersion and digestAlgorithms. */
  readonly start: Buffer;
  /** DER of the content's type. */
  readonly contentType: Buffer;
  /** Certificates, revocation values and signers. */
  readonly tail: Buffer;
}

/** @throws {Asn1Error} */
export function aroundContent(der: Buffer): AroundContent {
  const { version, digestAlgorithms, encapsulated, certificates, crls, signers } = fieldsOf(der);
  const rest = [certificates, crls, signers].flatMap((element) =>
    element === undefined ? [] : [encoded(element)],
  );
  return {
    start: Buffer.concat([small(version), encoded(digestAlgorithms)]),
    contentType: encoded(enter(readWhole(encapsulated), TAG.sequence).next(TAG.oid)),
    tail: Buffer.concat(rest),
  };
}

interface Fields {
  readonly version: number;
  readonly digestAlgorithms: Element;
  readonly encapsulated: Buffer;
  readonly certificates: Element | undefined;
  readonly crls: Element | undefined;
  readonly signers: Element;
}

/**
 * Reads the fields of a SignedData (RFC 5652 §5.1).
 *
 *     ContentInfo ::= SEQUENCE { contentType OBJECT IDENTIFIER, content [0] EXPLICIT SignedData }
 *     SignedData ::= SEQUENCE {
 *       version CMSVersion, digestAlgorithms SET OF AlgorithmIdentifier,
 *       encapContentInfo EncapsulatedContentInfo, certificates [0] IMPLICIT CertificateSet OPTIONAL,
 *       crls [1] IMPLICIT RevocationInfoChoices OPTIONAL, signerInfos SET OF SignerInfo }
 */
function fieldsOf(der: Buffer): Fields {
  const contentInfo = enter(readWhole(der), TAG.sequence);
  if (!encoded(contentInfo.next()).equals(ID.signedData)) throw new Asn1Error('not a SignedData', 0);
  const fields = enter(new Cursor(contentInfo.next(TAG.context0Constructed)).next(), TAG.sequence);
  const version = fields.next();
  if (smallInteger(version) > 127) throw new Asn1Error('no such version', version.start);
  return {
    version: smallInteger(version),
    digestAlgorithms: fields.next(TAG.set),
    encapsulated: encoded(fields.next(TAG.sequence)),
    certificates: fields.nextIf(TAG.context0Constructed),
    crls: fields.nextIf(TAG.context1Constructed),
    signers: fields.next(TAG.set),
  };
}

const EMPTY = Buffer.alloc(0);

/** Adds elements to a set; returns it unchanged when there are none to add. */
function added(tag: number, set: Element | undefined, more: readonly Buffer[]): Buffer | undefined {
  const existing = set === undefined ? [] : childrenOf(set).map(encoded);
  const fresh: Buffer[] = [];
  for (const one of more) {
    if (![...existing, ...fresh].some((other) => other.equals(one))) fresh.push(one);
  }
  if (fresh.length === 0) return set === undefined ? undefined : encoded(set);
  return rewritten(tag, [...existing, ...fresh], existing);
}

/** Encodes a set of these elements: in DER order when it was so before. */
function rewritten(tag: number, elements: readonly Buffer[], before: readonly Buffer[]): Buffer {
  const ordered = before.every((one, index) => Buffer.compare(before[index - 1] ?? EMPTY, one) <= 0);
  return ordered ? setOf(elements, tag) : tlv(tag, ...elements);
}

/** Digest algorithms are compared by identifier: parameters may be NULL or absent (RFC 5754 §2). */
function addedDigests(set: Element, more: readonly Buffer[]): Buffer {
  const idOf = (algorithm: Element) => contents(enter(algorithm, TAG.sequence).next(TAG.oid)).toString('hex');
  const existing = new Set(childrenOf(set).map(idOf));
  return (
    added(
      TAG.set,
      set,
      more.filter((one) => !existing.has(idOf(readWhole(one)))),
    ) ?? encoded(set)
  );
}

function amendedSigners(set: Element, { signers = [], unsigned }: Amendment): Buffer {
  if (signers.length === 0 && unsigned === undefined) return encoded(set);
  const existing = childrenOf(set);
  const amended = existing.map((signer, index) => {
    const attributes = unsigned?.get(index);
    return attributes === undefined ? encoded(signer) : withUnsigned(signer, attributes);
  });
  return rewritten(TAG.set, [...amended, ...signers], existing.map(encoded));
}

/**
 * Replaces the unsigned attributes of a SignerInfo (RFC 5652 §5.3).
 *
 *     SignerInfo ::= SEQUENCE { …, signature OCTET STRING, unsignedAttrs [1] IMPLICIT SET OF Attribute OPTIONAL }
 */
function withUnsigned(signer: Element, attributes: readonly Buffer[]): Buffer {
  const parts = childrenOf(signer);
  const old = parts.find(({ tag }) => tag === TAG.context1Constructed);
  const kept = parts.filter((part) => part !== old).map(encoded);
  if (attributes.length === 0) return sequence(...kept);
  const before = old === undefined ? [] : childrenOf(old).map(encoded);
  const stay = before.filter((one) => attributes.some((other) => other.equals(one)));
  const fresh = attributes.filter((one) => !before.some((other) => other.equals(one)));
  return sequence(...kept, rewritten(TAG.context1Constructed, [...stay, ...fresh], before));
}

/**
 * True for revocation values other than CRLs, which require version 5 (RFC 5652 §10.2.1).
 *
 *     RevocationInfoChoice ::= CHOICE { crl CertificateList, other [1] IMPLICIT OtherRevocationInfoFormat }
 */
function hasOther(crls: Buffer): boolean {
  return childrenOf(readWhole(crls)).some(({ tag }) => tag === TAG.context1Constructed);
}

/** Encodes OCSP responses as CMS carries them: whole, and beside CRLs (RFC 5940 §2.1). */
const OCSP_RESPONSE_FORMAT = oid('1.3.6.1.5.5.7.16.2');
const BASIC_RESPONSE = oid('1.3.6.1.5.5.7.48.1.1');

/** ENUMERATED 0. */
const SUCCESSFUL = Buffer.from([0x0a, 1, 0]);

/**
 * Encodes a successful OCSPResponse around a BasicOCSPResponse (RFC 6960 §4.2.1).
 *     OCSPResponse ::= SEQUENCE {
 *      responseStatus  ENUMERATED,
 *      responseBytes   [0] EXPLICIT SEQUENCE { responseType OBJECT IDENTIFIER, response OCTET STRING } }
 */
export function ocspResponse(basic: Buffer): Buffer {
  const bytes = sequence(BASIC_RESPONSE, octetString(basic));
  return sequence(SUCCESSFUL, tlv(TAG.context0Constructed, bytes));
}

/**
 * Encodes the response as a RevocationInfoChoice of format id-ri-ocsp-response. @param basic DER of a
 * BasicOCSPResponse
 *     RevocationInfoChoice ::= CHOICE { crl CertificateList, other [1] IMPLICIT OtherRevocationInfoFormat }
 */
function ocspChoice(basic: Buffer): Buffer {
  return tlv(TAG.context1Constructed, OCSP_RESPONSE_FORMAT, ocspResponse(basic));
}

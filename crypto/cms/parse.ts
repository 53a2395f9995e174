/** Reads CMS SignedData (RFC 5652 §5) as others write it: DER or BER, any number of certificates and signers. */
import { Asn1Error } from '../asn1/error.ts';
import { OID } from '../asn1/oids.ts';
import {
  Cursor,
  childrenOf,
  contents,
  type Element,
  encoded,
  enter,
  octets,
  oidText,
  readWhole,
  smallInteger,
} from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';

export interface SignedData {
  /** Dotted type of the signed content. */
  readonly contentType: string;
  /** The content when it is inside. */
  readonly content: Buffer | undefined;
  /** DER of each X.509 certificate. */
  readonly certificates: readonly Buffer[];
  /** DER of each CertificateList in `crls`. */
  readonly crls: readonly Buffer[];
  /** DER of each BasicOCSPResponse or OCSPResponse in `crls` (RFC 5940 §2.1), as found. */
  readonly ocsps: readonly Buffer[];
  /** Encodings of everything in `certificates` and in `crls`, of whatever kind: what archive time-stamps list. */
  readonly certificateChoices: readonly Buffer[];
  readonly revocationChoices: readonly Buffer[];
  readonly signers: readonly SignerInfo[];
}

export interface SignerInfo {
  readonly id: SignerId;
  readonly digestAlgorithm: string;
  /** The signed attributes; undefined when the signature covers the content directly. */
  readonly attributes: Attributes | undefined;
  readonly signatureAlgorithm: Algorithm;
  readonly signature: Buffer;
  readonly unsignedAttributes: Attributes | undefined;
  /** The whole SignerInfo as it is encoded. */
  readonly encoding: Buffer;
}

export type SignerId =
  | { readonly by: 'serial'; readonly issuer: Buffer; readonly serial: Buffer }
  | { readonly by: 'key'; readonly keyId: Buffer };

export interface Algorithm {
  readonly id: string;
  readonly parameters: Element | undefined;
}

export interface Attributes {
  /** Dotted type of each attribute, in the order found. */
  readonly types: readonly string[];
  /** Encodings of the attributes, in the order found. */
  readonly encodings: readonly Buffer[];
  /** Values by dotted type; a type that appears twice has all its values here. */
  readonly values: ReadonlyMap<string, readonly Element[]>;
}

/** Signers in one structure; each costs a public-key operation. */
const MAX_SIGNERS = 32;

/** @throws {Asn1Error} */
export function parseSignedData(der: Buffer): SignedData {
  const contentInfo = enter(readWhole(der), TAG.sequence);
  if (oidText(contentInfo.take()) !== OID.signedData) throw new Asn1Error('not a SignedData', 0);
  const wrapped = enter(contentInfo.take(), TAG.context0Constructed);
  contentInfo.end();
  const fields = enter(wrapped.take(), TAG.sequence);
  wrapped.end();
  smallInteger(fields.take());
  fields.take(TAG.set);
  const encapsulated = enter(fields.take(), TAG.sequence);
  const contentType = oidText(encapsulated.take());
  const inside = encapsulated.takeIf(TAG.context0Constructed);
  encapsulated.end();
  const certificates = choicesIn(fields.takeIf(TAG.context0Constructed));
  const revocation = choicesIn(fields.takeIf(TAG.context1Constructed));
  const signers = childrenOf(fields.take(TAG.set));
  fields.end();
  if (signers.length > MAX_SIGNERS) throw new Asn1Error('too many signers', 0);
  return {
    contentType,
    content: inside === undefined ? undefined : octets(new Cursor(inside).take()),
    // Attribute certificates and other formats stand under context tags; they play no part here.
    certificates: certificates.filter(({ tag }) => tag === TAG.sequence).map(encoded),
    ...readRevocation(revocation),
    certificateChoices: certificates.map(encoded),
    revocationChoices: revocation.map(encoded),
    signers: signers.map(parseSignerInfo),
  };
}

/** id-ri-ocsp-response and id-pkix-ocsp-basic: the two ways OCSP answers are carried beside CRLs. */
const OCSP_FORMATS: ReadonlySet<string> = new Set(['1.3.6.1.5.5.7.16.2', '1.3.6.1.5.5.7.48.1.1']);

function choicesIn(element: Element | undefined): Element[] {
  return element === undefined ? [] : childrenOf(element);
}

function readRevocation(choices: readonly Element[]): Pick<SignedData, 'crls' | 'ocsps'> {
  const crls: Buffer[] = [];
  const ocsps: Buffer[] = [];
  for (const choice of choices) {
    if (choice.tag === TAG.sequence) crls.push(encoded(choice));
    else if (choice.tag === TAG.context1Constructed) {
      const fields = new Cursor(choice);
      if (OCSP_FORMATS.has(oidText(fields.take()))) ocsps.push(encoded(fields.take()));
    }
  }
  return { crls, ocsps };
}

/** @throws {Asn1Error} */
export function parseSignerInfo(element: Element): SignerInfo {
  const fields = enter(element, TAG.sequence);
  smallInteger(fields.take());
  const id = parseSignerId(fields.take());
  const digestAlgorithm = parseAlgorithm(fields.take()).id;
  const attributes = fields.takeIf(TAG.context0Constructed);
  const signatureAlgorithm = parseAlgorithm(fields.take());
  const signature = octets(fields.take());
  const unsigned = fields.takeIf(TAG.context1Constructed);
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

function parseSignerId(element: Element): SignerId {
  if (element.tag === TAG.context0) return { by: 'key', keyId: contents(element) };
  const fields = enter(element, TAG.sequence);
  const issuer = encoded(fields.take(TAG.sequence));
  const serial = encoded(fields.take(TAG.integer));
  fields.end();
  return { by: 'serial', issuer, serial };
}

/** AlgorithmIdentifier (RFC 5280 §4.1.1.2). @throws {Asn1Error} */
export function parseAlgorithm(element: Element): Algorithm {
  const fields = enter(element, TAG.sequence);
  const id = oidText(fields.take());
  const parameters = fields.done ? undefined : fields.take();
  fields.end();
  return { id, parameters };
}

function parseAttributes(element: Element): Attributes {
  const all = childrenOf(element);
  const types: string[] = [];
  const values = new Map<string, Element[]>();
  for (const attribute of all) {
    const fields = enter(attribute, TAG.sequence);
    const type = oidText(fields.take());
    types.push(type);
    const list = values.get(type) ?? [];
    list.push(...childrenOf(fields.take(TAG.set)));
    values.set(type, list);
    fields.end();
  }
  return { types, encodings: all.map(encoded), values };
}

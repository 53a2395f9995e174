/**
 * The one shape of signature that is accepted (EN 319 132-1 §6.3, level B-B): every element that is processed stands
 * exactly where it belongs and occurs exactly as often as it may, so that no other element can take its place.
 */
import { DS, ENVELOPED, EXCLUSIVE_C14N, SIGNED_PROPERTIES_TYPE, XADES } from './identifiers.ts';
import type { SignatureNode } from './signature-tree.ts';

/** Byte range of an element in the UTF-8 document. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface DigestText {
  /** URI of the algorithm. */
  readonly method: string;
  readonly value: Buffer;
}

export interface SignatureForm extends Range {
  readonly id: string;
  readonly signedInfo: Range;
  /** URI. */
  readonly signatureMethod: string;
  readonly signatureValue: Buffer;
  readonly document: DigestText;
  readonly properties: DigestText;
  readonly signedProperties: Range & { readonly id: string };
  /** DER, as found in KeyInfo. */
  readonly certificates: readonly Buffer[];
  /** Claimed, as written. */
  readonly signingTime: string;
  readonly certificateDigest: DigestText;
  /** DER of IssuerSerialV2. */
  readonly issuerSerial: Buffer | undefined;
}

/** What is wrong with the structure; the message is the detail of the failed check. */
export class FormFault extends Error {}

/** @throws FormFault */
export function readSignatureForm(signature: SignatureNode): SignatureForm {
  const id = requiredAttribute(signature, 'Id');
  const [signedInfo, signatureValue, keyInfo, object] = exactly(signature, [
    [DS, 'SignedInfo'],
    [DS, 'SignatureValue'],
    [DS, 'KeyInfo'],
    [DS, 'Object'],
  ]);
  const [qualifying] = exactly(object, [[XADES, 'QualifyingProperties']]);
  if (requiredAttribute(qualifying, 'Target') !== `#${id}`) {
    throw new FormFault('QualifyingProperties names another signature as its target');
  }
  const signedProperties = first(qualifying, XADES, 'SignedProperties');
  const rest = qualifying.children.slice(1);
  if (rest.length > 1 || rest.some((child) => !is(child, XADES, 'UnsignedProperties'))) {
    throw new FormFault('QualifyingProperties holds something else than signed and unsigned properties');
  }
  const info = readSignedInfo(signedInfo);
  const propertiesId = requiredAttribute(signedProperties, 'Id');
  if (info.propertiesUri !== `#${propertiesId}`) {
    throw new FormFault('the second reference does not name the SignedProperties of this signature');
  }
  return {
    id,
    start: signature.start,
    end: signature.end,
    signedInfo,
    signatureMethod: info.signatureMethod,
    signatureValue: base64(signatureValue),
    document: info.document,
    properties: info.properties,
    signedProperties: { id: propertiesId, start: signedProperties.start, end: signedProperties.end },
    certificates: readCertificates(keyInfo),
    ...readSignedProperties(signedProperties, info.documentId),
  };
}

function readSignedInfo(signedInfo: SignatureNode): {
  readonly signatureMethod: string;
  readonly document: DigestText;
  readonly documentId: string | undefined;
  readonly properties: DigestText;
  readonly propertiesUri: string;
} {
  const [canonicalization, method, document, properties] = exactly(signedInfo, [
    [DS, 'CanonicalizationMethod'],
    [DS, 'SignatureMethod'],
    [DS, 'Reference'],
    [DS, 'Reference'],
  ]);
  if (algorithm(canonicalization) !== EXCLUSIVE_C14N) {
    throw new FormFault('SignedInfo is canonicalized by another method than exclusive canonicalization');
  }
  // Either may come first; which is which follows from the URI alone.
  const swapped = attribute(document, 'URI') !== '';
  const [whole, part] = swapped ? [properties, document] : [document, properties];
  if (attribute(whole, 'URI') !== '') throw new FormFault('no reference covers the whole document');
  const propertiesUri = requiredAttribute(part, 'URI');
  if (attribute(part, 'Type') !== SIGNED_PROPERTIES_TYPE) {
    throw new FormFault('the reference to the signed properties is not of their type');
  }
  return {
    signatureMethod: algorithm(method),
    document: readReference(whole, [ENVELOPED, EXCLUSIVE_C14N]),
    documentId: attribute(whole, 'Id'),
    properties: readReference(part, [EXCLUSIVE_C14N]),
    propertiesUri,
  };
}

function readReference(reference: SignatureNode, transforms: readonly string[]): DigestText {
  const [list, method, value] = exactly(reference, [
    [DS, 'Transforms'],
    [DS, 'DigestMethod'],
    [DS, 'DigestValue'],
  ]);
  const found = exactly(
    list,
    transforms.map(() => [DS, 'Transform'] as const),
  ).map(algorithm);
  if (found.some((uri, index) => uri !== transforms[index])) {
    throw new FormFault(
      `a reference has the transforms ${found.join(', ')} instead of ${transforms.join(', ')}`,
    );
  }
  return { method: algorithm(method), value: base64(value) };
}

function readSignedProperties(
  signedProperties: SignatureNode,
  documentId: string | undefined,
): Pick<SignatureForm, 'signingTime' | 'certificateDigest' | 'issuerSerial'> {
  const ofSignature = first(signedProperties, XADES, 'SignedSignatureProperties');
  const time = only(ofSignature, XADES, 'SigningTime').text.trim();
  if (!/^-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/.test(time)) {
    throw new FormFault('SigningTime is not a date and time');
  }
  const list = only(ofSignature, XADES, 'SigningCertificateV2');
  // The first certificate is the signer's; further ones would be of its chain (EN 319 132-1 §5.2.2.3).
  const certificate = first(list, XADES, 'Cert');
  const [method, value] = exactly(first(certificate, XADES, 'CertDigest'), [
    [DS, 'DigestMethod'],
    [DS, 'DigestValue'],
  ]);
  const issuerSerial = certificate.children[1];
  if (
    certificate.children.length > 2 ||
    (issuerSerial !== undefined && !is(issuerSerial, XADES, 'IssuerSerialV2'))
  ) {
    throw new FormFault('Cert holds something else than CertDigest and IssuerSerialV2');
  }
  const ofData = signedProperties.children[1];
  if (
    signedProperties.children.length > 2 ||
    (ofData !== undefined && !is(ofData, XADES, 'SignedDataObjectProperties'))
  ) {
    throw new FormFault(
      'SignedProperties holds something else than properties of the signature and of the data',
    );
  }
  const formats = ofData?.children.filter((child) => is(child, XADES, 'DataObjectFormat')) ?? [];
  for (const format of formats) {
    if (attribute(format, 'ObjectReference') !== `#${documentId}`) {
      throw new FormFault('DataObjectFormat describes something else than the document');
    }
  }
  return {
    signingTime: time,
    certificateDigest: { method: algorithm(method), value: base64(value) },
    issuerSerial: issuerSerial === undefined ? undefined : base64(issuerSerial),
  };
}

function readCertificates(keyInfo: SignatureNode): readonly Buffer[] {
  const certificates = keyInfo.children
    .filter((child) => is(child, DS, 'X509Data'))
    .flatMap((data) => data.children.filter((child) => is(child, DS, 'X509Certificate')))
    .map(base64);
  if (certificates.length === 0) throw new FormFault('KeyInfo holds no certificate');
  return certificates;
}

type Kind = readonly [namespace: string, local: string];
type Nodes<Kinds extends readonly Kind[]> = { readonly [Index in keyof Kinds]: SignatureNode };

/** The children, which must be these in this order, with nothing but white space between them. */
function exactly<const Kinds extends readonly Kind[]>(parent: SignatureNode, kinds: Kinds): Nodes<Kinds> {
  const { children } = parent;
  const fits =
    children.length === kinds.length &&
    kinds.every(([namespace, local], index) => {
      const child = children[index];
      return child !== undefined && is(child, namespace, local);
    });
  if (!fits) {
    const found = children.map((child) => child.local).join(', ');
    throw new FormFault(
      `${parent.local} holds (${found}) instead of (${kinds.map(([, local]) => local).join(', ')})`,
    );
  }
  noText(parent);
  return children as unknown as Nodes<Kinds>;
}

function first(parent: SignatureNode, namespace: string, local: string): SignatureNode {
  const child = parent.children[0];
  if (child === undefined || !is(child, namespace, local)) {
    throw new FormFault(`${parent.local} does not begin with ${local}`);
  }
  noText(parent);
  return child;
}

function only(parent: SignatureNode, namespace: string, local: string): SignatureNode {
  const [found, ...more] = parent.children.filter((child) => is(child, namespace, local));
  if (found === undefined || more.length > 0) throw new FormFault(`${parent.local} must hold one ${local}`);
  return found;
}

function noText(node: SignatureNode): void {
  if (node.text.trim() !== '') throw new FormFault(`${node.local} holds text between its elements`);
}

function is(node: SignatureNode, namespace: string, local: string): boolean {
  return node.namespace === namespace && node.local === local;
}

function attribute(node: SignatureNode, local: string): string | undefined {
  return node.attributes.find((found) => found.namespace === '' && found.local === local)?.value;
}

function requiredAttribute(node: SignatureNode, local: string): string {
  const value = attribute(node, local);
  if (value === undefined || value === '') throw new FormFault(`${node.local} has no ${local}`);
  return value;
}

/** The algorithm of a method or transform that takes no parameters. */
function algorithm(node: SignatureNode): string {
  if (node.children.length > 0 || node.text.trim() !== '') {
    throw new FormFault(`${node.local} has parameters, which are not accepted`);
  }
  return requiredAttribute(node, 'Algorithm');
}

function base64(node: SignatureNode): Buffer {
  const text = node.text.replace(/[ \t\r\n]+/g, '');
  if (
    node.children.length > 0 ||
    text === '' ||
    text.length % 4 !== 0 ||
    !/^[A-Za-z0-9+/]*={0,2}$/.test(text)
  ) {
    throw new FormFault(`${node.local} is not base64`);
  }
  return Buffer.from(text, 'base64');
}

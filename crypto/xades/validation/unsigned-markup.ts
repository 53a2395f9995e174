/** Reports what an XML signature has beside its form, and what it does not protect: programs that display the file may show it. */
import { type Finding, warned } from '../../core/validation-report.ts';
import { DS, XADES } from '../elements/identifiers.ts';
import type { ExaminedReference, ExaminedReferences } from './examine-references.ts';
import { filteredData, printable, type ReferenceContext } from './reference-data.ts';
import {
  attributeOf,
  base64Of,
  childrenNamed,
  FormFault,
  holds,
  is,
  type SignatureNode,
} from './signature-node.ts';
import type { SignatureFormat } from './signed-info.ts';

/** Warnings: `scope.foreign-element`, `scope.stylesheet`, `attributes.object-type`. */
export function unsignedMarkup(
  context: ReferenceContext,
  form: SignatureFormat,
  examined: ExaminedReferences,
): Finding[] {
  const isEnveloping = context.map.root.start === form.node.start;
  return [
    ...(isEnveloping ? [] : foreignElements(form, examined)),
    ...(examined.references.some((reference) => signsProlog(context, form, reference))
      ? []
      : stylesheets(context)),
    ...contradictions(form, examined),
  ];
}

/** Namespaces of the standards whose elements belong into a signature: XML Signature, XML Encryption, XAdES, evidence records. */
const OF_SIGNATURES =
  /^(?:http:\/\/www\.w3\.org\/\d{4}\/(?:\d\d\/)?xml(?:dsig[\w-]*|enc\w*)#|http:\/\/uri\.etsi\.org\/|urn:ietf:params:xml:ns:ers$)/;

/** Elements of these vocabularies that hold names, numbers and times; what KeyInfo has of them is compared with the certificate. */
const WITH_WORDS: ReadonlySet<string> = new Set(
  'X509IssuerName X509SerialNumber X509SubjectName KeyName MgmtData Issuer IssueTime Number ByName ProducedAt Identifier Description DocumentationReference SigPolDocLocalURI PgenCounter'.split(
    ' ',
  ),
);

/** Elements that hold Base64. */
const WITH_BASE64: ReadonlySet<string> = new Set(
  'X509Certificate X509CRL X509SKI X509Digest Modulus Exponent PublicKey P Q G Y J Seed DEREncodedKeyValue DigestValue IssuerSerialV2 EncapsulatedX509Certificate EncapsulatedCRLValue EncapsulatedOCSPValue EncapsulatedTimeStamp EncapsulatedPKIData ByKey SignaturePolicyDocument TimeStampToken CryptographicInformation PGPKeyID PGPKeyPacket SPKISexp'.split(
    ' ',
  ),
);

/** True for text that programs show and that no standard has there. */
function hasOtherText(node: SignatureNode): boolean {
  const { children, local, text } = node;
  if (text.trim() === '') return false;
  if (children.length > 0 || !WITH_BASE64.has(local)) return children.length > 0 || !WITH_WORDS.has(local);
  try {
    base64Of(node);
    return false;
  } catch (error) {
    if (error instanceof FormFault) return true;
    throw error;
  }
}

/** Most elements in the message. */
const MAX_LISTED = 5;

/** Finds elements of other vocabularies, and text, in KeyInfo and the unsigned properties, which an enveloped signature leaves out. */
function foreignElements(
  { keyInfo, objects }: SignatureFormat,
  { references }: ExaminedReferences,
): Finding[] {
  const isSigned = (node: SignatureNode): boolean =>
    references.some(({ data }) => data?.kind === 'element' && holds(data.place, node));
  const holders = [...(keyInfo === undefined ? [] : [keyInfo]), ...unsignedLists(objects)];
  const found = new Set<string>();
  for (const holder of holders) {
    if (isSigned(holder)) continue;
    const nodes = [holder];
    for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
      if (is(node, DS, 'Signature')) continue;
      const { children, local, namespace } = node;
      if (!OF_SIGNATURES.test(namespace)) found.add(local);
      else {
        if (hasOtherText(node)) found.add(`text in ${local}`);
        nodes.push(...children);
      }
    }
  }
  if (found.size === 0) return [];
  return [
    warned(
      'scope.foreign-element',
      'The signature has elements or text that are neither signed nor part of a signature.',
      [...found].slice(0, MAX_LISTED).map(printable).join(', '),
    ),
  ];
}

function unsignedLists(objects: readonly SignatureNode[]): SignatureNode[] {
  return objects
    .flatMap((object) => childrenNamed(object, XADES, 'QualifyingProperties'))
    .flatMap((properties) => childrenNamed(properties, XADES, 'UnsignedProperties'));
}

/** True for a reference to the document, whose instructions before the root are signed too: no filter chose an element. */
function signsProlog(
  context: ReferenceContext,
  { node }: SignatureFormat,
  { data, role }: ExaminedReference,
): boolean {
  if (data?.kind !== 'document' || role !== 'data') return false;
  const filtered = filteredData(context, data, node);
  return filtered?.apex === undefined && filtered?.later === undefined;
}

/** Finds an instruction by which browsers show another document than the one that was signed. */
function stylesheets({ map: { utf8, root } }: ReferenceContext): Finding[] {
  // One after the other: a comment may hold an instruction, an instruction the start of a comment. XML has the end of each.
  const parts = utf8.toString('utf8', 0, root.start).matchAll(/<!--.*?-->|<\?.*?\?>/gs);
  if (![...parts].some(([part]) => /^<\?xml-stylesheet\s/.test(part))) return [];
  const message =
    'The file names a stylesheet, which the signature does not cover and which changes what is shown.';
  return [warned('scope.stylesheet', message)];
}

/** Compares what an Object says about its data with what the signature says about the reference to it. */
function contradictions(
  { objects, properties }: SignatureFormat,
  { references }: ExaminedReferences,
): Finding[] {
  const formats = new Map(properties?.signed?.formats.map((format) => [format.reference, format]));
  for (const { form, data } of references) {
    const format = form.id === undefined ? undefined : formats.get(`#${form.id}`);
    const object = objects.find((one) => data?.kind === 'element' && holds(one, data.place));
    if (format === undefined || object === undefined) continue;
    for (const [name, signed] of [
      ['MimeType', format.mimeType],
      ['Encoding', format.encoding],
    ] as const) {
      const given = attributeOf(object, name);
      if (given === undefined || signed === undefined || plain(given) === plain(signed)) continue;
      const message = `An Object has another ${name} than the signature says of it.`;
      const detail = `${printable(given)}, signed: ${printable(signed)}`;
      return [warned('attributes.object-type', message, detail)];
    }
  }
  return [];
}

const plain = (text: string): string => (text.split(';', 1)[0] ?? '').trim().toLowerCase();

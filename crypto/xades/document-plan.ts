/**
 * Signatures inside of an XML document (EN 319 132-1 §6.3): over all of it, or over one element. The original bytes stay
 * as they are, and the signature is spliced in.
 */
import { createHash } from 'node:crypto';
import { CryptoError } from '../types.ts';
import {
  type DecodedXml,
  decodeXml,
  ExclusiveCanonicalizer,
  Names,
  type RootPlace,
  readXml,
} from '../xml/index.ts';
import { ENVELOPED, EXCLUSIVE_C14N, XPATH_FILTER } from './identifiers.ts';
import { mimeTypeText } from './mime-type.ts';
import { endOrKeep, type Frame, idFor, type PlanRequest, type SigningPlan } from './plan.ts';
import { transformText } from './signature-text.ts';
import { type FoundElement, SigningSurvey } from './survey.ts';

const EXCLUSIVE = transformText(EXCLUSIVE_C14N);

/** Takes the signature itself out, and leaves all others in. */
const WITHOUT_ITSELF = transformText(ENVELOPED) + EXCLUSIVE;

/** Takes every signature out, so that none of them is over another one. */
const WITHOUT_SIGNATURES =
  `<ds:Transform Algorithm="${XPATH_FILTER}"><filter:XPath xmlns:filter="${XPATH_FILTER}" Filter="subtract">` +
  `/descendant::ds:Signature</filter:XPath></ds:Transform>${EXCLUSIVE}`;

/**
 * `enveloped`: the signature becomes the last child of the root. `element`: it follows the element with the Id; for the
 * root, it becomes its last child. An Id is the value of an attribute `Id`, `ID`, `id` or `xml:id`.
 * @throws {CryptoError} `xml.malformed`, `xml.dtd`, `xml.encoding`, `xml.too-deep`; `xml.existing-signature` when another
 *   signature is over the place where this one would stand; `request.invalid` when no element, or more than one, has the Id
 */
export function planInDocument(document: Buffer, request: PlanRequest): SigningPlan {
  const { packaging, coSignable = false, mimeType } = request.form;
  const elementId = packaging === 'element' ? elementIdOf(request.form.elementId) : undefined;
  const decoded = decodeXml(document);
  const { utf8 } = decoded;
  const hash = createHash(request.algorithm.digest);
  const names = new Names();
  const canonicalizer = new ExclusiveCanonicalizer(utf8, hash);
  const target = { withoutSignatures: coSignable, ...(elementId !== undefined && { elementId }) };
  const survey = new SigningSurvey(utf8, names, canonicalizer, target);
  const root = readXml(utf8, survey, names);
  canonicalizer.finish();
  const { element, broken } = survey;
  if (elementId !== undefined && element === undefined) {
    throw new CryptoError('request.invalid', `No element has the Id "${elementId}".`);
  }
  if (broken !== undefined) {
    const what = elementId === undefined ? 'XML cannot be signed as a whole' : 'element cannot be signed';
    throw new CryptoError('xml.existing-signature', `The ${what}: ${broken}.`);
  }
  const { digest, signed } = endOrKeep(hash, request);
  const inside = element === undefined || element.isRoot;
  const transforms = coSignable ? WITHOUT_SIGNATURES : inside ? WITHOUT_ITSELF : EXCLUSIVE;
  return {
    id: idFor(digest, request, (id) => survey.isFree(id)),
    references: [
      {
        uri: elementId === undefined ? '' : `#${elementId}`,
        transforms,
        digest,
        mimeType: mimeType === undefined ? 'application/xml' : mimeTypeText(mimeType),
      },
    ],
    signed,
    frame: inside ? insideRoot(decoded, root) : afterElement(decoded, element),
  };
}

/**
 * An Id that can stand in a reference as it is. Wider than a name of XML, since Ids of real documents begin with digits.
 */
function elementIdOf(id: string | undefined): string {
  if (id !== undefined && /^[\p{L}\p{N}\p{M}_.:·-]+$/u.test(id)) return id;
  throw new CryptoError(
    'request.invalid',
    id === undefined
      ? 'No Id says which element is to be signed.'
      : `The Id "${id}" has characters that a reference to an element can't have.`,
  );
}

function insideRoot(decoded: DecodedXml, root: RootPlace): Frame {
  const encode = (text: string): Buffer => decoded.encode(text);
  if (!root.empty) {
    const at = decoded.toOriginal(root.contentEnd);
    return { cut: at, resume: at, lead: '', trail: '', encode };
  }
  // An empty-element tag is opened: `/>` becomes `>`, and an end tag comes after the signature.
  return {
    cut: decoded.toOriginal(root.end - 2),
    resume: decoded.toOriginal(root.end),
    lead: '>',
    trail: `</${root.name}>`,
    encode,
  };
}

function afterElement(decoded: DecodedXml, { end }: FoundElement): Frame {
  const at = decoded.toOriginal(end);
  return { cut: at, resume: at, lead: '', trail: '', encode: (text) => decoded.encode(text) };
}

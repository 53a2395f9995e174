/**
 * Signatures inside an XML document (EN 319 132-1 §6.3): over the whole document or over one element. The original
 * bytes stay unchanged; the signature is inserted.
 */
import { createHash } from 'node:crypto';
import { CryptoError, type XadesFormat } from '../core/types.ts';
import {
  canonicalize,
  type DecodedXml,
  decodeXml,
  EXCLUSIVE,
  ExclusiveCanonicalizer,
  Names,
  readXml,
  ValuePrefixes,
} from '../xml/index.ts';
import { findElements, type NamedElement, positionsOf } from './elements/element-finder.ts';
import { type ElementPath, positionalPath, readElementPath } from './elements/element-path.ts';
import { ENVELOPED, EXCLUSIVE_C14N, XPATH_FILTER } from './elements/identifiers.ts';
import { type FoundElement, SignatureSurvey } from './elements/signature-survey.ts';
import { mimeTypeText, transformText } from './elements/signature-text.ts';
import { endOrKeep, type Frame, idFor, type PlanRequest, type SigningPlan } from './plan.ts';

/** Excludes the signature itself and keeps all others. */
const WITHOUT_ITSELF = transformText(ENVELOPED);

/** Excludes every signature, so that no signature covers another one. */
const EVERY_SIGNATURE = filter('subtract', '/descendant::ds:Signature');
const WITHOUT_SIGNATURES = filterText(EVERY_SIGNATURE);

/**
 * Plans a signature inside the document. `enveloped`: the signature becomes a child of the root. `element`: it is
 * placed in or next to the element with the Id or the position; `XadesFormat.insertion` selects where. An Id is the
 * value of an attribute `Id`, `ID`, `id` or `xml:id`.
 * @throws {CryptoError} `xml.malformed`, `xml.dtd`, `xml.encoding`, `xml.too-deep`; `xml.existing-signature` when
 *   another signature covers the insertion point; `request.invalid` when no element, or more than one, matches the Id
 *   or the position, and when the signature would be a sibling of the root
 */
export function planInDocument(document: Buffer, request: PlanRequest): SigningPlan {
  const { form } = request;
  const { coSignable = false, insertion, mimeType } = form;
  const decoded = decodeXml(document);
  const { utf8 } = decoded;
  let hash = createHash(request.algorithm.digest);
  const names = new Names();
  const wanted = form.packaging === 'element' ? requestedElement(form, utf8, names) : undefined;
  const receiver =
    form.place === undefined || wanted !== undefined ? undefined : elementAt(form.place, form, utf8, names);
  const canonicalizer = new ExclusiveCanonicalizer(utf8, hash);
  const values = new ValuePrefixes(utf8, names, canonicalizer);
  const survey = new SignatureSurvey(utf8, names, values, {
    withoutSignatures: coSignable,
    ...(insertion !== undefined && { insertion }),
    ...(wanted?.id !== undefined && { elementId: wanted.id }),
    ...(wanted?.place !== undefined && { elementStart: wanted.place.start }),
    ...(receiver !== undefined && { receiverStart: receiver.start }),
  });
  const root = readXml(utf8, survey, names);
  canonicalizer.finish();
  const element =
    wanted === undefined ? (survey.receiver ?? { isRoot: true, scope: undefined, ...root }) : survey.element;
  if (element === undefined) {
    throw new CryptoError('request.invalid', `No element has the Id "${form.elementId}".`);
  }
  if (survey.broken !== undefined) {
    const what = wanted === undefined ? 'XML cannot be signed as a whole' : 'element cannot be signed';
    throw new CryptoError('xml.existing-signature', `The ${what}: ${survey.broken}.`);
  }
  const prefixes = [...values.found].sort();
  const exclusive = transformText(EXCLUSIVE_C14N, prefixes);
  /** References the element by its unique Id, else by an XPath filter for its position. */
  const referenceTo = ({ id, place: at }: RequestedElement, isUnique: boolean) => {
    if (id !== undefined && (at === undefined || isUnique)) return { uri: `#${id}`, transforms };
    if (coSignable && at !== undefined) {
      const path = positionalPath(positionsOf(utf8, names, at));
      return { uri: '', transforms: filterText(filter('intersect', path) + EVERY_SIGNATURE) + exclusive };
    }
    throw new CryptoError(
      'request.invalid',
      'The element has no Id of its own, and without an XPath transform nothing else could name it.',
    );
  };
  const place = placeOf(insertion ?? (receiver && 'last-child'), element);
  const plain = place === 'before' || place === 'after' ? '' : WITHOUT_ITSELF;
  const transforms = (coSignable ? WITHOUT_SIGNATURES : plain) + exclusive;
  if (prefixes.length > 0) {
    hash = createHash(request.algorithm.digest);
    const range = wanted === undefined ? undefined : { ...element, end: element.contentEnd };
    canonicalize({ utf8, names }, range, {
      method: { ...EXCLUSIVE, prefixes },
      sink: hash,
      without: survey.leftOut,
    });
  }
  const { digest, signed } = endOrKeep(hash, request);
  return {
    id: idFor(digest, request, (id) => survey.isFree(id)),
    references: [
      {
        ...(wanted === undefined ? { uri: '', transforms } : referenceTo(wanted, survey.idIsUnique)),
        ...(coSignable && { expressionPrefixes: ['ds'] }),
        digest,
        mimeType: mimeType === undefined ? 'application/xml' : mimeTypeText(mimeType),
      },
    ],
    prefixes,
    signed,
    frame: frameAt(decoded, place, element),
  };
}

interface RequestedElement {
  /** Id that can be written into a reference unescaped. */
  readonly id: string | undefined;
  /** Undefined: the element is identified by its Id alone. */
  readonly place: NamedElement | undefined;
}

function requestedElement(form: XadesFormat, utf8: Buffer, names: Names): RequestedElement {
  const { elementId, elementPath } = form;
  if (elementPath === undefined) return { id: elementIdOf(elementId), place: undefined };
  const place = elementAt(elementPath, form, utf8, names);
  return { id: place.id !== undefined && REFERABLE.test(place.id) ? place.id : undefined, place };
}

/** Finds the one element of a location path. @throws {CryptoError} `request.invalid` */
function elementAt(
  location: string,
  { elementNamespaces = [] }: XadesFormat,
  utf8: Buffer,
  names: Names,
): NamedElement {
  const path = (onRoot: (prefix: string) => string | undefined): ElementPath =>
    readElementPath(location, (prefix) => {
      const namespace = elementNamespaces.find((one) => one.prefix === prefix)?.uri ?? onRoot(prefix);
      if (namespace !== undefined) return namespace;
      throw new CryptoError('request.invalid', `Nothing says what the prefix "${prefix}" stands for.`);
    });
  const [place, another] = findElements(utf8, names, path, true);
  if (place !== undefined && another === undefined) return place;
  const many = place === undefined ? 'no element' : 'several elements';
  const hint = place === undefined ? ' A name without prefix is one without namespace.' : '';
  throw new CryptoError(
    'request.invalid',
    `The location path "${location}" names ${many} of the document.${hint}`,
  );
}

/** Builds one step of XPath Filter 2.0, in canonical spelling. */
function filter(kind: 'intersect' | 'subtract', path: string): string {
  const text = path.replace(/[&<>]/g, (found) => ({ '&': '&amp;', '<': '&lt;' })[found] ?? '&gt;');
  return `<filter:XPath xmlns:filter="${XPATH_FILTER}" Filter="${kind}">${text}</filter:XPath>`;
}

function filterText(filters: string): string {
  return `<ds:Transform Algorithm="${XPATH_FILTER}">${filters}</ds:Transform>`;
}

/**
 * Id that can be written into a reference unescaped. Wider than an XML name, since Ids of real documents begin with
 * digits.
 */
const REFERABLE = /^[\p{L}\p{N}\p{M}_.:·-]+$/u;

function elementIdOf(id: string | undefined): string {
  if (id !== undefined && REFERABLE.test(id)) return id;
  throw new CryptoError(
    'request.invalid',
    id === undefined
      ? 'No Id says which element is to be signed.'
      : `The Id "${id}" has characters that a reference to an element can't have.`,
  );
}

type Place = NonNullable<XadesFormat['insertion']>;

function placeOf(asked: Place | undefined, { isRoot }: Pick<FoundElement, 'isRoot'>): Place {
  if (asked === undefined) return isRoot ? 'last-child' : 'after';
  if (!isRoot || asked.endsWith('child')) return asked;
  throw new CryptoError('request.invalid', 'A signature cannot stand beside the root element.');
}

function frameAt(decoded: DecodedXml, place: Place, element: Omit<FoundElement, 'isRoot' | 'scope'>): Frame {
  const encode = (text: string): Buffer => decoded.encode(text);
  const inside = place === 'first-child' || place === 'last-child';
  if (inside && element.empty) {
    // Expands an empty-element tag: `/>` becomes `>`, and an end tag follows the signature.
    const { contentStart, name } = element;
    return {
      cut: decoded.toOriginal(contentStart - 2),
      resume: decoded.toOriginal(contentStart),
      lead: '>',
      trail: `</${name}>`,
      encode,
    };
  }
  const at = decoded.toOriginal(offsetOf(place, element));
  return { cut: at, resume: at, lead: '', trail: '', encode };
}

function offsetOf(
  place: Place,
  { start, contentStart, contentEnd, end }: Omit<FoundElement, 'isRoot' | 'scope'>,
): number {
  switch (place) {
    case 'first-child':
      return contentStart;
    case 'last-child':
      return contentEnd;
    case 'before':
      return start;
    case 'after':
      return end;
  }
}

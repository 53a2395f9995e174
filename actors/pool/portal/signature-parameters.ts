/** Converts the parameters of one signature to those of the signing engine. */
import { readFileSync } from 'node:fs';
import {
  isPicture,
  type PadesFormat,
  type PageContent,
  type PagePlace,
  type SignatureFormat,
  type SignatureLevel,
  type SigningServices,
  type XadesFormat,
} from '@sealwright/signatures';
import type { SignatureContent, SignatureParameters } from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';

export interface FormatParameters {
  readonly pades?: PadesFormat;
  readonly cades?: { readonly detached: true; readonly armor: 'der'; readonly contentIdentifier?: string };
  readonly xades?: XadesFormat;
}

export function formatParameters(
  format: SignatureFormat,
  parameters: SignatureParameters,
  content?: SignatureContent,
): FormatParameters {
  const name = parameters.fieldName;
  switch (format) {
    case 'Pades':
      return { pades: { ...padesForm(parameters), ...(content && { content: pageContent(content) }) } };
    case 'Cades':
      return { cades: { detached: true, armor: 'der', ...(name !== '' && { contentIdentifier: name }) } };
    case 'Xades':
      return { xades: { ...xadesForm(parameters), ...(name !== '' && { id: name }) } };
  }
}

function pageContent({ fields, marks, covers = [] }: SignatureContent): PageContent {
  const images = new Map<string, Buffer>();
  const imageOf = (path: string): Buffer => {
    const image = images.get(path) ?? readFileSync(path);
    images.set(path, image);
    return image;
  };
  return {
    ...(covers.length > 0 && { covers: covers.map(pagePlace) }),
    fields: fields.map((field) => ({ ...field, place: field.place && pagePlace(field.place) })),
    stamps: marks.map(({ mark, lines, image }) => ({
      place: pagePlace(mark),
      lines,
      ...(image !== null && isPicture(imageOf(image)) && { image: imageOf(image) }),
    })),
  };
}

function pagePlace(mark: SignatureContent['marks'][number]['mark']): PagePlace {
  const { pageNumber, topLeftX, topLeftY, width, height } = mark;
  return { page: pageNumber, left: topLeftX, top: topLeftY, width, height };
}

function padesForm({ fieldName, name, reason, contactInfo, visible }: SignatureParameters): PadesFormat {
  return {
    fieldName,
    name,
    reason,
    ...(contactInfo !== null && { contactInfo }),
    ...(visible !== null && {
      appearance: {
        place: pagePlace(visible.mark),
        lines: visible.lines,
        ...(visible.image !== null && { image: readFileSync(visible.image) }),
      },
    }),
  };
}

/**
 * XAdES form of a signature. By default it does not cover other signatures, because participants sign the same document
 * before and after. Source: docs/portal-values.md §6, `xadesOptions`.
 */
function xadesForm({ xades }: SignatureParameters): XadesFormat {
  if (xades === null) return { packaging: 'enveloped', coSignable: true };
  const { signatureType, elementToSignIdentifier: identifier, insertionOption } = xades;
  const shared = {
    coSignable: !xades.disableXPathTransformation,
    ...(insertionOption !== null && { insertion: INSERTIONS[insertionOption] }),
  };
  if (signatureType === 'XmlElement' && identifier !== null) {
    const byPath = xades.elementToSignIdentifierType === 'XPath';
    const { xmlNamespaces: elementNamespaces = [] } = xades;
    return {
      ...shared,
      packaging: 'element',
      ...(byPath ? { elementPath: identifier, elementNamespaces } : { elementId: identifier }),
    };
  }
  return {
    ...shared,
    packaging: 'enveloped',
    ...(signatureType === 'FullXmlAdRc' && { completeReferences: true }),
  };
}

const INSERTIONS = {
  AppendChild: 'last-child',
  PrependChild: 'first-child',
  AppendSibling: 'after',
  PrependSibling: 'before',
} as const;

/**
 * The level of one signature, limited by its format.
 * @throws {TaskFailure} `authority.missing` when the level needs an authority and none is configured
 */
export function levelOf(
  level: SignatureLevel,
  { xades }: FormatParameters,
  { timestamps, evidence }: SigningServices,
): SignatureLevel {
  if (xades?.completeReferences !== true || level === 'LT' || level === 'LTA') return level;
  if (timestamps !== undefined && evidence !== undefined) return 'LT';
  throw new TaskFailure(
    'authority.missing',
    'A signature with complete references needs a time-stamp authority, and none is configured.',
  );
}

/** The parameters, then without the image, then without any appearance. */
export function simplerParameters(form: FormatParameters): readonly FormatParameters[] {
  const { appearance } = form.pades ?? {};
  if (appearance === undefined) return [form];
  if (appearance.image === undefined) return [form, invisible(form)];
  const { image: _, ...text } = appearance;
  return [form, { ...form, pades: { ...form.pades, appearance: text } }, invisible(form)];
}

/** The same without an appearance. */
export function invisible(form: FormatParameters): FormatParameters {
  if (form.pades?.appearance === undefined) return form;
  const { appearance: _, ...pades } = form.pades;
  return { ...form, pades };
}

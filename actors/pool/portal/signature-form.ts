/** How the words of one signature become what the engine is told. */
import { readFileSync } from 'node:fs';
import type {
  PadesForm,
  SignatureFormat,
  SignatureLevel,
  SigningServices,
  XadesForm,
} from '../../../crypto/index.ts';
import type { SignatureWords } from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';

export interface FormOfSignature {
  readonly pades?: PadesForm;
  readonly cades?: { readonly detached: true; readonly armor: 'der'; readonly contentIdentifier?: string };
  readonly xades?: XadesForm;
}

export function formOfSignature(format: SignatureFormat, words: SignatureWords): FormOfSignature {
  const name = words.fieldName;
  switch (format) {
    case 'Pades':
      return { pades: padesForm(words) };
    case 'Cades':
      return { cades: { detached: true, armor: 'der', ...(name !== '' && { contentIdentifier: name }) } };
    case 'Xades':
      return { xades: { ...xadesForm(words), ...(name !== '' && { id: name }) } };
  }
}

function padesForm({ fieldName, name, reason, contactInfo, visible }: SignatureWords): PadesForm {
  return {
    fieldName,
    name,
    reason,
    ...(contactInfo !== null && { contactInfo }),
    ...(visible !== null && {
      appearance: {
        place: {
          page: visible.mark.pageNumber,
          left: visible.mark.topLeftX,
          top: visible.mark.topLeftY,
          width: visible.mark.width,
          height: visible.mark.height,
        },
        lines: visible.lines,
        ...(visible.image !== null && { image: readFileSync(visible.image) }),
      },
    }),
  };
}

/**
 * Others sign the same document before and after, so nobody signs anybody else's signature unless it is asked for.
 * Source: portal-gaps §6, `xadesOptions`.
 */
function xadesForm({ xades }: SignatureWords): XadesForm {
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
 * The level of one signature: as much as its form takes, where that is more.
 * @throws {TaskFailure} `authority.missing` when nobody is configured who could be asked
 */
export function levelOf(
  level: SignatureLevel,
  { xades }: FormOfSignature,
  { timestamps, evidence }: SigningServices,
): SignatureLevel {
  if (xades?.completeReferences !== true || level === 'LT' || level === 'LTA') return level;
  if (timestamps !== undefined && evidence !== undefined) return 'LT';
  throw new TaskFailure(
    'authority.missing',
    'A signature with complete references needs a time-stamp authority, and none is configured.',
  );
}

/** The form itself, then without its picture, then without anything drawn. */
export function plainerForms(form: FormOfSignature): readonly FormOfSignature[] {
  const { appearance } = form.pades ?? {};
  if (appearance === undefined) return [form];
  if (appearance.image === undefined) return [form, invisible(form)];
  const { image: _, ...text } = appearance;
  return [form, { ...form, pades: { ...form.pades, appearance: text } }, invisible(form)];
}

/** The same without anything drawn. */
export function invisible(form: FormOfSignature): FormOfSignature {
  if (form.pades?.appearance === undefined) return form;
  const { appearance: _, ...pades } = form.pades;
  return { ...form, pades };
}

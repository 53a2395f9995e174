/** How the words of one signature become what the engine is told. */
import { readFileSync } from 'node:fs';
import type { PadesForm, SignatureFormat, XadesForm } from '../../../crypto/index.ts';
import type { SignatureWords } from '../portal-tasks.ts';

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

/** Others sign the same document before and after, so nobody signs anybody else's signature. */
function xadesForm({ xades }: SignatureWords): XadesForm {
  if (xades?.signatureType === 'XmlElement' && xades.elementToSignIdentifier !== null) {
    return { packaging: 'element', elementId: xades.elementToSignIdentifier, coSignable: true };
  }
  return { packaging: 'enveloped', coSignable: true };
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

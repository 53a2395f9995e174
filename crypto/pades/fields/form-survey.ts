/**
 * Surveys a form for signing: names in use, the requested field, and signed fields
 * (ISO 32000-2, 12.7.4 and 12.7.5.5).
 */

import { CryptoError, type PadesFormat } from '../../core/types.ts';
import {
  asInteger,
  asName,
  type Field,
  fields,
  isNull,
  type PdfDict,
  type PdfDocument,
  unlistedSignatures,
} from '../../pdf/index.ts';

export interface SignedField {
  /** Partial names from the top, joined by dots. */
  readonly name: string;
  readonly dict: PdfDict;
  readonly signature: PdfDict;
}

export interface FormSurvey {
  /** Names of top-level fields. */
  readonly topNames: ReadonlySet<string>;
  readonly signed: readonly SignedField[];
  /** Fields on the path to the requested one, by full name, each with the kids that are only widgets. */
  readonly named: ReadonlyMap<string, NamedField>;
}

export interface NamedField {
  readonly field: Field;
  readonly widgets: readonly Field[];
  /** True when it has kids that are fields. */
  readonly hasFields: boolean;
}

/** Field for the signature. */
export type TargetField =
  | { readonly kind: 'empty'; readonly name: string; readonly found: NamedField }
  | {
      readonly kind: 'new';
      readonly name: string;
      /** The nearest existing ancestor. */
      readonly under: Field | undefined;
      /** Partial names below the ancestor, its own last. */
      readonly parts: readonly string[];
    };

/** SignaturesExist (table 225). */
const SIGNATURES_EXIST = 1;

/**
 * Reads the form; below the top level only for a requested field, and where the PDF may be signed. An invisible approval
 * changes no page, so the pages of a PDF that claims no signatures are not searched for it.
 */
export function surveyForm(pdf: PdfDocument, form: PadesFormat): FormSurvey {
  const flags = asInteger(pdf.resolve(pdf.dict(pdf.catalog.get('AcroForm'))?.get('SigFlags'))) ?? 0;
  const changesPages = form.appearance !== undefined || form.content !== undefined;
  const mayBeSigned = (flags & SIGNATURES_EXIST) !== 0 || form.certification !== undefined || changesPages;
  const whole = mayBeSigned || form.fieldName !== undefined;
  const wanted = form.fieldName === undefined ? undefined : new Set(pathOf(form.fieldName));
  const topNames = new Set<string>();
  const listed = new Set<number>();
  const signed: SignedField[] = [];
  const named = new Map<string, { field: Field; widgets: Field[]; hasFields: boolean }>();
  for (const field of whole ? fields(pdf) : fields(pdf, 0)) {
    if (field.depth === 0) topNames.add(field.name);
    if (field.reference !== undefined) listed.add(field.reference.number);
    const signature = field.type === 'Sig' ? pdf.dict(field.dict.get('V')) : undefined;
    if (signature !== undefined) signed.push({ name: field.name, dict: field.dict, signature });
    if (wanted === undefined) continue;
    const isField = field.dict.get('T') !== undefined;
    const known = named.get(field.name);
    if (known === undefined) {
      if (wanted.has(field.name)) named.set(field.name, { field, widgets: [], hasFields: false });
    } else if (!isField) known.widgets.push(field);
    const parent = isField ? named.get(field.name.slice(0, field.name.lastIndexOf('.'))) : undefined;
    if (parent !== undefined) parent.hasFields = true;
  }
  if (mayBeSigned) {
    for (const { name, dict } of unlistedSignatures(pdf, listed)) {
      topNames.add(name.split('.')[0] ?? '');
      const signature = pdf.dict(dict.get('V'));
      if (signature !== undefined) signed.push({ name, dict, signature });
    }
  }
  return { topNames, signed, named };
}

/** Splits `a.b.c` into `a`, `a.b`, `a.b.c`. */
function pathOf(name: string): readonly string[] {
  const parts = name.split('.');
  return parts.map((_part, index) => parts.slice(0, index + 1).join('.'));
}

/**
 * Selects the field to sign: the requested one, or a new one.
 * @throws {CryptoError} `request.invalid` when the name is not valid, or names another type of field or a signed one
 */
export function targetField(pdf: PdfDocument, survey: FormSurvey, form: PadesFormat): TargetField {
  const { fieldName } = form;
  if (fieldName === undefined) {
    const name = freeName(survey.topNames);
    return { kind: 'new', name, under: undefined, parts: [name] };
  }
  const path = pathOf(fieldName);
  const parts = fieldName.split('.');
  if (survey.signed.some(({ name }) => name === fieldName)) throw invalid(fieldName, 'is signed already');
  if (parts.includes('')) throw invalid(fieldName, 'is no name: one of its parts is empty');
  const found = survey.named.get(fieldName);
  if (found !== undefined) {
    assertEmpty(pdf, fieldName, found);
    return { kind: 'empty', name: fieldName, found };
  }
  let depth = path.length - 1;
  while (depth > 0 && !survey.named.has(path[depth - 1] ?? '')) depth--;
  const above = depth === 0 ? undefined : survey.named.get(path[depth - 1] ?? '');
  if (above !== undefined && (!above.hasFields || above.field.reference === undefined)) {
    throw invalid(
      fieldName,
      `can't be made, because ${path[depth - 1]} is a field that has no fields below it`,
    );
  }
  return { kind: 'new', name: fieldName, under: above?.field, parts: parts.slice(depth) };
}

function assertEmpty(pdf: PdfDocument, name: string, { field, hasFields }: NamedField): void {
  if (hasFields || field.type !== 'Sig')
    throw invalid(name, 'is taken by a field that is not for signatures');
  if (!isNull(pdf.resolve(field.dict.get('V')))) throw invalid(name, 'is signed already');
  if (field.reference === undefined) {
    throw invalid(name, 'is written into the list of fields and not an object that could be changed');
  }
}

function invalid(name: string, what: string): CryptoError {
  return new CryptoError('request.invalid', `The signature field ${JSON.stringify(name)} ${what}.`);
}

/** Returns `Signature1`, or the next number that is not in use. */
function freeName(taken: ReadonlySet<string>): string {
  let count = 1;
  while (taken.has(`Signature${count}`)) count++;
  return `Signature${count}`;
}

/** True for a field that is merged with its widget. */
export function isWidget(pdf: PdfDocument, { dict }: Field): boolean {
  return asName(pdf.resolve(dict.get('Subtype'))) === 'Widget';
}

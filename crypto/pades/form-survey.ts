/**
 * What signing has to know of a form: which names are taken, which field is meant, and which are signed already
 * (ISO 32000-2, 12.7.4 and 12.7.5.5).
 */
import {
  asInteger,
  asName,
  type Field,
  fields,
  isNull,
  type PdfDict,
  type PdfDocument,
} from '../pdf/index.ts';
import { CryptoError, type PadesForm } from '../types.ts';

export interface SignedField {
  readonly field: Field;
  readonly signature: PdfDict;
}

export interface FormSurvey {
  /** Names at the top of the form. */
  readonly topNames: ReadonlySet<string>;
  readonly signed: readonly SignedField[];
  /** The fields on the way to the one that is asked for, by full name, each with the kids that are mere widgets. */
  readonly named: ReadonlyMap<string, NamedField>;
}

export interface NamedField {
  readonly field: Field;
  readonly widgets: readonly Field[];
  /** Has kids that are fields of their own. */
  readonly hasFields: boolean;
}

/** Where the signature goes. */
export type TargetField =
  | { readonly kind: 'empty'; readonly name: string; readonly found: NamedField }
  | {
      readonly kind: 'new';
      readonly name: string;
      /** The nearest field above it that exists. */
      readonly under: Field | undefined;
      /** Partial names below that one, its own last. */
      readonly parts: readonly string[];
    };

/** SignaturesExist (table 225). */
const SIGNATURES_EXIST = 1;

/** A form without signatures is only looked at from the top, unless a certain field or a certification is wanted. */
export function surveyForm(pdf: PdfDocument, form: PadesForm): FormSurvey {
  const flags = asInteger(pdf.resolve(pdf.dict(pdf.catalog.get('AcroForm'))?.get('SigFlags'))) ?? 0;
  const whole =
    (flags & SIGNATURES_EXIST) !== 0 || form.fieldName !== undefined || form.certification !== undefined;
  const wanted = form.fieldName === undefined ? undefined : new Set(pathOf(form.fieldName));
  const topNames = new Set<string>();
  const signed: SignedField[] = [];
  const named = new Map<string, { field: Field; widgets: Field[]; hasFields: boolean }>();
  for (const field of whole ? fields(pdf) : fields(pdf, 0)) {
    if (field.depth === 0) topNames.add(field.name);
    const signature = field.type === 'Sig' ? pdf.dict(field.dict.get('V')) : undefined;
    if (signature !== undefined) signed.push({ field, signature });
    if (wanted === undefined) continue;
    const isField = field.dict.get('T') !== undefined;
    const known = named.get(field.name);
    if (known === undefined) {
      if (wanted.has(field.name)) named.set(field.name, { field, widgets: [], hasFields: false });
    } else if (!isField) known.widgets.push(field);
    const parent = isField ? named.get(field.name.slice(0, field.name.lastIndexOf('.'))) : undefined;
    if (parent !== undefined) parent.hasFields = true;
  }
  return { topNames, signed, named };
}

/** `a.b.c` as `a`, `a.b`, `a.b.c`. */
function pathOf(name: string): readonly string[] {
  const parts = name.split('.');
  return parts.map((_part, index) => parts.slice(0, index + 1).join('.'));
}

/**
 * The field to sign: the one that is asked for, or a new one.
 * @throws {CryptoError} `request.invalid` when the name can't be given, or is that of another or a signed field
 */
export function targetField(pdf: PdfDocument, survey: FormSurvey, form: PadesForm): TargetField {
  const { fieldName } = form;
  if (fieldName === undefined) {
    const name = freeName(survey.topNames);
    return { kind: 'new', name, under: undefined, parts: [name] };
  }
  const path = pathOf(fieldName);
  const parts = fieldName.split('.');
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

/** `Signature1`, or with the next number no other field of the form has. */
function freeName(taken: ReadonlySet<string>): string {
  let count = 1;
  while (taken.has(`Signature${count}`)) count++;
  return `Signature${count}`;
}

/** True for a field that is its own widget. */
export function isWidget(pdf: PdfDocument, { dict }: Field): boolean {
  return asName(pdf.resolve(dict.get('Subtype'))) === 'Widget';
}

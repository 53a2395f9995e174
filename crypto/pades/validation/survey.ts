/**
 * The places of a PDF where later changes can be permitted: pages for their annotations, fields for their values.
 */
import {
  asName,
  asReference,
  fields,
  items,
  type PdfDict,
  type PdfDocument,
  type Piece,
} from '../../pdf/index.ts';

export interface SurveyedPage {
  readonly number: number;
  readonly dict: PdfDict;
  /** 1-based, in the order of the document. */
  readonly ordinal: number;
}

export interface SurveyedField {
  readonly number: number;
  readonly dict: PdfDict;
  readonly name: string;
  readonly type: string | undefined;
  /** A signature is in it, or in the field it is a widget of. */
  readonly signed: boolean;
}

export interface Survey {
  /** Numbers of the nodes of the page tree, pages left out. */
  readonly nodes: ReadonlyMap<number, PdfDict>;
  readonly pages: readonly SurveyedPage[];
  /** Of nodes and pages. */
  readonly numbers: ReadonlySet<number>;
  /** By object number: fields, and the widgets that are their kids. */
  readonly fields: ReadonlyMap<number, SurveyedField>;
  /** Annotations that belong to no field, by object number, with the page they are on first. */
  readonly annotations: ReadonlyMap<number, SurveyedPage>;
}

/** @throws PdfDamage */
export function surveyDocument(pdf: PdfDocument): Survey {
  const { nodes, pages } = pageTree(pdf);
  const found = formFields(pdf);
  const annotations = new Map<number, SurveyedPage>();
  for (const page of pages) {
    for (const item of items(pdf.resolve(page.dict.get('Annots')))) {
      const number = asReference(item)?.number;
      if (number !== undefined && !found.has(number) && !annotations.has(number))
        annotations.set(number, page);
    }
  }
  const numbers = new Set([...nodes.keys(), ...pages.map(({ number }) => number)]);
  return { nodes, pages, numbers, fields: found, annotations };
}

function pageTree(pdf: PdfDocument): Pick<Survey, 'nodes' | 'pages'> {
  const nodes = new Map<number, PdfDict>();
  const pages: SurveyedPage[] = [];
  const seen = new Set<number>();
  const root = pdf.catalog.get('Pages');
  const open: Iterator<Piece>[] = [(root === undefined ? [] : [root]).values()];
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const next = last.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const number = asReference(next.value)?.number;
    if (number === undefined || seen.has(number)) continue;
    seen.add(number);
    const dict = pdf.dict(next.value);
    if (dict === undefined) continue;
    const kids = dict.get('Kids');
    if (kids !== undefined) {
      nodes.set(number, dict);
      open.push(items(pdf.resolve(kids)));
    } else if (asName(pdf.resolve(dict.get('Type'))) !== 'Pages') {
      pages.push({ number, dict, ordinal: pages.length + 1 });
    }
  }
  return { nodes, pages };
}

function formFields(pdf: PdfDocument): ReadonlyMap<number, SurveyedField> {
  const all = [...fields(pdf)];
  const signed = new Set(
    all
      .filter(({ type, dict }) => type === 'Sig' && pdf.dict(dict.get('V')) !== undefined)
      .map(({ name }) => name),
  );
  const found = new Map<number, SurveyedField>();
  for (const { reference, dict, name, type } of all) {
    if (reference === undefined) continue;
    found.set(reference.number, { number: reference.number, dict, name, type, signed: signed.has(name) });
  }
  return found;
}

/** Indexes the objects of a PDF that later revisions may change: pages for annotations, fields for values. */
import {
  asName,
  asReference,
  type ByteSlice,
  fields,
  items,
  type PdfDict,
  type PdfDocument,
} from '../../pdf/index.ts';

export interface SurveyedPage {
  /** Object number; undefined for a page written into the page tree, which changes with its node. */
  readonly number: number | undefined;
  readonly dict: PdfDict;
  /** 1-based page number. */
  readonly ordinal: number;
}

export interface SurveyedField {
  readonly number: number;
  readonly dict: PdfDict;
  readonly name: string;
  readonly type: string | undefined;
  /** True when it has a signature, or is a widget of a field with one. */
  readonly signed: boolean;
}

export interface DocumentSurvey {
  /** Nodes of the page tree by object number, without pages. */
  readonly nodes: ReadonlyMap<number, PdfDict>;
  readonly pages: readonly SurveyedPage[];
  /** Object numbers of nodes and pages. */
  readonly numbers: ReadonlySet<number>;
  /** Fields, and widgets that are kids of fields, by object number. */
  readonly fields: ReadonlyMap<number, SurveyedField>;
  /** Names of the fields. */
  readonly names: ReadonlySet<string>;
  /** All pages that list a field, a widget or another annotation, by its object number. */
  readonly places: ReadonlyMap<number, ReadonlySet<SurveyedPage>>;
  /** Annotations without a field, by object number, with the first page that lists them. */
  readonly annotations: ReadonlyMap<number, SurveyedPage>;
}

/** @throws PdfSyntaxError */
export function surveyDocument(pdf: PdfDocument): DocumentSurvey {
  const { nodes, pages } = pageTree(pdf);
  const found = formFields(pdf);
  const annotations = new Map<number, SurveyedPage>();
  const places = new Map<number, Set<SurveyedPage>>();
  for (const page of pages) {
    for (const item of items(pdf.resolve(page.dict.get('Annots')))) {
      const number = asReference(item)?.number;
      if (number === undefined) continue;
      places.set(number, (places.get(number) ?? new Set<SurveyedPage>()).add(page));
      if (!found.has(number) && !annotations.has(number)) annotations.set(number, page);
    }
  }
  const numbers = new Set([...nodes.keys(), ...pages.flatMap(({ number }) => number ?? [])]);
  const names = new Set(Array.from(found.values(), ({ name }) => name));
  return { nodes, pages, numbers, fields: found, names, places, annotations };
}

function pageTree(pdf: PdfDocument): Pick<DocumentSurvey, 'nodes' | 'pages'> {
  const nodes = new Map<number, PdfDict>();
  const pages: SurveyedPage[] = [];
  const seen = new Set<number>();
  const root = pdf.catalog.get('Pages');
  const open: Iterator<ByteSlice>[] = [(root === undefined ? [] : [root]).values()];
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const next = last.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const number = asReference(next.value)?.number;
    if (number !== undefined && seen.has(number)) continue;
    if (number !== undefined) seen.add(number);
    const dict = pdf.dict(next.value);
    if (dict === undefined) continue;
    const kids = dict.get('Kids');
    if (kids !== undefined) {
      if (number !== undefined) nodes.set(number, dict);
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

/**
 * Warns of what a PDF holds that its signers may not see: looks of hidden fields, looks that differ from their values,
 * scripts, XFA, layers, content of other files, usage rights, and what programs mend in ways of their own (ISO 32000-2, 8.11, 12.5.3, 12.6.4.17, 12.7.4.3 and 12.8.2.3). A warning keeps nobody from signing.
 */

import {
  CryptoError,
  type PadesFormat,
  type SigningWarning,
  type SigningWarningCode,
} from '../core/types.ts';
import { WorkBudget, withinWorkBudget } from '../core/work-budget.ts';
import { lettersWithoutGlyph } from '../pdf/fonts/shaped-text.ts';
import {
  asName,
  asReference,
  asText,
  type ByteSlice,
  fields,
  inheritedByField,
  isNull,
  items,
  type PdfDict,
  type PdfDocument,
  PdfSyntaxError,
  pages,
  referencesIn,
  treeFaults,
} from '../pdf/index.ts';
import { drawsFromElsewhere } from './shown-values/content-elsewhere.ts';
import { streamText } from './shown-values/field-value.ts';
import { contradictsValue, paintsSomething } from './shown-values/stored-look.ts';
import { isOffScreen } from './validation/field-drawing.ts';

/** Most warnings of one code for one file. */
const MAX_EACH = 5;
/** Most characters of the name of a field. */
const MAX_NAME = 100;
/** Steps for one file: all but the largest forms are examined whole, and those end after some 25 ms. */
const MAX_STEPS = 10_000;
const STEPS_PER_OBJECT = 5;
/** Most contents, forms and pictures of pages that are looked at. */
const MAX_DRAWN = 20_000;

const MEANINGS: {
  readonly [code in Exclude<SigningWarningCode, 'pdf.no-glyph'>]: (object: string) => string;
} = {
  'pdf.hidden-look': (object) =>
    `The field ${object} is hidden and has a look: it comes to light when the field is shown.`,
  'pdf.look-differs': (object) => `The field ${object} shows something else than its value.`,
  'pdf.script': (object) => `${object} has JavaScript, which can change what is shown.`,
  'pdf.xfa': (object) =>
    `${object} is described twice (XFA): programs that draw XFA may show something else than the pages.`,
  'pdf.layer': (object) =>
    `The layer ${object} is hidden, or seen only on a screen or only in print: others may see another page.`,
  'pdf.elsewhere': (object) => `The ${object} draws what stands in another file: no signature covers it.`,
  'pdf.usage-rights': (object) =>
    `${object} has usage rights of a reader, which end with any change: readers say so when they open the signed file.`,
  'pdf.pages': (object) =>
    `The page tree has a fault at ${object}, which programs mend in ways of their own: they may show other pages.`,
  'pdf.repair': (object) =>
    `${object} has cross-references of both kinds, which programs repair when they open it; some call its signatures broken then. Save it anew before it is signed.`,
  'pdf.not-examined': (object) =>
    `${object} could not be examined whole for hidden looks, other looks and scripts.`,
};

/** Functions that viewers have for what a person types, by the event that calls them. They show a value in another form, or refuse it. One call with constants. */
const FORMATTING: { readonly [event: string]: RegExp } = {
  K: /^\s*AF(?:Number|Percent|Date|Time|Special)_Keystroke(?:Ex)?\s*\((?:"[^"\\]*"|'[^'\\]*'|[\s,\w.+-])*\)\s*(?:;\s*)?$/,
  F: /^\s*AF(?:Number|Percent|Date|Time|Special)_Format(?:Ex)?\s*\((?:"[^"\\]*"|'[^'\\]*'|[\s,\w.+-])*\)\s*(?:;\s*)?$/,
  V: /^\s*AFRange_Validate\s*\((?:"[^"\\]*"|'[^'\\]*'|[\s,\w.+-])*\)\s*(?:;\s*)?$/,
};

/** Warns of letters in the texts that a signature draws which no font has. @throws {CryptoError} `font.missing` */
export function letterWarnings(texts: readonly string[]): readonly SigningWarning[] {
  return [...lettersWithoutGlyph(texts)].map(([fonts, letters]) => {
    const object = [...letters].join(', ');
    const remedy =
      fonts === undefined
        ? 'Write them in other letters.'
        : `The Debian package ${fonts} has them: install it, and restart.`;
    const message = `No font that is installed has ${object}: boxes are drawn in their place. ${remedy}`;
    return { code: 'pdf.no-glyph', object, message };
  });
}

/** All texts that a signature draws. */
export function drawnTexts({ appearance, content }: PadesFormat): readonly string[] {
  const values = (content?.fields ?? []).map(({ value }) => value ?? '');
  return [
    ...(appearance?.lines ?? []),
    ...(content?.stamps ?? []).flatMap(({ lines = [] }) => lines),
    ...values,
  ];
}

/** Returns at most five warnings of each code. Costs nothing but steps of its own: a file that is too much for it is named as such. */
export function signingWarnings(pdf: PdfDocument): readonly SigningWarning[] {
  const found = new Warnings();
  const unexamined = (): void => found.add('pdf.not-examined', 'The file');
  try {
    withinWorkBudget(() => new Search(pdf, found).run(), unexamined);
  } catch (error) {
    if (!(error instanceof PdfSyntaxError) && !(error instanceof CryptoError)) throw error;
    unexamined();
  }
  return found.all;
}

class Warnings {
  readonly all: SigningWarning[] = [];

  add(code: keyof typeof MEANINGS, named: string): void {
    const object = named.length > MAX_NAME ? `${named.slice(0, MAX_NAME)}…` : named;
    const same = this.all.filter((one) => one.code === code);
    if (same.length >= MAX_EACH || same.some((one) => one.object === object)) return;
    this.all.push({ code, object, message: MEANINGS[code](object) });
  }
}

class Search {
  readonly #pdf: PdfDocument;
  readonly #found: Warnings;
  readonly #budget = new WorkBudget({ limit: MAX_STEPS });
  readonly #drawn = new WorkBudget({ limit: MAX_DRAWN });
  readonly #seen = new Set<number>();

  constructor(pdf: PdfDocument, found: Warnings) {
    this.#pdf = pdf;
    this.#found = found;
  }

  run(): void {
    const { catalog } = this.#pdf;
    const names = this.#pdf.dict(catalog.get('Names'))?.get('JavaScript');
    if (this.#isScript(catalog.get('OpenAction')) || this.#hasScript(catalog) || this.#hasNamed(names))
      this.#script('The document');
    this.#outlines();
    const permissions = this.#pdf.dict(catalog.get('Perms'));
    if (['UR3', 'UR'].some((name) => this.#pdf.dict(permissions?.get(name)) !== undefined))
      this.#found.add('pdf.usage-rights', 'The document');
    const form = this.#pdf.dict(catalog.get('AcroForm'));
    if (!isNull(this.#pdf.resolve(form?.get('XFA')))) this.#found.add('pdf.xfa', 'The form');
    this.#layers();
    if (this.#pdf.xref.isMixed === true) this.#found.add('pdf.repair', 'The file');
    for (const { page } of treeFaults(this.#pdf, () => this.#budget.spend(1)))
      this.#found.add('pdf.pages', `page ${page}`);
    for (const { dict, reference, type, name } of fields(this.#pdf)) {
      if (reference !== undefined) this.#seen.add(reference.number);
      this.#widget(dict, type, name);
    }
    let page = 0;
    const drawn = new Set<number>();
    for (const tree of pages(this.#pdf)) {
      const { dict } = tree;
      page++;
      this.#spend();
      const place = `page ${page}`;
      if (this.#hasScript(dict)) this.#script(`The ${place}`);
      if (drawsFromElsewhere(this.#pdf, tree, drawn, () => this.#drawn.spend(1)))
        this.#found.add('pdf.elsewhere', place);
      const annotations = dict.get('Annots');
      if (annotations === undefined) continue;
      for (const item of items(this.#pdf.resolve(annotations))) this.#annotation(item, place);
    }
  }

  /** Layers that are off, or whose usage is one for the screen or for print (8.11.4). */
  #layers(): void {
    const properties = this.#pdf.dict(this.#pdf.catalog.get('OCProperties'));
    const usual = this.#pdf.dict(properties?.get('D'));
    const isOff = asName(this.#pdf.resolve(usual?.get('BaseState'))) === 'OFF';
    const off = new Set(referencesIn(this.#pdf.resolve(usual?.get('OFF'))));
    const on = new Set(referencesIn(this.#pdf.resolve(usual?.get('ON'))));
    for (const item of items(this.#pdf.resolve(properties?.get('OCGs')))) {
      this.#spend();
      const group = this.#pdf.dict(item);
      const number = asReference(item)?.number ?? -1;
      const usage = this.#pdf.dict(group?.get('Usage'));
      const states = ['View', 'Print'].map((event) =>
        asName(this.#pdf.resolve(this.#pdf.dict(usage?.get(event))?.get(`${event}State`))),
      );
      if (off.has(number) || (isOff && !on.has(number)) || states.includes('OFF'))
        this.#found.add('pdf.layer', asText(this.#pdf.resolve(group?.get('Name'))) ?? '');
    }
  }

  #annotation(item: ByteSlice, place: string): void {
    const number = asReference(item)?.number;
    if (number !== undefined) {
      if (this.#seen.has(number)) return;
      this.#seen.add(number);
    }
    const dict = this.#pdf.dict(item);
    if (dict === undefined) return;
    const type = asName(this.#pdf.resolve(dict.get('Subtype')));
    if (type === 'Widget') {
      const name = asText(this.#pdf.resolve(dict.get('T'))) ?? `on ${place}`;
      this.#widget(dict, asName(this.#pdf.resolve(inheritedByField(this.#pdf, dict, 'FT'))), name);
      return;
    }
    this.#spend();
    if (this.#isScript(dict.get('A')) || this.#hasScript(dict))
      this.#script(`A ${type ?? 'mark'} on ${place}`);
  }

  #widget(dict: PdfDict, type: string | undefined, name: string): void {
    this.#spend();
    if (this.#isScript(dict.get('A')) || this.#hasScript(dict)) this.#script(`The field ${name}`);
    if (dict.get('AP') === undefined) return;
    const spend = (steps: number): void => this.#budget.spend(steps);
    if (isOffScreen(this.#pdf, dict)) {
      if (paintsSomething(this.#pdf, dict, spend)) this.#found.add('pdf.hidden-look', name);
    } else if (contradictsValue(this.#pdf, dict, type, spend)) this.#found.add('pdf.look-differs', name);
  }

  #script(object: string): void {
    this.#found.add('pdf.script', object);
  }

  #spend(): void {
    this.#budget.spend(STEPS_PER_OBJECT);
  }

  /** True for a script among the additional actions of an object (12.6.3). */
  #hasScript(dict: PdfDict): boolean {
    const actions = dict.get('AA');
    const events = actions && this.#pdf.dict(actions);
    if (events === undefined) return false;
    return events.entries.some((entry) =>
      this.#isScript(events.valueAt(entry), FORMATTING[events.keyOf(entry)]),
    );
  }

  /** @param harmless texts of scripts that are none */
  #isScript(first: ByteSlice | undefined, harmless?: RegExp): boolean {
    const open = first === undefined ? [] : [first];
    while (open.length > 0) {
      const action = this.#pdf.dict(open.pop());
      if (action === undefined) continue;
      this.#spend();
      const script = action.get('JS');
      if (script !== undefined) {
        const text = asText(this.#pdf.resolve(script)) ?? streamText(this.#pdf, script) ?? '?';
        if (text.trim() !== '' && harmless?.test(text) !== true) return true;
      }
      const next = action.get('Next');
      if (next === undefined) continue;
      if (this.#pdf.dict(next) === undefined) this.#addTo(open, next);
      else open.push(next);
    }
    return false;
  }

  /** True for a tree of names with a script (7.7.4). */
  #hasNamed(root: ByteSlice | undefined): boolean {
    const open = root === undefined ? [] : [root];
    while (open.length > 0) {
      const node = this.#pdf.dict(open.pop());
      this.#spend();
      const [, action] = items(this.#pdf.resolve(node?.get('Names')));
      if (action !== undefined) return true;
      this.#addTo(open, node?.get('Kids'));
    }
    return false;
  }

  #addTo(open: ByteSlice[], list: ByteSlice | undefined): void {
    for (const item of items(this.#pdf.resolve(list))) {
      this.#spend();
      open.push(item);
    }
  }

  /** Bookmarks (12.3.3): each names its first kid and the one after it. */
  #outlines(): void {
    const root = this.#pdf.catalog.get('Outlines');
    const open = root === undefined ? [] : [root];
    const seen = new Set<number>();
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const number = asReference(next)?.number ?? -1;
      const item = seen.has(number) ? undefined : this.#pdf.dict(next);
      if (item === undefined) continue;
      seen.add(number);
      this.#spend();
      if (this.#isScript(item.get('A')))
        this.#script(`The bookmark ${asText(this.#pdf.resolve(item.get('Title'))) ?? ''}`);
      for (const key of ['Next', 'First']) {
        const other = item.get(key);
        if (other !== undefined) open.push(other);
      }
    }
  }
}

/** Builds the catalogue of a composed PDF from the document-level objects of its parts. */

import { asString } from '../syntax/strings.ts';
import {
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  items,
  type PdfDict,
  type Reference,
} from '../syntax/values.ts';
import { referenceText } from '../update/incremental-update.ts';
import { nameObject } from '../update/rewrite.ts';
import type { FormCopy } from './form-copy.ts';
import { type Importer, treeEntries } from './import.ts';
import type { NewPdf } from './new-pdf.ts';

export interface PartCopy {
  readonly pages: readonly Reference[];
  readonly outline: readonly OutlineEntry[];
  readonly form?: FormCopy | undefined;
  readonly layers?: LayerCopy | undefined;
  readonly attachments: readonly AttachmentCopy[];
  readonly associated: readonly string[];
  readonly labels: ReadonlyMap<number, string>;
  readonly language?: string | undefined;
  readonly isVersion2: boolean;
}

/** @param tree root of the page tree */
export function catalogText(out: NewPdf, tree: Reference, parts: readonly PartCopy[]): string {
  const some = (key: string, value: string | undefined) => (value === undefined ? '' : `/${key} ${value}`);
  const outline = writeOutline(
    out,
    parts.flatMap((part) => part.outline),
  );
  const files = attachmentsText(parts.flatMap((part) => part.attachments));
  const associated = parts.flatMap((part) => part.associated);
  return (
    `<</Type/Catalog/Pages ${referenceText(tree)}` +
    (parts.some(({ isVersion2 }) => isVersion2) ? '/Version/2.0' : '') +
    some('Lang', parts.find(({ language }) => language !== undefined)?.language) +
    (outline === undefined ? '' : `/Outlines ${referenceText(outline)}/PageMode/UseOutlines`) +
    some('AcroForm', formText(parts.flatMap(({ form }) => form ?? []))) +
    some('OCProperties', layersText(parts.flatMap(({ layers }) => layers ?? []))) +
    some('PageLabels', labelsText(parts.map(({ labels, pages }) => ({ labels, pages: pages.length })))) +
    (files === undefined ? '' : `/Names<</EmbeddedFiles ${files}>>`) +
    (associated.length === 0 ? '' : `/AF[${associated.join(' ')}]`) +
    '>>'
  );
}

/** Merges forms to the value of `AcroForm` (ISO 32000-2, table 224); undefined when there are no fields. */
function formText(forms: readonly FormCopy[]): string | undefined {
  if (forms.length === 0) return undefined;
  const order = forms.flatMap((form) => form.order);
  const resources = resourcesText(forms);
  return (
    `<</Fields[${forms.flatMap(({ fields }) => fields).join(' ')}]` +
    (forms.some(({ needAppearances }) => needAppearances) ? '/NeedAppearances true' : '') +
    (order.length === 0 ? '' : `/CO[${order.join(' ')}]`) +
    `${resources}>>`
  );
}

/** The first file wins for a repeated resource name: these are standard font names, such as `Helv`. */
function resourcesText(forms: readonly FormCopy[]): string {
  const all = new Map<string, Map<string, string>>();
  for (const { resources } of forms) {
    for (const [category, values] of resources) {
      const known = all.get(category) ?? new Map<string, string>();
      for (const [name, value] of values) if (!known.has(name)) known.set(name, value);
      all.set(category, known);
    }
  }
  if (all.size === 0) return '';
  let text = '';
  for (const [category, values] of all) {
    const pairs = [...values].map(([name, value]) => `${nameObject(name)} ${value}`);
    text += `${nameObject(category)}<<${pairs.join('')}>>`;
  }
  return `/DR<<${text}>>`;
}

// Copies optional content groups and their initial visibility (ISO 32000-2, 8.11).

/** References and arrays, as text. */
interface LayerCopy {
  readonly groups: readonly string[];
  readonly hidden: readonly string[];
  readonly order: readonly string[];
  readonly locked: readonly string[];
  readonly choices: readonly string[];
  readonly events: readonly string[];
}

export function copyLayers(importer: Importer): LayerCopy | undefined {
  const { pdf } = importer;
  const properties = pdf.dict(pdf.catalog.get('OCProperties'));
  const groups = references(importer, properties?.get('OCGs'));
  if (properties === undefined || groups.length === 0) return undefined;
  const shown = pdf.dict(properties.get('D'));
  const list = (key: string) =>
    [...items(pdf.resolve(shown?.get(key)))].map((slice) => importer.value(slice));
  return {
    groups: groups.map((number) => importer.reference(number)),
    hidden: hiddenOf(importer, shown, groups).map((number) => importer.reference(number)),
    order: list('Order'),
    locked: list('Locked'),
    choices: list('RBGroups'),
    events: list('AS'),
  };
}

/** Returns the groups that are not switched on, when the base state is OFF. */
function hiddenOf(
  importer: Importer,
  shown: PdfDict | undefined,
  groups: readonly number[],
): readonly number[] {
  const off = references(importer, shown?.get('OFF'));
  if (asName(importer.pdf.resolve(shown?.get('BaseState'))) !== 'OFF') return off;
  const on = new Set(references(importer, shown?.get('ON')));
  return groups.filter((number) => !on.has(number));
}

function references({ pdf }: Importer, slice: ByteSlice | undefined): readonly number[] {
  const numbers: number[] = [];
  for (const item of items(pdf.resolve(slice))) {
    const number = asReference(item)?.number;
    if (number !== undefined) numbers.push(number);
  }
  return numbers;
}

/** Returns the value of `OCProperties`; undefined when no file has layers. */
function layersText(copies: readonly LayerCopy[]): string | undefined {
  if (copies.length === 0) return undefined;
  const all = (of: (copy: LayerCopy) => readonly string[]) => `[${copies.flatMap(of).join(' ')}]`;
  return (
    `<</OCGs ${all(({ groups }) => groups)}/D<</Order ${all(({ order }) => order)}` +
    `/OFF ${all(({ hidden }) => hidden)}/Locked ${all(({ locked }) => locked)}` +
    `/RBGroups ${all(({ choices }) => choices)}/AS ${all(({ events }) => events)}>>>>`
  );
}

/** Copies embedded files (ISO 32000-2, 7.11.4) and page labels (12.4.2). */
interface AttachmentCopy {
  /** Bytes of the name, one character each. */
  readonly name: string;
  /** The file specification, as text. */
  readonly file: string;
}

export function copyAttachments(importer: Importer): readonly AttachmentCopy[] {
  const { pdf } = importer;
  const root = pdf.dict(pdf.catalog.get('Names'))?.get('EmbeddedFiles');
  const copies: AttachmentCopy[] = [];
  for (const [key, value] of treeEntries(pdf, root, 'Names')) {
    const name = asString(key)?.toString('latin1');
    if (name !== undefined) copies.push({ name, file: importer.value(value) });
  }
  return copies;
}

/** Returns the associated files of the document, references as text. */
export function copyAssociated(importer: Importer): readonly string[] {
  const { pdf } = importer;
  return [...items(pdf.resolve(pdf.catalog.get('AF')))].map((chunk) => importer.value(chunk));
}

/** Returns the value of `EmbeddedFiles`; undefined without files. Repeated names get a number. */
function attachmentsText(copies: readonly AttachmentCopy[]): string | undefined {
  if (copies.length === 0) return undefined;
  const byName = new Map<string, string>();
  for (const { name, file } of copies) {
    let own = name;
    for (let number = 2; byName.has(own); number++) own = `${name}${numbered(name, number)}`;
    byName.set(own, file);
  }
  // A name tree is sorted by bytes.
  const sorted = [...byName].sort(([one], [other]) => (one < other ? -1 : 1));
  const pairs = sorted.map(([name, file]) => `<${Buffer.from(name, 'latin1').toString('hex')}> ${file}`);
  return `<</Names[${pairs.join(' ')}]>>`;
}

/** Appends a number in the encoding of the name: two bytes per character after a UTF-16 byte order mark. */
function numbered(name: string, number: number): string {
  const text = ` (${number})`;
  return name.startsWith('\xfe\xff') ? text.replace(/[\s\S]/g, '\0$&') : text;
}

/** Returns the page label rules by the index of their first page, as text; empty without labels. */
export function copyLabels(importer: Importer): ReadonlyMap<number, string> {
  const { pdf } = importer;
  const labels = new Map<number, string>();
  for (const [key, value] of treeEntries(pdf, pdf.catalog.get('PageLabels'), 'Nums')) {
    const index = asInteger(key);
    if (index !== undefined && index >= 0) labels.set(index, importer.value(value));
  }
  return labels;
}

/** Returns the value of `PageLabels`; undefined when no file has page labels. */
function labelsText(
  files: readonly { readonly labels: ReadonlyMap<number, string>; readonly pages: number }[],
): string | undefined {
  if (files.every(({ labels }) => labels.size === 0)) return undefined;
  const rules: string[] = [];
  let before = 0;
  for (const { labels, pages } of files) {
    const own = [...labels].filter(([index]) => index < pages).sort(([one], [other]) => one - other);
    if (own[0]?.[0] !== 0) rules.push(`${before} <</S/D/St ${before + 1}>>`);
    rules.push(...own.map(([index, rule]) => `${before + index} ${rule}`));
    before += pages;
  }
  return `<</Nums[${rules.join(' ')}]>>`;
}

/** Copies the outlines of the files, each below an entry for its file (ISO 32000-2, 12.3.3). */
export interface OutlineEntry {
  /** Keys and values: title, destination, style. */
  readonly keys: string;
  readonly kids: readonly OutlineEntry[];
  readonly isOpen: boolean;
}

/** Most outline entries; the rest is dropped. */
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 50;

const COPIED_KEYS = ['Title', 'Dest', 'A', 'C', 'F'];

/** Copies the outline of a file; empty when it has none. */
export function copyOutline(importer: Importer): readonly OutlineEntry[] {
  const { pdf } = importer;
  const seen = new Set<number>();
  let count = 0;
  const level = (first: ByteSlice | undefined, depth: number): readonly OutlineEntry[] => {
    const entries: OutlineEntry[] = [];
    for (let next = first; next !== undefined && depth < MAX_DEPTH; ) {
      const number = asReference(next)?.number;
      const dict = pdf.dict(next);
      if (number === undefined || dict === undefined || seen.has(number) || ++count > MAX_ENTRIES) break;
      seen.add(number);
      const kids = level(dict.get('First'), depth + 1);
      const isOpen = (asInteger(pdf.resolve(dict.get('Count'))) ?? 0) > 0;
      entries.push({ keys: keysOf(importer, dict), kids, isOpen });
      next = dict.get('Next');
    }
    return entries;
  };
  return level(pdf.dict(pdf.catalog.get('Outlines'))?.get('First'), 0);
}

function keysOf(importer: Importer, dict: PdfDict): string {
  let keys = '';
  for (const key of COPIED_KEYS) {
    const value = dict.get(key);
    if (value === undefined) continue;
    const text = key === 'Dest' ? importer.destination(value) : importer.value(value);
    if (text !== undefined) keys += `/${key} ${text}`;
  }
  return dict.get('Title') === undefined ? `/Title()${keys}` : keys;
}

/** Writes the entries; undefined when there are none. */
function writeOutline(out: NewPdf, entries: readonly OutlineEntry[]): Reference | undefined {
  if (entries.length === 0) return undefined;
  const root = out.reserve();
  out.put(root, `<</Type/Outlines${writeLevel(out, entries, root)}/Count ${shownCount(entries)}>>`);
  return root;
}

/** @returns the keys /First and /Last */
function writeLevel(out: NewPdf, entries: readonly OutlineEntry[], parent: Reference): string {
  const references = entries.map(() => out.reserve());
  const at = (index: number, key: string): string => {
    const reference = references[index];
    return reference === undefined ? '' : `/${key} ${referenceText(reference)}`;
  };
  for (const [index, { keys, kids, isOpen }] of entries.entries()) {
    const own = references[index];
    if (own === undefined) continue;
    const below =
      kids.length === 0
        ? ''
        : `${writeLevel(out, kids, own)}/Count ${isOpen ? shownCount(kids) : -shownCount(kids)}`;
    out.put(
      own,
      `<<${keys}/Parent ${referenceText(parent)}${at(index - 1, 'Prev')}${at(index + 1, 'Next')}${below}>>`,
    );
  }
  return `${at(0, 'First')}${at(references.length - 1, 'Last')}`;
}

/** Counts the visible entries, with closed entries closed (/Count). */
function shownCount(entries: readonly OutlineEntry[]): number {
  return entries.reduce((sum, { kids, isOpen }) => sum + 1 + (isOpen ? shownCount(kids) : 0), 0);
}

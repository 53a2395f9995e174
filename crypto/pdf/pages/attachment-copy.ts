/** Copies embedded files (ISO 32000-2, 7.11.4) and page labels (12.4.2). */

import { asString } from '../syntax/strings.ts';
import { asInteger, items } from '../syntax/values.ts';
import type { Importer } from './import.ts';
import { treeEntries } from './trees.ts';

export interface AttachmentCopy {
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
export function attachmentsText(copies: readonly AttachmentCopy[]): string | undefined {
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
export function labelsText(
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

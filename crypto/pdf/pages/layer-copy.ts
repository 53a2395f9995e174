/** Copies optional content groups and their initial visibility (ISO 32000-2, 8.11). */
import { asName, asReference, type ByteSlice, items, type PdfDict } from '../syntax/values.ts';
import type { Importer } from './import.ts';

/** References and arrays, as text. */
export interface LayerCopy {
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
export function layersText(copies: readonly LayerCopy[]): string | undefined {
  if (copies.length === 0) return undefined;
  const all = (of: (copy: LayerCopy) => readonly string[]) => `[${copies.flatMap(of).join(' ')}]`;
  return (
    `<</OCGs ${all(({ groups }) => groups)}/D<</Order ${all(({ order }) => order)}` +
    `/OFF ${all(({ hidden }) => hidden)}/Locked ${all(({ locked }) => locked)}` +
    `/RBGroups ${all(({ choices }) => choices)}/AS ${all(({ events }) => events)}>>>>`
  );
}

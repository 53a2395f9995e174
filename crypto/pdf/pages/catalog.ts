/** Builds the catalogue of a composed PDF from the document-level objects of its parts. */

import type { Reference } from '../syntax/values.ts';
import { referenceText } from '../update/incremental-update.ts';
import { nameObject } from '../update/rewrite.ts';
import { type AttachmentCopy, attachmentsText, labelsText } from './attachment-copy.ts';
import type { FormCopy } from './form-copy.ts';
import { type LayerCopy, layersText } from './layer-copy.ts';
import type { NewPdf } from './new-pdf.ts';
import { type OutlineEntry, writeOutline } from './outline-copy.ts';

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

/**
 * Adds the widget of a signature to the structure tree of a tagged PDF (ISO 32000-2, 14.7.4 and 14.7.5; ISO 14289-1,
 * 7.18.3 and 7.18.4), so that the file still conforms to PDF/UA or PDF/A level A.
 */
import {
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  isArray,
  isNull,
  items,
  type Page,
  type PdfDict,
  type PdfDocument,
  type Reference,
  sourceText,
} from '../../pdf/index.ts';
import {
  type DictUpdate,
  type IncrementalUpdate,
  referenceText,
} from '../../pdf/update/incremental-update.ts';

/** Most levels of a number tree. */
const MAX_DEPTH = 32;
/** Most structure parents; a tree that claims more stays unchanged. */
const MAX_TAGS = 1 << 30;

/**
 * @returns the key of the widget in the parent tree; undefined when the document has no structure that
 * can be extended
 */
export function tagWidget(draft: IncrementalUpdate, page: Page, widget: Reference): number | undefined {
  const { pdf, catalog } = draft;
  const rootReference = asReference(catalog.get('StructTreeRoot'));
  const root = pdf.dict(catalog.get('StructTreeRoot'));
  if (rootReference === undefined || root === undefined) return undefined;
  const highest = highestKey(pdf, pdf.dict(root.get('ParentTree')), 0);
  if (highest === undefined) return undefined;
  const next = asInteger(pdf.resolve(root.get('ParentTreeNextKey'))) ?? 0;
  const key = Math.max(0, highest + 1, next);
  if (key > MAX_TAGS) return undefined;
  const tree = draft.dict(rootReference, root);
  const parent = documentElement(pdf, root) ?? { reference: rootReference, dict: root };
  const element = referenceText(
    draft.add(
      `<</Type/StructElem/S/Form/P ${referenceText(parent.reference)}/Pg ${referenceText(page.reference)}` +
        `/K<</Type/OBJR/Obj ${referenceText(widget)}/Pg ${referenceText(page.reference)}>>>>`,
    ),
  );
  appendKid(pdf, draft.dict(parent.reference, parent.dict), element);
  const parents = tree.child('ParentTree');
  if (isNull(pdf.resolve(parents.get('Kids')))) parents.append('Nums', `${key} ${element}`);
  else {
    const leaf = draft.add(`<</Nums[${key} ${element}]/Limits[${key} ${key}]>>`);
    parents.append('Kids', referenceText(leaf));
  }
  tree.set('ParentTreeNextKey', String(key + 1));
  if (page.dict.get('Tabs') === undefined) draft.dict(page.reference, page.dict).set('Tabs', '/S');
  return key;
}

/** Returns the last key of a number tree; -1 for an empty one, undefined for one that can't be read. */
function highestKey(pdf: PdfDocument, node: PdfDict | undefined, depth: number): number | undefined {
  if (node === undefined) return depth === 0 ? -1 : undefined;
  if (depth > MAX_DEPTH) return undefined;
  const kids = pdf.resolve(node.get('Kids'));
  if (isArray(kids)) {
    const last = lastItems(kids, 1)[0];
    return last === undefined ? -1 : highestKey(pdf, pdf.dict(last), depth + 1);
  }
  const numbers = pdf.resolve(node.get('Nums'));
  if (isNull(numbers)) return -1;
  const pair = lastItems(numbers, 2);
  return pair.length === 0 ? -1 : asInteger(pdf.resolve(pair[0]));
}

function lastItems(array: ByteSlice, count: number): readonly ByteSlice[] {
  const last: ByteSlice[] = [];
  for (const item of items(array)) {
    last.push(item);
    if (last.length > count) last.shift();
  }
  return last;
}

/** Returns the root structure element, when there is exactly one. */
function documentElement(
  pdf: PdfDocument,
  root: PdfDict,
): { readonly reference: Reference; readonly dict: PdfDict } | undefined {
  const kids = root.get('K');
  const resolved = pdf.resolve(kids);
  const [only, second] = isArray(resolved) ? [...lastItems(resolved, 2)] : [kids];
  const reference = asReference(only);
  const dict = pdf.dict(only);
  if (second !== undefined || reference === undefined || dict === undefined) return undefined;
  return asName(pdf.resolve(dict.get('S'))) === 'Document' ? { reference, dict } : undefined;
}

function appendKid(pdf: PdfDocument, parent: DictUpdate, element: string): void {
  const kids = parent.get('K');
  const resolved = pdf.resolve(kids);
  if (kids === undefined || isNull(resolved)) parent.set('K', `[${element}]`);
  else if (isArray(resolved)) parent.append('K', element);
  else parent.set('K', `[${sourceText(kids)} ${element}]`);
}

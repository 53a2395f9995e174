/**
 * The incremental update that adds a signature to a PDF, complete but for the signature value
 * (ETSI EN 319 142-1, clauses 5 and 6.3; ISO 32000-2, 12.7.5.5 and 12.8.1).
 */
import { maxSignedDataLength } from '../cms/build.ts';
import {
  appendItem,
  asInteger,
  asReference,
  type ByteSource,
  fields,
  firstPage,
  firstUnusedNumber,
  isArray,
  type Page,
  type PdfDocument,
  type Reference,
  type RevisionObject,
  spliceDict,
  withPdf,
  writeRevision,
} from '../pdf/index.ts';
import { CryptoError, type DigestName, type Signer } from '../types.ts';
import { assertCertificationAllowsSigning, assertFieldAllowsSigning } from './permissions.ts';

export interface PadesOptions {
  readonly signer: Signer;
  /** Claimed signing time, milliseconds since the epoch; it goes into /M. */
  readonly at: number;
  readonly digest: DigestName;
}

export interface PreparedPades {
  /** Bytes of the original. */
  readonly originalSize: number;
  /** To be appended to the original, once the signature is in its place. */
  readonly update: Buffer;
  /** Index in `update` of the `<` before the signature, which is not signed. */
  readonly holeStart: number;
  /** Index in `update` after the `>` behind it. */
  readonly holeEnd: number;
}

/** SignaturesExist and AppendOnly (table 225). */
const SIGN_FLAGS = 3;

/**
 * Reads what signing needs to know of a PDF and lays out the update.
 * @throws {CryptoError} `pdf.malformed`, `pdf.encrypted`, `pdf.no-pages`, `pdf.change-forbidden`, `input.too-large`
 */
export function preparePades(source: ByteSource, options: PadesOptions): PreparedPades {
  return withPdf(source, (pdf) => layOut(source, pdf, options));
}

function layOut(source: ByteSource, pdf: PdfDocument, options: PadesOptions): PreparedPades {
  assertCertificationAllowsSigning(pdf);
  const page = firstPage(pdf);
  const number = firstUnusedNumber(pdf.xref);
  const names = { signature: `${number} 0 R`, widget: `${number + 1} 0 R`, appearance: `${number + 2} 0 R` };
  const signature = signatureValue(source.size, options);
  const objects: readonly RevisionObject[] = [
    { number, generation: 0, body: signature.body },
    { number: number + 1, generation: 0, body: widgetBody(fieldName(pdf), page, names) },
    { number: number + 2, generation: 0, body: EMPTY_APPEARANCE },
    pageWithWidget(pdf, page, names.widget),
    ...formWithField(pdf, names.widget),
  ];
  const lastByte = source.read(source.size - 1, 1)[0];
  const { bytes, bodies } = writeRevision(
    { xref: pdf.xref, size: source.size, lastByte, seed: `${options.at} ${options.signer.fingerprint}` },
    objects,
  );
  const body = bodies[0] ?? 0;
  const holeStart = body + signature.holeStart;
  const holeEnd = body + signature.holeEnd;
  const range = [source.size + holeStart, source.size + holeEnd, bytes.length - holeEnd];
  bytes.write(`[0 ${range.join(' ')}]`, body + signature.rangeStart, 'latin1');
  return { originalSize: source.size, update: bytes, holeStart, holeEnd };
}

/** The signature dictionary with zeros for the signature and blanks for the byte range. */
function signatureValue(
  size: number,
  { signer, at, digest }: PadesOptions,
): {
  readonly body: string;
  readonly rangeStart: number;
  readonly holeStart: number;
  readonly holeEnd: number;
} {
  const head = `<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M(${pdfTime(at)})/ByteRange`;
  // Room for three numbers of ten digits, or one digit more than the original's size has: no update comes near
  // nine times the size of a file that large.
  const blanks = ' '.repeat('[0 '.length + 3 * (Math.max(10, String(size).length + 1) + 1));
  const before = `${head}${blanks}/Contents `;
  const hole = `<${'00'.repeat(maxSignedDataLength(signer, { digest }))}>`;
  return {
    body: `${before}${hole} >>`,
    rangeStart: head.length,
    holeStart: before.length,
    holeEnd: before.length + hole.length,
  };
}

/** A date as in 7.9.4, in UTC. */
function pdfTime(at: number): string {
  return `D:${new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '')}`;
}

/**
 * The field and its only widget in one dictionary. It shows nothing and is printable, since archives forbid hidden
 * annotations; the locked flag keeps editors from moving it.
 */
function widgetBody(
  name: string,
  page: Page,
  names: { readonly signature: string; readonly appearance: string },
): string {
  const { number, generation } = page.reference;
  return (
    `<</Type/Annot/Subtype/Widget/FT/Sig/T(${name})/F 132/Rect[0 0 0 0]/P ${number} ${generation} R` +
    `/V ${names.signature}/AP<</N ${names.appearance}>>>>`
  );
}

/** PDF/A asks for an appearance of every form field, even of one without extent. */
const EMPTY_APPEARANCE =
  '<</Type/XObject/Subtype/Form/BBox[0 0 0 0]/Resources<<>>/Length 0>>\nstream\n\nendstream';

/** `Signature1`, or with the next number no other field of the form has. */
function fieldName(pdf: PdfDocument): string {
  const form = pdf.dict(pdf.catalog.get('AcroForm'));
  const flags = asInteger(pdf.resolve(form?.get('SigFlags'))) ?? 0;
  const taken = new Set<string>();
  // Without signatures only the names at the top matter; kids are not visited then.
  for (const field of (flags & 1) === 1 ? fields(pdf) : fields(pdf, 0)) {
    if (field.depth === 0) taken.add(field.name);
    assertFieldAllowsSigning(pdf, field);
  }
  let count = 1;
  while (taken.has(`Signature${count}`)) count++;
  return `Signature${count}`;
}

/**
 * The page with the widget among its annotations. An array of its own takes the place of a referenced one, which
 * other pages may share.
 */
function pageWithWidget(pdf: PdfDocument, page: Page, widget: string): RevisionObject {
  const annotations = appendItem(pdf.resolve(page.dict.get('Annots')), widget);
  return { ...page.reference, body: spliceDict(page.dict, new Map([['Annots', annotations]])) };
}

/** The objects that change so that the form lists the field: its array of fields, the form, or the catalogue. */
function formWithField(pdf: PdfDocument, widget: string): readonly RevisionObject[] {
  const written = pdf.catalog.get('AcroForm');
  const form = pdf.dict(written);
  const reference = form && asReference(written);
  const listed = form?.get('Fields');
  const list = pdf.resolve(listed);
  const listReference = isArray(list) ? asReference(listed) : undefined;
  const objects: RevisionObject[] = [];
  const changes = new Map<string, string>();
  if (listReference !== undefined) objects.push({ ...listReference, body: appendItem(list, widget) });
  else changes.set('Fields', appendItem(list, widget));
  const flags = asInteger(pdf.resolve(form?.get('SigFlags'))) ?? 0;
  if ((flags & SIGN_FLAGS) !== SIGN_FLAGS) changes.set('SigFlags', String(flags | SIGN_FLAGS));
  if (changes.size === 0) return objects;
  const body = form === undefined ? newForm(changes) : spliceDict(form, changes);
  if (reference !== undefined) return [...objects, { ...reference, body }];
  return [
    ...objects,
    { ...catalogReference(pdf), body: spliceDict(pdf.catalog, new Map([['AcroForm', body]])) },
  ];
}

function newForm(changes: ReadonlyMap<string, string>): string {
  return `<<${Array.from(changes, ([key, value]) => `/${key} ${value}`).join('')}>>`;
}

function catalogReference(pdf: PdfDocument): Reference {
  const reference = asReference(pdf.xref.trailer.get('Root'));
  if (reference === undefined) {
    throw new CryptoError(
      'pdf.malformed',
      'The catalogue is written into the trailer and cannot be updated.',
    );
  }
  return reference;
}

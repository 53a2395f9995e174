/**
 * Writes PDFs of every structure the reader must know. Small, readable, and free of the reader's own code.
 */
import { deflateSync } from 'node:zlib';

/** Object number to its value; bodies are text of one byte per character. */
export type Objects = ReadonlyMap<number, string>;

export interface DocumentShape {
  /** @default 1 */
  readonly pages?: number;
  readonly annots?: 'none' | 'direct' | 'indirect' | 'shared';
  readonly form?: 'none' | 'direct' | 'indirect';
  readonly fields?: 'missing' | 'direct' | 'indirect';
  /** Further text in the catalogue. */
  readonly catalog?: string;
  /** Further text in the form. */
  readonly formText?: string;
  /** Text shown on each page. */
  readonly text?: string;
}

const CATALOG = 1;
const PAGES = 2;
const FONT = 3;
const FORM = 4;
const FIELDS = 5;
const ANNOTS = 6;
const FIELD = 7;
const NOTE = 8;
const FIRST_PAGE = 10;

export const PAGE_NUMBER = FIRST_PAGE;

/** The objects of a document: catalogue 1, pages 2, first page 10, its content 11, and so on. */
export function documentObjects(shape: DocumentShape = {}): Map<number, string> {
  const { pages = 1, annots = 'none', form = 'none', fields = 'direct', text = 'Hello' } = shape;
  const objects = new Map<number, string>();
  const listed =
    fields === 'missing' ? '' : fields === 'direct' ? `/Fields [${FIELD} 0 R]` : `/Fields ${FIELDS} 0 R`;
  const formBody = `<< ${listed} /DA (/F1 0 Tf) ${shape.formText ?? ''} >>`;
  const formEntry = { none: '', direct: `/AcroForm ${formBody}`, indirect: `/AcroForm ${FORM} 0 R` }[form];
  objects.set(CATALOG, `<< /Type /Catalog /Pages ${PAGES} 0 R ${formEntry} ${shape.catalog ?? ''} >>`);
  const numbers = Array.from({ length: pages }, (_, index) => FIRST_PAGE + 2 * index);
  objects.set(
    PAGES,
    `<< /Type /Pages /Count ${pages} /Kids [${numbers.map((n) => `${n} 0 R`).join(' ')}] >>`,
  );
  objects.set(FONT, '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  if (form === 'indirect') objects.set(FORM, formBody);
  if (form !== 'none' && fields === 'indirect') objects.set(FIELDS, `[ ${FIELD} 0 R ]`);
  const widget = form !== 'none' && fields !== 'missing';
  const list = `[ ${NOTE} 0 R${widget ? ` ${FIELD} 0 R` : ''} ]`;
  const shared = annots === 'indirect' || annots === 'shared';
  if (annots !== 'none')
    objects.set(NOTE, '<< /Type /Annot /Subtype /Text /Rect [1 1 9 9] /Contents (a \\) note) /F 4 >>');
  if (shared) objects.set(ANNOTS, list);
  if (widget) {
    objects.set(
      FIELD,
      `<< /Type /Annot /Subtype /Widget /FT /Tx /T (Signature1) /V (x) /Rect [20 20 90 40] /F 4 /P ${FIRST_PAGE} 0 R /DA (/F1 0 Tf) >>`,
    );
  }
  for (const [index, number] of numbers.entries()) {
    const own = annots === 'shared' || index === 0;
    const entry = !own || annots === 'none' ? '' : shared ? `/Annots ${ANNOTS} 0 R` : `/Annots ${list}`;
    objects.set(
      number,
      `<< /Type /Page /Parent ${PAGES} 0 R /MediaBox [0 0 200 200] /Resources << /Font << /F1 ${FONT} 0 R >> >> ${entry} /Contents ${number + 1} 0 R >>`,
    );
    objects.set(number + 1, stream('', `BT /F1 12 Tf 20 100 Td (${text} ${index + 1}) Tj ET`));
  }
  return objects;
}

/** A stream object's value. */
export function stream(dict: string, data: string): string {
  return `<< ${dict} /Length ${data.length} >>\nstream\n${data}\nendstream`;
}

export interface FileShape {
  /** @default '\n' */
  readonly eol?: string;
  /** Bytes before the header. */
  readonly head?: string;
  /** Bytes after the end. */
  readonly tail?: string;
  /** True if offsets count from the header instead of the first byte. @default true */
  readonly fromHeader?: boolean;
  /** Added to the number after startxref. */
  readonly startxrefOff?: number;
  /** Further text in the trailer. */
  readonly trailer?: string;
  /** /Size to claim. */
  readonly size?: number;
  /** In the header. @default '1.4', and '1.5' where structures need it */
  readonly version?: string;
  /** Puts each object through encryption. */
  readonly seal?: (number: number, body: string) => string;
}

export interface StreamShape extends FileShape {
  /** PNG predictor 10 to 15, TIFF 2, or 1 for none. @default 12 */
  readonly predictor?: number;
  /** True if objects that may be packed are. @default true */
  readonly packed?: boolean;
}

/** First part of the file identifier of every file built here. */
export const FILE_ID = '00112233445566778899aabbccddeeff';
const ID = `/ID [<${FILE_ID}> <${FILE_ID}>]`;

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

class Writer {
  text: string;
  readonly offsets = new Map<number, number>();
  readonly #shape: FileShape;
  readonly eol: string;
  constructor(shape: FileShape, version: string) {
    this.#shape = shape;
    this.eol = shape.eol ?? '\n';
    this.text = `${shape.head ?? ''}%PDF-${shape.version ?? version}${this.eol}%\xe2\xe3\xcf\xd3${this.eol}`;
  }
  /** Offset as it is to be written. */
  get position(): number {
    return this.text.length - ((this.#shape.fromHeader ?? true) ? (this.#shape.head ?? '').length : 0);
  }
  add(number: number, clear: string): void {
    const body = this.#shape.seal?.(number, clear) ?? clear;
    this.offsets.set(number, this.position);
    this.text += `${number} 0 obj${this.eol}${this.eol === '\n' ? body : body.replaceAll('\n', this.eol)}${this.eol}endobj${this.eol}`;
  }
  end(xref: number): Buffer {
    this.text += `startxref${this.eol}${xref + (this.#shape.startxrefOff ?? 0)}${this.eol}%%EOF${this.eol}${this.#shape.tail ?? ''}`;
    return latin1(this.text);
  }
}

const entry = (offset: number, eol: string): string =>
  `${String(offset).padStart(10, '0')} 00000 n${eol.length === 2 ? eol : ` ${eol}`}`;

function table(offsets: ReadonlyMap<number, number>, eol: string): string {
  let text = `xref${eol}0 1${eol}0000000000 65535 f${eol.length === 2 ? eol : ` ${eol}`}`;
  for (const number of [...offsets.keys()].sort((left, right) => left - right)) {
    text += `${number} 1${eol}${entry(offsets.get(number) ?? 0, eol)}`;
  }
  return text;
}

const sizeOf = (objects: Objects): number => Math.max(...objects.keys()) + 1;

/** A file with a cross-reference table. */
export function classicPdf(objects: Objects, shape: FileShape = {}): Buffer {
  const out = new Writer(shape, '1.4');
  for (const [number, body] of objects) out.add(number, body);
  const xref = out.position;
  const { eol } = out;
  out.text += table(out.offsets, eol);
  out.text += `trailer${eol}<< /Size ${shape.size ?? sizeOf(objects)} /Root 1 0 R ${ID} ${shape.trailer ?? ''} >>${eol}`;
  return out.end(xref);
}

interface Rows {
  readonly [number: number]: readonly [type: number, second: number, third: number];
}

/** Bytes of one row of a cross-reference stream: a type, an offset, a generation or index. */
const ROW = 7;

/** A cross-reference stream's body with all numbers up to the highest. */
function xrefStream(rows: Rows, size: number, keys: string, predictor = 12): string {
  const raw = Buffer.alloc(size * ROW);
  for (let number = 0; number < size; number++) {
    const [type, second, third] = rows[number] ?? [0, 0, 0];
    raw.writeUInt8(type, number * ROW);
    raw.writeUInt32BE(second, number * ROW + 1);
    raw.writeUInt16BE(third, number * ROW + 5);
  }
  const data = deflateSync(predict(raw, ROW, predictor)).toString('latin1');
  const parms = predictor === 1 ? '' : `/DecodeParms << /Predictor ${predictor} /Columns ${ROW} >>`;
  return stream(`/Type /XRef /W [1 4 2] /Size ${size} /Filter /FlateDecode ${parms} ${keys}`, data);
}

/** Applies a predictor to rows of whole bytes; each PNG row uses the filter after its predecessor's. */
export function predict(raw: Buffer, row: number, predictor: number): Buffer {
  if (predictor === 1) return raw;
  const rows: Buffer[] = [];
  for (let start = 0; start < raw.length; start += row) {
    const filter = predictor === 15 ? (start / row) % 5 : predictor - 10;
    const out = Buffer.alloc(row);
    for (let at = 0; at < row; at++) {
      const left = at > 0 ? (raw[start + at - 1] ?? 0) : 0;
      const up = start > 0 ? (raw[start + at - row] ?? 0) : 0;
      const corner = at > 0 && start > 0 ? (raw[start + at - row - 1] ?? 0) : 0;
      const guess = predictor === 2 ? left : [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      out[at] = (raw[start + at] ?? 0) - (guess ?? 0);
    }
    rows.push(predictor === 2 ? out : Buffer.concat([Buffer.from([filter]), out]));
  }
  return Buffer.concat(rows);
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner;
  const order = [left, up, corner];
  return order.reduce((best, next) => (Math.abs(estimate - next) < Math.abs(estimate - best) ? next : best));
}

/** The text of an object stream and its members in order. */
export function objectStream(members: Objects): string {
  let head = '';
  let body = '';
  for (const [number, value] of members) {
    head += `${number} ${body.length} `;
    body += `${value}\n`;
  }
  const data = deflateSync(latin1(head + body)).toString('latin1');
  return stream(`/Type /ObjStm /N ${members.size} /First ${head.length} /Filter /FlateDecode`, data);
}

/** A file with a cross-reference stream, and its objects in an object stream where allowed. */
export function streamPdf(objects: Objects, shape: StreamShape = {}): Buffer {
  const out = new Writer(shape, '1.5');
  const rows: Record<number, readonly [number, number, number]> = { 0: [0, 0, 255] };
  const packed = new Map(
    [...objects].filter(([, body]) => (shape.packed ?? true) && !body.includes('endstream')),
  );
  const container = sizeOf(objects);
  const xref = container + 1;
  for (const [number, body] of objects) {
    if (packed.has(number)) rows[number] = [2, container, [...packed.keys()].indexOf(number)];
    else out.add(number, body);
  }
  if (packed.size > 0) out.add(container, objectStream(packed));
  for (const [number, offset] of out.offsets) rows[number] = [1, offset, 0];
  const at = out.position;
  rows[xref] = [1, at, 0];
  out.add(
    xref,
    xrefStream(rows, shape.size ?? xref + 1, `/Root 1 0 R ${ID} ${shape.trailer ?? ''}`, shape.predictor),
  );
  return out.end(at);
}

/** A file whose table hides some objects that a cross-reference stream beside it shows. */
export function hybridPdf(objects: Objects, hidden: readonly number[], shape: FileShape = {}): Buffer {
  const out = new Writer(shape, '1.5');
  const container = sizeOf(objects);
  const members = new Map([...objects].filter(([number]) => hidden.includes(number)));
  for (const [number, body] of objects) if (!members.has(number)) out.add(number, body);
  out.add(container, objectStream(members));
  const rows: Record<number, readonly [number, number, number]> = {};
  for (const [index, number] of [...members.keys()].entries()) rows[number] = [2, container, index];
  const beside = out.position;
  const plain = new Map(out.offsets);
  out.add(container + 1, xrefStream(rows, container + 2, ''));
  const xref = out.position;
  const { eol } = out;
  let text = table(plain, eol);
  // Hidden numbers are free in the table, for readers that know nothing of streams.
  for (const number of members.keys()) text += `${number} 1${eol}0000000000 00000 f ${eol}`;
  out.text += `${text}trailer${eol}<< /Size ${container + 2} /Root 1 0 R /XRefStm ${beside} ${ID} ${shape.trailer ?? ''} >>${eol}`;
  return out.end(xref);
}

/** Appends a revision with a table, as any editor does; `startxref` of `pdf` must be right. */
export function appendRevision(pdf: Buffer, objects: Objects, trailer = ''): Buffer {
  const previous = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(pdf.toString('latin1', pdf.length - 64))?.[1]);
  let text = '';
  const offsets = new Map<number, number>();
  for (const [number, body] of objects) {
    offsets.set(number, pdf.length + text.length);
    text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  const xref = pdf.length + text.length;
  const size = Math.max(200, sizeOf(objects));
  text += `${table(offsets, '\n')}trailer\n<< /Size ${size} /Root 1 0 R /Prev ${previous} ${trailer} >>\n`;
  return Buffer.concat([pdf, latin1(`${text}startxref\n${xref}\n%%EOF\n`)]);
}

/** A PDF of so many A4 pages that say `Clause 1`, `Clause 2` and so on. */
export function clausePdf(pages: number): Buffer {
  const objects = documentObjects({ pages, text: 'Clause' });
  for (const [number, body] of objects) {
    objects.set(number, body.replace('/MediaBox [0 0 200 200]', '/MediaBox [0 0 595 842]'));
  }
  return classicPdf(objects);
}

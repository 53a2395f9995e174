/**
 * Looks into signed PDFs with qpdf and by their text, without the code under test.
 */
import { readFileSync } from 'node:fs';
import { runTool } from '../../verifiers/index.ts';

/** A PDF value as `qpdf --json` writes it: names begin with `/`, text with `u:`, references end with ` R`. */
export type QpdfValue = unknown;
export type QpdfDict = { readonly [key: string]: QpdfValue };

export interface QpdfDocument {
  readonly trailer: QpdfDict;
  readonly catalog: QpdfDict;
  /** Full names of all fields of the form, and the object of each. */
  readonly fields: readonly { readonly name: string; readonly type: string; readonly object: string }[];
  /** References of the pages, in order. */
  readonly pages: readonly string[];
  /** Returns the dictionary that a value is or refers to (also that of a stream); else an empty one. */
  dict(value: QpdfValue): QpdfDict;
  array(value: QpdfValue): readonly QpdfValue[];
  /** Unpacked data of a stream. */
  stream(value: QpdfValue): Buffer;
}

interface QpdfObject {
  readonly value?: QpdfValue;
  readonly stream?: { readonly dict: QpdfDict; readonly data: string };
}

export async function inspect(path: string): Promise<QpdfDocument> {
  const { stdout } = await runTool('qpdf', [
    '--json=2',
    '--json-stream-data=inline',
    '--decode-level=generalized',
    path,
  ]);
  const parsed = JSON.parse(stdout) as {
    readonly pages: readonly { readonly object: string }[];
    readonly acroform: {
      readonly fields: readonly {
        readonly fullname: string;
        readonly fieldtype: string;
        readonly object: string;
      }[];
    };
    readonly qpdf: readonly [unknown, { readonly [object: string]: QpdfObject | undefined }];
  };
  const objects = parsed.qpdf[1];
  const find = (value: QpdfValue): QpdfObject | undefined =>
    typeof value === 'string' && / R$/.test(value) ? objects[`obj:${value}`] : { value };
  const isDict = (value: QpdfValue): value is QpdfDict =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const dict = (value: QpdfValue): QpdfDict => {
    const found = find(value);
    const direct = found?.stream?.dict ?? found?.value;
    return isDict(direct) ? direct : {};
  };
  const trailer = objects['trailer']?.value as QpdfDict;
  return {
    trailer,
    catalog: dict(trailer['/Root']),
    fields: parsed.acroform.fields.map(({ fullname, fieldtype, object }) => ({
      name: fullname,
      type: fieldtype,
      object,
    })),
    pages: parsed.pages.map(({ object }) => object),
    dict,
    array(value) {
      const direct = find(value)?.value;
      return Array.isArray(direct) ? direct : [];
    },
    stream: (value) => Buffer.from(find(value)?.stream?.data ?? '', 'base64'),
  };
}

/** One signature as its byte range shows it. */
export interface RawSignature {
  /** Returns the bytes it covers. */
  readonly content: Buffer;
  /** DER, without the zeros behind it. */
  readonly signature: Buffer;
  /** The whole value of /Contents. */
  readonly contents: Buffer;
  /** Length of the file it covers. */
  readonly end: number;
}

/** Every signature, in the order of the revisions. */
export function rawSignatures(path: string): readonly RawSignature[] {
  const pdf = readFileSync(path);
  const ranges = pdf.toString('latin1').matchAll(/\/ByteRange ?\[ ?0 (\d+) (\d+) (\d+) ?\]/g);
  return Array.from(ranges, ([, ...numbers]) => {
    const [first = 0, second = 0, rest = 0] = numbers.map(Number);
    const contents = Buffer.from(pdf.toString('latin1', first + 1, second - 1), 'hex');
    return {
      content: Buffer.concat([pdf.subarray(0, first), pdf.subarray(second, second + rest)]),
      // Two length octets after 30 82: every signature here is between 256 and 65535 bytes long.
      signature: contents.subarray(0, 4 + contents.readUInt16BE(2)),
      contents,
      end: second + rest,
    };
  }).sort((left, right) => left.end - right.end);
}

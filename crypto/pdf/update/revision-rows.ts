/** Encodes rows of a cross-reference stream (ISO 32000-2, 7.5.8.3). */
import type { XrefEntry } from '../syntax/xref-entry.ts';

export interface XrefRow {
  readonly number: number;
  readonly entry: XrefEntry;
}

type Fields = readonly [type: number, second: number, third: number];

/** Concatenates the rows; each field is as narrow as its largest value permits. */
export function encodeRows(rows: readonly XrefRow[]): {
  readonly widths: readonly [number, number, number];
  readonly data: Buffer;
} {
  const fields = rows.map(({ entry }) => fieldsOf(entry));
  const second = bytesFor(fields.reduce((most, row) => Math.max(most, row[1]), 0));
  const third = bytesFor(fields.reduce((most, row) => Math.max(most, row[2]), 0));
  const data = Buffer.alloc(rows.length * (1 + second + third));
  let at = 0;
  for (const [type, value, rest] of fields) {
    at = data.writeUInt8(type, at);
    at = data.writeUIntBE(value, at, second);
    at = data.writeUIntBE(rest, at, third);
  }
  return { widths: [1, second, third], data };
}

function fieldsOf(entry: XrefEntry): Fields {
  if (entry.kind === 'free') return [0, 0, 65535];
  if (entry.kind === 'packed') return [2, entry.stream, entry.index];
  return [1, entry.offset, entry.generation];
}

function bytesFor(value: number): number {
  let bytes = 1;
  while (value >= 256 ** bytes) bytes++;
  return bytes;
}

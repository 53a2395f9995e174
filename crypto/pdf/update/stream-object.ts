/** Formats streams and numbers as PDF text of one byte per character (ISO 32000-2, 7.3.3 and 7.3.8). */
import { deflateSync } from 'node:zlib';
import type { Reference } from '../syntax/values.ts';

/** Destination of new objects: an update of a file, or a new file. */
export interface ObjectSink {
  add(body: string): Reference;
}

/** Formats a stream whose data is already encoded or stays unencoded. @param dict keys and values */
export function streamObject(dict: string, data: Buffer): string {
  return `<<${dict}/Length ${data.length}>>\nstream\n${data.toString('latin1')}\nendstream`;
}

/** Formats a stream and compresses its data. @param dict keys and values without filter */
export function packedStream(dict: string, data: Buffer): string {
  return streamObject(`${dict}/Filter/FlateDecode`, deflateSync(data));
}

/** Formats a number without exponent, exact to a ten-thousandth. */
export function numberText(value: number): string {
  const text = value.toFixed(4).replace(/\.?0{1,4}$/, '');
  return text === '-0' ? '0' : text;
}

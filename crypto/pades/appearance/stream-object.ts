/**
 * Streams and numbers as PDF text of one byte per character (ISO 32000-2, 7.3.3 and 7.3.8).
 */
import { deflateSync } from 'node:zlib';
import type { Reference } from '../../pdf/index.ts';

/** Where new objects go: into an update of a file, or into a file that is being written. */
export interface ObjectSink {
  add(body: string): Reference;
}

/** A stream of data that is packed already, or stays as it is. @param dict keys and values */
export function streamObject(dict: string, data: Buffer): string {
  return `<<${dict}/Length ${data.length}>>\nstream\n${data.toString('latin1')}\nendstream`;
}

/** A stream whose data is packed here. @param dict keys and values without filter */
export function packedStream(dict: string, data: Buffer): string {
  return streamObject(`${dict}/Filter/FlateDecode`, deflateSync(data));
}

/** A number without exponent, exact to a ten-thousandth. */
export function numberText(value: number): string {
  const text = value.toFixed(4).replace(/\.?0+$/, '');
  return text === '-0' ? '0' : text;
}

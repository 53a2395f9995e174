/** Lightness of colours (ISO 32000-2, 8.6), as far as it can be told without their profiles. */
import { asName, type ByteSlice, isArray, items, type PdfDict, type PdfDocument } from '../../pdf/index.ts';
import { numberOf } from './geometry.ts';

/** Components of a colour space; undefined for one whose colours cannot be told. */
export function componentsOf(
  pdf: PdfDocument,
  resources: PdfDict | undefined,
  operand: ByteSlice | undefined,
): number | undefined {
  const name = asName(operand) ?? '';
  const device = DEVICES[name];
  if (device !== undefined) return device;
  const space = pdf.resolve(pdf.dict(resources?.get('ColorSpace'))?.get(name));
  const alias = DEVICES[asName(space) ?? ''];
  if (alias !== undefined || !isArray(space)) return alias;
  const [kind, parameters] = items(space);
  const family = asName(pdf.resolve(kind)) ?? '';
  if (family !== 'ICCBased') return DEVICES[family];
  const count = numberOf(pdf.resolve(pdf.dict(parameters)?.get('N')));
  return count === 1 || count === 3 || count === 4 ? count : undefined;
}

const DEVICES: Readonly<Record<string, number>> = {
  DeviceGray: 1,
  CalGray: 1,
  G: 1,
  DeviceRGB: 3,
  CalRGB: 3,
  RGB: 3,
  DeviceCMYK: 4,
  CMYK: 4,
};

/** Returns the lightness of a grey, RGB or CMYK colour; undefined for other numbers of components. */
export function lightnessOf(colour: readonly number[]): number | undefined {
  const parts = colour.map((part) => Math.min(1, Math.max(0, part)));
  const [first = Number.NaN, second = 0, third = 0, fourth = 0] = parts;
  if (parts.some(Number.isNaN)) return undefined;
  if (parts.length === 1) return first;
  const weighted = 0.299 * first + 0.587 * second + 0.114 * third;
  if (parts.length === 3) return weighted;
  return parts.length === 4 ? Math.max(0, 1 - weighted - fourth) : undefined;
}

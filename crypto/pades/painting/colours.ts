/** Lightness of colours (ISO 32000-2, 8.6), of spaces in which it can be told. */
import {
  asName,
  asReference,
  type ByteSlice,
  isArray,
  items,
  type PdfDict,
  type PdfDocument,
} from '../../pdf/index.ts';
import { isUsualLuminance, isUsualProfile } from './colour-profile.ts';
import { numberOf } from './geometry.ts';

/** Entries of resources that replace the device colours (8.6.5.6), by the components of these. */
const REPLACEMENTS: readonly (string | undefined)[] = [
  undefined,
  'DefaultGray',
  undefined,
  'DefaultRGB',
  'DefaultCMYK',
];

/** True when the resources give another meaning to the device colours with these components. */
export function replacesDevice(
  pdf: PdfDocument,
  resources: readonly PdfDict[],
  components: number | undefined,
): boolean {
  const key = REPLACEMENTS[components ?? 0];
  return (
    key !== undefined && resources.some((one) => pdf.dict(one.get('ColorSpace'))?.get(key) !== undefined)
  );
}

/** Components of a colour space; undefined for one whose colours cannot be told. */
export function componentsOf(
  pdf: PdfDocument,
  resources: readonly PdfDict[],
  operand: ByteSlice | undefined,
): number | undefined {
  const name = asName(operand);
  const found = resources
    .map((one) => pdf.dict(one.get('ColorSpace'))?.get(name ?? ''))
    .find((one) => one !== undefined);
  const isDevice = name?.startsWith('Device') === true;
  // Some programs look for any name among the resources, others not for that of a device.
  if (isDevice && found !== undefined) return undefined;
  const space = pdf.resolve(isDevice || name === undefined ? operand : found);
  const alias = DEVICES[asName(space) ?? ''];
  if (alias !== undefined) return replacesDevice(pdf, resources, alias) ? undefined : alias;
  if (!isArray(space)) return undefined;
  const [kind, parameters] = items(space);
  const family = asName(pdf.resolve(kind)) ?? '';
  if (family === 'ICCBased') return profiled(pdf, parameters);
  if (family === 'CalGray' || family === 'CalRGB') return calibrated(pdf, family, pdf.dict(parameters));
  const own = DEVICES[family];
  return own !== undefined && replacesDevice(pdf, resources, own) ? undefined : own;
}

const DEVICES: Readonly<Record<string, number>> = {
  DeviceGray: 1,
  G: 1,
  DeviceRGB: 3,
  RGB: 3,
  DeviceCMYK: 4,
  CMYK: 4,
};

const PROFILES = new WeakMap<PdfDocument, Map<number, number | undefined>>();

/** Components of a profile; undefined for one whose lightness is not that of usual monitors. */
function profiled(pdf: PdfDocument, stream: ByteSlice | undefined): number | undefined {
  const number = asReference(stream)?.number;
  if (number === undefined) return undefined;
  const known = PROFILES.get(pdf) ?? new Map<number, number | undefined>();
  PROFILES.set(pdf, known);
  if (!known.has(number)) {
    const count = numberOf(pdf.resolve(pdf.dict(stream)?.get('N')));
    const profile = pdf.stream(stream);
    const isUsual = (count === 1 || count === 3) && profile !== undefined && isUsualProfile(profile, count);
    known.set(number, isUsual ? count : undefined);
  }
  return known.get(number);
}

/** Curves of monitors. */
const GAMMAS = { least: 1, most: 3 };

function calibrated(
  pdf: PdfDocument,
  family: 'CalGray' | 'CalRGB',
  parameters: PdfDict | undefined,
): number | undefined {
  const numbers = (key: string): readonly number[] => {
    const value = pdf.resolve(parameters?.get(key));
    return (isArray(value) ? [...items(value)] : []).map((item) => numberOf(pdf.resolve(item)) ?? Number.NaN);
  };
  const isCurve = (gamma: number): boolean => gamma >= GAMMAS.least && gamma <= GAMMAS.most;
  const gamma = parameters?.get('Gamma');
  if (family === 'CalGray')
    return gamma === undefined || isCurve(numberOf(pdf.resolve(gamma)) ?? 0) ? 1 : undefined;
  if (gamma !== undefined && !(numbers('Gamma').length === 3 && numbers('Gamma').every(isCurve)))
    return undefined;
  const matrix = numbers('Matrix');
  return isUsualLuminance([matrix[1], matrix[4], matrix[7]]) ? 3 : undefined;
}

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

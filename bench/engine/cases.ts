/** Benchmark cases of the engine: format, level, size, key, and operation. */
import type { SignatureFormat, SignatureLevel } from '@sealwright/signatures';
import type { Aim } from '../frame/bench.ts';
import { noise, samplePdf, sampleXml } from '../samples.ts';
import { KEYS, type KeyName } from './authority.ts';

/** `memory`: buffers; `shm` and `disk`: files with all file operations, syncs included. */
export type Place = 'memory' | 'shm' | 'disk';

export interface BenchCase {
  /** `independent`: the second implementation's verdict (`VerifyIndependently`), file read included. */
  readonly work: 'sign' | 'validate' | 'independent';
  readonly format: SignatureFormat;
  readonly level: SignatureLevel;
  readonly key: KeyName;
  readonly place: Place;
  readonly size: SizeName;
  /** Detached content; CAdES only. */
  readonly detached: boolean;
}

const SIZES = {
  '2 KB': 2000,
  '10 KB': 10_000,
  '28 KB': 28_000,
  '200 KB': 200_000,
  '1 MB': 1 << 20,
  '5 MB': 5 << 20,
  '50 MB': 50 << 20,
  '100 pages': 5 << 20,
  '2000 pages': 5 << 20,
} as const;
export type SizeName = keyof typeof SIZES;

const SIZES_OF: { readonly [format in SignatureFormat]: readonly SizeName[] } = {
  Pades: ['10 KB', '28 KB', '1 MB', '5 MB', '50 MB', '100 pages', '2000 pages'],
  Cades: ['10 KB', '28 KB', '1 MB', '5 MB', '50 MB'],
  Xades: ['2 KB', '200 KB'],
};

/** Size at which everything is measured; other sizes at level B only. */
const USUAL: { readonly [format in SignatureFormat]: SizeName } = {
  Pades: '28 KB',
  Cades: '28 KB',
  Xades: '2 KB',
};

const made = new Map<string, Buffer>();

/** Returns the content to sign, equal for the same case in every run. */
export function contentOf({ format, size }: Pick<BenchCase, 'format' | 'size'>): Buffer {
  const name = `${format} ${size}`;
  const known = made.get(name);
  if (known !== undefined) return known;
  const bytes = SIZES[size];
  const pages = size === '100 pages' ? 100 : size === '2000 pages' ? 2000 : 1;
  const content =
    format === 'Pades'
      ? samplePdf(bytes, 'pdf', pages)
      : format === 'Xades'
        ? sampleXml(bytes)
        : noise(bytes, 'binary');
  made.set(name, content);
  return content;
}

export const FORMATS = ['Pades', 'Cades', 'Xades'] as const;
export const LEVELS = ['B', 'T', 'LT', 'LTA'] as const;

/** Lists all cases; a run selects from them. */
export function allCases(): BenchCase[] {
  const cases: BenchCase[] = [];
  for (const key of KEYS) {
    for (const format of FORMATS) {
      const usual = USUAL[format];
      const base = { format, key, detached: false } as const;
      for (const size of SIZES_OF[format]) {
        const places = size === usual ? (['memory', 'shm', 'disk'] as const) : (['shm'] as const);
        for (const place of places) cases.push({ ...base, work: 'sign', level: 'B', size, place });
        cases.push({ ...base, work: 'validate', level: 'B', size, place: 'shm' });
        if (size === usual || format === 'Xades')
          cases.push({ ...base, work: 'independent', level: 'B', size, place: 'shm' });
      }
      if (format === 'Cades') {
        for (const work of ['sign', 'validate'] as const) {
          cases.push({ ...base, work, level: 'B', size: usual, place: 'shm', detached: true });
        }
      }
      for (const level of ['T', 'LT', 'LTA'] as const) {
        for (const work of ['sign', 'validate'] as const) {
          cases.push({ ...base, work, level, size: usual, place: 'shm' });
        }
      }
    }
  }
  return cases;
}

/** True for cases of a quick run: one of each kind at level B. */
export function isUsual({ format, level, size, place }: BenchCase): boolean {
  return level === 'B' && size === USUAL[format] && place === 'shm';
}

/** Names a case for tables and filters. */
export function nameOf({ work, format, level, key, place, size, detached }: BenchCase): string {
  return `${work} ${format}${detached ? ' detached' : ''} ${level} ${size} ${key} ${place}`;
}

/** Content length from which hashing takes longer than the key operation. */
const HASHED = 1 << 20;

/** Name of the limit: hashing for large content, otherwise the key operation. */
export function limitOf(one: BenchCase): { readonly limit?: string } {
  if (contentOf(one).length >= HASHED) return { limit: hashingLimit(one) };
  return one.work === 'sign' ? { limit: `openssl speed ${one.key}` } : {};
}

export function hashingLimit({ size }: BenchCase): string {
  return `sha256 over ${size}`;
}

type Wanted = Partial<BenchCase> & { readonly aim: Aim };

const target = (number: number): string => `target ${number} of bench/engine-targets.md`;

/** The first matching row applies. */
const TARGETS: readonly Wanted[] = [
  { ...signed('Pades', '28 KB', 'rsa2048'), aim: { of: 'share', atLeast: 0.5, source: target(1) } },
  { ...signed('Pades', '28 KB', 'p256'), aim: { of: 'value', atLeast: 6000, source: target(1) } },
  { ...signed('Pades', '100 pages'), aim: { of: 'value', atLeast: 200, source: target(2) } },
  {
    ...signed('Cades', '28 KB', 'rsa2048'),
    detached: true,
    aim: { of: 'share', atLeast: 0.65, source: target(3) },
  },
  {
    ...signed('Cades', '28 KB', 'p256'),
    detached: true,
    aim: { of: 'value', atLeast: 10_000, source: target(3) },
  },
  { ...signed('Xades', '2 KB', 'rsa2048'), aim: { of: 'share', atLeast: 0.4, source: target(4) } },
  { ...signed('Xades', '200 KB'), aim: { of: 'value', atLeast: 80, source: target(4) } },
  { ...validated('Pades', '28 KB'), aim: { of: 'value', atLeast: 500, source: target(5) } },
  { ...validated('Cades', '28 KB'), aim: { of: 'value', atLeast: 2000, source: target(5) } },
  { ...validated('Xades', '2 KB'), aim: { of: 'value', atLeast: 800, source: target(5) } },
  { work: 'sign', level: 'T', aim: { of: 'value', atLeast: 1000, source: target(11) } },
  { work: 'sign', level: 'LT', aim: { of: 'value', atLeast: 500, source: target(11) } },
];

function signed(format: BenchCase['format'], size: BenchCase['size'], key?: BenchCase['key']) {
  return { work: 'sign', level: 'B', place: 'shm', format, size, ...(key && { key }) } as const;
}

function validated(format: BenchCase['format'], size: BenchCase['size']) {
  return { work: 'validate', level: 'B', format, size } as const;
}

export function aimOf(one: BenchCase): { readonly aim?: Aim } {
  const wanted = TARGETS.find(({ aim: _, ...facts }) =>
    Object.entries(facts).every(([name, value]) => one[name as keyof BenchCase] === value),
  );
  return wanted === undefined ? {} : { aim: wanted.aim };
}

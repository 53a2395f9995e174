/** Limit and target of each case; the targets are the speeds among the twelve of docs/engine-targets.md. */
import type { Aim } from '../frame/bench.ts';
import { type BenchCase, contentOf } from './cases.ts';

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

const target = (number: number): string => `target ${number} of docs/engine-targets.md`;

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

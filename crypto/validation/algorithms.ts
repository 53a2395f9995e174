/**
 * Which algorithms a signature could rest on, and until when: what counts is the time at which it is proven to have
 * existed, not the time of looking. Facts from ETSI TS 119 312 and the lists it builds on.
 */
import type { AlgorithmUse } from './facts.ts';
import type { TrustSettings } from './trust.ts';

/** From when on an algorithm proves nothing new; 'never' while no end is in sight. Milliseconds since the epoch. */
type End = number | 'never';

/** Keys below `bits` bits end at `end`; the first row that fits counts. */
interface KeyRow {
  readonly below: number;
  readonly end: End;
}

const HASHES: ReadonlyMap<string, End> = new Map<string, End>([
  ['md5', Date.UTC(2004, 7, 1)],
  ['sha1', Date.UTC(2012, 7, 1)],
  ['sha224', Date.UTC(2029, 0, 1)],
  ['sha256', 'never'],
  ['sha384', 'never'],
  ['sha512', 'never'],
  ['sha3-256', 'never'],
  ['sha3-384', 'never'],
  ['sha3-512', 'never'],
]);

const RSA: readonly KeyRow[] = [
  { below: 1024, end: Date.UTC(2010, 7, 1) },
  { below: 2048, end: Date.UTC(2019, 9, 1) },
  { below: 3000, end: Date.UTC(2029, 0, 1) },
  { below: Number.POSITIVE_INFINITY, end: 'never' },
];

const ECDSA: readonly KeyRow[] = [
  { below: 224, end: Date.UTC(2013, 9, 1) },
  { below: 256, end: Date.UTC(2029, 0, 1) },
  { below: Number.POSITIVE_INFINITY, end: 'never' },
];

const KEYS: ReadonlyMap<string, readonly KeyRow[]> = new Map([
  ['rsa-pkcs1', RSA],
  ['rsa-pss', RSA],
  ['ecdsa', ECDSA],
  ['ed25519', [{ below: Number.POSITIVE_INFINITY, end: 'never' }]],
]);

/** Whether one use of an algorithm holds. */
export type Strength =
  | { readonly status: 'good' }
  /** It proved something once, but nothing shows that the signature existed then. */
  | { readonly status: 'ended'; readonly end: number }
  | { readonly status: 'unknown' };

/** @param at time at which what rests on it is proven to have existed, milliseconds since the epoch */
export function strengthOf({ name, bits }: AlgorithmUse, at: number): Strength {
  const rows = KEYS.get(name);
  const end = rows === undefined ? HASHES.get(name) : rows.find(({ below }) => (bits ?? 0) < below)?.end;
  if (end === undefined) return { status: 'unknown' };
  return end === 'never' || at < end ? { status: 'good' } : { status: 'ended', end };
}

/** When this list was made, milliseconds since the epoch. */
const LISTED = Date.UTC(2026, 0, 1);

/**
 * True for what proves nothing whenever it was made: weak already when the list was made. For signatures of one's own,
 * which must not start to fail on the day an algorithm ends.
 */
export function isBroken(use: AlgorithmUse): boolean {
  return strengthOf(use, LISTED).status !== 'good';
}

/** The time at which algorithms are judged for what is proven to have existed at `time`. */
export function algorithmTime({ algorithms }: TrustSettings, time: number): number {
  return algorithms === 'as-listed' ? LISTED : time;
}

/** For people: `rsa-pkcs1 2048`. */
export function algorithmText({ name, bits }: AlgorithmUse): string {
  return bits === undefined ? name : `${name} ${bits}`;
}

/**
 * Algorithms accepted for a signature, with their end dates: the proven time of existence decides, not the time of
 * validation. Source: ETSI TS 119 312 V1.5.1 and the lists it references; RSA with PKCS#1 v1.5 from 3000 bits on has the
 * end of V2.1.1. That version ended RSA below 3000 bits early, on 2026-04-01; this list keeps the earlier date, by which
 * most signatures of today are made.
 */
import type { AlgorithmUse } from '../core/validation-report.ts';
import { algorithmName } from '../x509/algorithm-names.ts';
import type { Certificate } from '../x509/certificate.ts';
import type { TrustSettings } from './trust.ts';

/** End of an algorithm's acceptance; 'never' while none is planned. Milliseconds since the epoch. */
type End = number | 'never';

/** Keys below `bits` bits end at `end`; the first matching row applies. */
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

const SHORT_RSA: readonly KeyRow[] = [
  { below: 1024, end: Date.UTC(2010, 7, 1) },
  { below: 1900, end: Date.UTC(2019, 9, 1) },
  { below: 3000, end: Date.UTC(2029, 0, 1) },
];

const ECDSA: readonly KeyRow[] = [
  { below: 224, end: Date.UTC(2013, 9, 1) },
  { below: 256, end: Date.UTC(2029, 0, 1) },
  { below: Number.POSITIVE_INFINITY, end: 'never' },
];

const KEYS: ReadonlyMap<string, readonly KeyRow[]> = new Map([
  ['rsa-pkcs1', [...SHORT_RSA, { below: Number.POSITIVE_INFINITY, end: Date.UTC(2034, 0, 1) }]],
  ['rsa-pss', [...SHORT_RSA, { below: Number.POSITIVE_INFINITY, end: 'never' }]],
  ['ecdsa', ECDSA],
  ['ed25519', [{ below: Number.POSITIVE_INFINITY, end: 'never' }]],
]);

/** Strength of one use of an algorithm. */
type Strength =
  | { readonly status: 'good' }
  /** The algorithm was accepted once, but no proof of existence dates from then. */
  | { readonly status: 'ended'; readonly end: number }
  | { readonly status: 'unknown' };

/** Judges a use. @param at proven time of existence, milliseconds since the epoch */
export function strengthOf({ name, bits }: AlgorithmUse, at: number): Strength {
  const rows = KEYS.get(name);
  if (rows !== undefined && bits === undefined) return { status: 'unknown' };
  const end = rows === undefined ? HASHES.get(name) : rows.find(({ below }) => (bits ?? 0) < below)?.end;
  if (end === undefined) return { status: 'unknown' };
  return end === 'never' || at < end ? { status: 'good' } : { status: 'ended', end };
}

/** False for the algorithm of a key that is not at hand: its size, and so its strength, is not known. */
export function canBeJudged({ name, bits }: AlgorithmUse, certificate: Certificate | undefined): boolean {
  return certificate !== undefined || bits !== undefined || !KEYS.has(name);
}

/** Date of this list, milliseconds since the epoch. */
const LISTED = Date.UTC(2026, 0, 1);

/**
 * True for algorithms that were weak when the list was made, regardless of the date of the signature. For verifying the
 * product's own signatures, which must not start to fail on the day an algorithm ends.
 */
export function isBroken(use: AlgorithmUse): boolean {
  return strengthOf(use, LISTED).status !== 'good';
}

/** Returns the date by which algorithms are judged for data proven to exist at `time`. */
export function algorithmTime({ algorithms }: TrustSettings, time: number): number {
  return algorithms === 'as-listed' ? LISTED : time;
}

/** Formats for messages: `rsa-pkcs1 2048`. */
export function algorithmText({ name, bits }: AlgorithmUse): string {
  return bits === undefined ? algorithmName(name) : `${algorithmName(name)} ${bits}`;
}

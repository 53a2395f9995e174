/**
 * A signature that stands several times in a file counts once, in every format: its copies are nobody's further
 * signatures. A copy over other data has failed and stays as it is.
 */
import type { SignatureLevel } from '../core/types.ts';
import { warned } from '../core/validation-report.ts';
import type { FileSignatures, SignatureInfo } from './signature-info.ts';

/** Most names of copies in the message. */
const MAX_LISTED = 10;

/** Leaves copies out, also among counter-signatures, and names them: warning `file.copies`. */
export function withoutCopies(facts: FileSignatures): FileSignatures {
  const copies: string[] = [];
  const signatures = once(facts.signatures, copies);
  if (copies.length === 0) return facts;
  const message =
    copies.length === 1
      ? 'A signature stands in the file twice: it counts once.'
      : `The file has ${copies.length} copies of signatures: each signature counts once.`;
  const detail = copies.slice(0, MAX_LISTED).join(', ');
  return { ...facts, signatures, findings: [...facts.findings, warned('file.copies', message, detail)] };
}

function once(all: readonly SignatureInfo[], copies: string[]): readonly SignatureInfo[] {
  const groups = new Map<string, SignatureInfo[]>();
  for (const [index, one] of all.entries()) {
    const key = keyOf(one) ?? `${index}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()].flatMap((group) => {
    const [best] = group.toSorted((one, other) => rankOf(other) - rankOf(one));
    if (best === undefined) return [];
    for (const one of group) if (one !== best) copies.push(one.name);
    const counters = group.flatMap(({ counterSignatures }) => counterSignatures);
    return { ...best, counterSignatures: once(counters, copies) };
  });
}

/**
 * Undefined for one that is not surely the same as another of equal value: what it is over has failed, or it can't be
 * read.
 */
function keyOf({
  value,
  findings,
  certificate,
  isTimestamp,
  isInContent,
}: SignatureInfo): string | undefined {
  if (value === undefined || findings.some(({ status }) => status === 'failed')) return undefined;
  return [value.toString('hex'), certificate?.fingerprint, isTimestamp, isInContent].join(' ');
}

const LEVELS: readonly (SignatureLevel | undefined)[] = [undefined, 'B', 'T', 'LT', 'LTA'];

/** The copy that proves most is kept, with the counter-signatures of all. */
function rankOf({ level }: SignatureInfo): number {
  return LEVELS.indexOf(level);
}

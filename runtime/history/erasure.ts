/**
 * Erasure of texts from a journal, whose chain stays whole: of an erased line the hash remains, and a later line of the
 * same chain records which lines were erased. A line without its text that no record names was tampered with.
 *
 * Source: docs/decisions/0640-erasure.md.
 */
import { hash } from 'node:crypto';
import type { Erasure } from '../model/effects.ts';
import type { JournalLine } from '../model/ports.ts';
import { contentHash } from './checkpoint.ts';

/** Member of the data of a line that records an erasure. */
export const ERASURE_RECORD = '@erased';

/** A line without message, data and salt. */
function erasedLine(line: JournalLine): JournalLine {
  const { id, at, state, cause } = line;
  return {
    id,
    at,
    state,
    message: '',
    cause,
    erased: line.erased ?? (line.salt === undefined ? '' : contentHash(line)),
    ...(line.hash !== undefined && { hash: line.hash }),
  };
}

/**
 * The params of the action `erase` for these lines of a journal; undefined where nothing is left to erase. Lines that were
 * erased before, and records of erasures, stay.
 * @param journal all lines
 */
export function erasureOf(
  journal: readonly JournalLine[],
  isErased: (line: JournalLine) => boolean,
): Erasure | undefined {
  const runs: { readonly before: string; readonly lines: JournalLine[] }[] = [];
  let isRun = false;
  for (const [at, line] of journal.entries()) {
    const isNow = line.erased === undefined && recordOf(line) === undefined && isErased(line);
    if (isNow && !isRun) runs.push({ before: journal[at - 1]?.hash ?? '', lines: [] });
    if (isNow) runs.at(-1)?.lines.push(erasedLine(line));
    isRun = isNow;
  }
  if (runs.length === 0) return undefined;
  return {
    lines: runs.flatMap(({ lines }) => lines),
    record: runs
      .map(({ before, lines }) => `${lines[0]?.id}-${lines.at(-1)?.id}:${digestOf(before, lines)}`)
      .join(' '),
  };
}

/** The record of an erasure that a line holds; undefined for any other line. */
export function recordOf({ data }: JournalLine): string | undefined {
  const record = data?.[ERASURE_RECORD];
  return typeof record === 'string' ? record : undefined;
}

/** Lower-case hex SHA-256 of what remains of lines that follow each other, and of the hash of the line before. */
function digestOf(before: string, lines: readonly JournalLine[]): string {
  return hash('sha256', JSON.stringify([before, ...lines.map((line) => Object.values(line))]));
}

/** Erased lines of one chain, while it is read from its start. */
export class ErasedLines {
  /** Lines that no record has named yet, with the hash of the line before. */
  readonly #open = new Map<number, { readonly before: string; readonly line: JournalLine }>();

  /** Adds an erased line. @returns false where it holds more than what remains of one */
  add(before: string, line: JournalLine): boolean {
    this.#open.set(line.id, { before, line: erasedLine(line) });
    return line.message === '' && line.data === undefined && line.salt === undefined;
  }

  /** Settles what a record names. @returns the number of the first line that is not as recorded; undefined = none */
  settle(record: string): number | undefined {
    for (const entry of record.split(' ')) {
      const [, first = '0', last = '0', digest] = RUN.exec(entry) ?? [];
      const lines: JournalLine[] = [];
      const before = this.#open.get(Number(first))?.before ?? '';
      for (let id = Number(first); id <= Number(last); id += 1) {
        const found = this.#open.get(id);
        if (found === undefined) return id;
        lines.push(found.line);
        this.#open.delete(id);
      }
      if (lines.length === 0 || digestOf(before, lines) !== digest) return Number(first);
    }
    return undefined;
  }

  /** The first line that no record names. */
  unrecorded(): number | undefined {
    return this.#open.keys().next().value;
  }
}

const RUN = /^([1-9]\d{0,8})-([1-9]\d{0,8}):([0-9a-f]{64})$/;

/**
 * Names of log files: `batch-.log` becomes `batch-20260526.log`, and `batch-20260526_001.log` once that one is full.
 *
 * Source: docs/batch-values.md §12, `Logging:File:Path` and `:RollingInterval`.
 */
import { basename, dirname, extname, join } from 'node:path';

/** Period of one file. */
export type RollingInterval = 'Day' | 'Hour' | 'Minute' | 'Infinite';

/** Digits of an ISO time, without its punctuation, that tell two periods apart. */
const DIGITS = { Infinite: 0, Day: 8, Hour: 10, Minute: 12 } as const;

export interface LogFileName {
  /** UTC, `yyyyMMdd`, `yyyyMMddHH` or `yyyyMMddHHmm`; empty when files do not roll by time. */
  readonly period: string;
  /** 0 for the first file of a period. */
  readonly sequence: number;
}

const MINUTE_MS = 60_000;
/** The minute of the last line. */
let last = { minute: Number.NaN, digits: '' };

/** The period that a time falls into. @param at milliseconds since the epoch */
export function periodAt(at: number, interval: RollingInterval): string {
  const minute = Math.floor(at / MINUTE_MS);
  if (minute !== last.minute)
    last = { minute, digits: new Date(minute * MINUTE_MS).toISOString().replace(/\D/g, '') };
  return last.digits.slice(0, DIGITS[interval]);
}

export class LogFileNames {
  readonly folder: string;
  readonly #stem: string;
  readonly #extension: string;

  /** @param path as configured; the date goes before the extension */
  constructor(path: string) {
    this.folder = dirname(path);
    this.#extension = extname(path);
    this.#stem = basename(path, this.#extension);
  }

  pathOf({ period, sequence }: LogFileName): string {
    const number = sequence === 0 ? '' : `_${String(sequence).padStart(3, '0')}`;
    return join(this.folder, `${this.#stem}${period}${number}${this.#extension}`);
  }

  /** Returns the log files among the entries of the folder, oldest first. */
  among(entries: readonly string[]): readonly LogFileName[] {
    return entries
      .flatMap((entry) => this.#read(entry) ?? [])
      .sort((left, right) => {
        const before = left.period.padEnd(12, '0');
        const after = right.period.padEnd(12, '0');
        if (before !== after) return before < after ? -1 : 1;
        return left.sequence - right.sequence;
      });
  }

  #read(entry: string): LogFileName | undefined {
    if (!entry.startsWith(this.#stem) || !entry.endsWith(this.#extension)) return undefined;
    const end = entry.length - this.#extension.length;
    const match = /^((?:\d{8}|\d{10}|\d{12})?)(?:_(\d{3,}))?$/.exec(entry.slice(this.#stem.length, end));
    if (match === null) return undefined;
    return { period: match[1] ?? '', sequence: Number(match[2] ?? 0) };
  }
}

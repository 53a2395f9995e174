/** Where finished lines go, and how much memory may wait for a slow one. */
import type { Level } from './line.ts';

/** Takes finished lines; never makes the caller wait. */
export interface LineSink {
  write(line: string, level: Level): void;
  /** Resolves when everything taken so far has been written, or cannot be written for now. */
  flush(): Promise<void>;
  /** The same, before returning; for a process that is about to end. */
  flushSync(): void;
  /** Lines given up because they could not be written fast enough. */
  readonly dropped: number;
}

/** With this much waiting, lines below Warning are dropped. Characters. */
const CROWDED = 4 * 1024 * 1024;
/** With this much waiting, every line is dropped. Characters. */
export const FULL = 16 * 1024 * 1024;

/**
 * True while a line of this length still fits behind the `waiting` characters before it.
 * Source: batch-gaps §12: under pressure Information lines are dropped and counted.
 */
export function hasRoom(level: Level, length: number, waiting: number): boolean {
  const minor = level === 'Verbose' || level === 'Debug' || level === 'Information';
  return waiting + length <= (minor ? CROWDED : FULL);
}

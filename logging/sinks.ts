/** Destination of finished lines, and the memory that a slow one may take. */
import { LEVELS, type Level } from './line.ts';

/** Writes finished lines without blocking the caller. */
export interface LineSink {
  write(line: string, level: Level): void;
  /** Resolves when everything accepted so far has been written, or cannot be written for now. */
  flush(): Promise<void>;
  /** Flushes synchronously; for a process that is about to end. */
  flushSync(): void;
  /** Lines dropped because they could not be written fast enough. */
  readonly dropped: number;
}

/** Backlog at which lines below Warning are dropped, characters. */
const MAX_PENDING_LINES = 4 * 1024 * 1024;
/** Backlog at which every line is dropped, characters. */
export const FULL = 16 * 1024 * 1024;

/** Maximum delay of lines below Warning, milliseconds: those of this time are written together. */
export const WRITE_DELAY_MS = 100;
/** Delayed lines are written at once when they have so many characters. */
const MAX_DELAYED = 64 * 1024;

/** True while a line may wait for others with the `waiting` characters of its sink. */
export function mayWait(level: Level, waiting: number): boolean {
  return LEVELS[level].severity < LEVELS.Warning.severity && waiting < MAX_DELAYED;
}

/**
 * True while a line of this length still fits behind the `waiting` characters before it.
 * Source: docs/batch-values.md §12: under pressure Information lines are dropped and counted.
 */
export function hasRoom(level: Level, length: number, waiting: number): boolean {
  return waiting + length <= (LEVELS[level].severity < LEVELS.Warning.severity ? MAX_PENDING_LINES : FULL);
}

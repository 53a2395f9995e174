/**
 * The log of the process. pino checks levels, redacts properties by name and serializes; the line format and the sinks
 * are ours.
 *
 * Source: docs/batch-values.md §12.
 */
import type { Clock, Log, LogProperties } from '@sealwright/runtime';
import { pino } from 'pino';
import {
  createScrubber,
  formatLine,
  LEVELS,
  type Level,
  type LogLine,
  redactByName,
} from './logging/line.ts';
import { createDescriptorSink, type LineSink } from './logging/sinks.ts';

export { escapeControls, type Level } from './logging/line.ts';
export {
  createDescriptorSink,
  createFileSink,
  type FileSinkOptions,
  type LineSink,
} from './logging/sinks.ts';

export interface LoggingOptions {
  /** Minimum level. @default 'Information' */
  readonly level?: Level;
  /** Values redacted in every line, e.g. `settings.secrets`. @default [] */
  readonly secrets?: readonly string[];
  /** Destinations of lines. @default standard output */
  readonly sinks?: readonly LineSink[];
  readonly clock: Pick<Clock, 'now'>;
}

/** A log with its lifecycle. */
export interface Logging extends Log {
  /** Writes a line for a failure that ends the process. */
  fatal(text: string, properties?: LogProperties): void;
  /** Redacts a value that became known after the start, e.g. a new key. */
  hide(secret: string): void;
  /** Resolves when every line so far has been written. */
  flush(): Promise<void>;
  /** Flushes synchronously. */
  flushSync(): void;
}

/** Our levels by their names in pino. */
const LEVEL_OF: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(LEVELS).map(([level, { pino: name }]) => [name, level]),
);

export function createLogging(options: LoggingOptions): Logging {
  const sinks = options.sinks ?? [createDescriptorSink(1)];
  let secrets = [...(options.secrets ?? [])];
  let scrub = createScrubber(secrets);

  const logger = pino(
    {
      level: LEVELS[options.level ?? 'Information'].pino,
      base: null,
      timestamp: () => `,"at":${options.clock.now()}`,
      messageKey: 'text',
      nestedKey: 'properties',
      formatters: { level: (name) => ({ level: LEVEL_OF[name] }), log: redactByName },
    },
    {
      write(json) {
        const record: LogLine = JSON.parse(json);
        const line = formatLine(record, scrub);
        for (const sink of sinks) sink.write(line, record.level);
      },
    },
  );

  const dropped = () => sinks.reduce((sum, sink) => sum + sink.dropped, 0);
  let droppedReported = 0;
  const write = (level: Level) => {
    const { pino: name } = LEVELS[level];
    if (!logger.isLevelEnabled(name)) return () => {};
    return (text: string, properties: LogProperties = {}) => {
      const before = dropped();
      logger[name](properties, text);
      // Reported once lines can be written again: reporting earlier would add to the backlog.
      if (before === droppedReported || dropped() !== before) return;
      droppedReported = before;
      logger.warn(
        { droppedSoFar: before },
        'Log lines were dropped because they could not be written fast enough',
      );
    };
  };

  return {
    debugging: logger.isLevelEnabled('debug'),
    debug: write('Debug'),
    info: write('Information'),
    warn: write('Warning'),
    error: write('Error'),
    fatal: write('Fatal'),
    hide(secret) {
      secrets = [...secrets, secret];
      scrub = createScrubber(secrets);
    },
    flush: async () => {
      await Promise.all(sinks.map((sink) => sink.flush()));
    },
    flushSync() {
      for (const sink of sinks) sink.flushSync();
    },
  };
}

/**
 * The log of the process: levels, lines without secrets, sinks.
 *
 * Source: docs/batch-values.md §12.
 */
import type { Clock, Log, LogProperties } from '@sealwright/runtime';
import { createDescriptorSink } from './logging/descriptor-sink.ts';
import { formatLine, LEVELS, type Level } from './logging/line.ts';
import { createScrubber } from './logging/secrets.ts';
import type { LineSink } from './logging/sinks.ts';

export { createDescriptorSink } from './logging/descriptor-sink.ts';
export { createFileSink, type FileSinkOptions } from './logging/file-sink.ts';
export { escapeControls, type Level } from './logging/line.ts';
export type { LineSink } from './logging/sinks.ts';

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

export function createLogging(options: LoggingOptions): Logging {
  const sinks = options.sinks ?? [createDescriptorSink(1)];
  let secrets = [...(options.secrets ?? [])];
  let scrub = createScrubber(secrets);

  const least = LEVELS[options.level ?? 'Information'].severity;
  const isEnabled = (level: Level) => LEVELS[level].severity >= least;
  const put = (level: Level, text: string, properties: LogProperties) => {
    const line = formatLine({ at: options.clock.now(), level, text, properties }, scrub);
    for (const sink of sinks) sink.write(line, level);
  };

  const dropped = () => sinks.reduce((sum, sink) => sum + sink.dropped, 0);
  let droppedReported = 0;
  const write = (level: Level) => {
    if (!isEnabled(level)) return () => {};
    return (text: string, properties: LogProperties = {}) => {
      const before = dropped();
      put(level, text, properties);
      // Reported once lines can be written again: reporting earlier would add to the backlog.
      if (before === droppedReported || dropped() !== before) return;
      droppedReported = before;
      if (isEnabled('Warning'))
        put('Warning', 'Log lines were dropped because they could not be written fast enough', {
          droppedSoFar: before,
        });
    };
  };

  return {
    debugging: isEnabled('Debug'),
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

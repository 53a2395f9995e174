/**
 * The log of the process: plain lines with structured properties, secrets redacted, written in the background.
 *
 * Source: batch-gaps §12.
 */
import { createDescriptorSink } from './logging/console-sink.ts';
import { formatLine, LEVELS, type Level } from './logging/line.ts';
import type { LineSink } from './logging/line-sink.ts';
import { createScrubber } from './logging/redaction.ts';
import type { Clock, Log, LogProperties } from './runtime/index.ts';

export { createDescriptorSink } from './logging/console-sink.ts';
export { createFileSink, type FileSinkOptions } from './logging/file-sink.ts';
export { escapeControls, type Level } from './logging/line.ts';
export type { LineSink } from './logging/line-sink.ts';

export interface LoggingOptions {
  /** Lines below it are not made. @default 'Information' */
  readonly level?: Level;
  /** Values that no line may contain, e.g. `settings.secrets`. @default [] */
  readonly secrets?: readonly string[];
  /** Where lines go. @default standard output */
  readonly sinks?: readonly LineSink[];
  readonly clock: Pick<Clock, 'now'>;
}

/** A log and its ends. */
export interface Logging extends Log {
  /** For the last words of a process that cannot go on. */
  fatal(text: string, properties?: LogProperties): void;
  /** Hides a value that became known after the start, e.g. a key that was just made. */
  hide(secret: string): void;
  /** Resolves when every line so far has been written. */
  flush(): Promise<void>;
  /** The same, before returning. */
  flushSync(): void;
}

export function createLogging(options: LoggingOptions): Logging {
  const sinks = options.sinks ?? [createDescriptorSink(1)];
  const severities = Object.keys(LEVELS) as Level[];
  const least = severities.indexOf(options.level ?? 'Information');
  let secrets = [...(options.secrets ?? [])];
  let scrub = createScrubber(secrets);
  const dropped = () => sinks.reduce((sum, sink) => sum + sink.dropped, 0);
  let droppedTold = 0;

  const put = (level: Level, text: string, properties?: LogProperties) => {
    const line = formatLine({ at: options.clock.now(), level, text, properties }, scrub);
    for (const sink of sinks) sink.write(line, level);
  };
  const write = (level: Level) => {
    if (severities.indexOf(level) < least) return () => {};
    return (text: string, properties?: LogProperties) => {
      const before = dropped();
      put(level, text, properties);
      // Said once lines get through again: while they do not, saying so would make it worse.
      if (before === droppedTold || dropped() !== before) return;
      droppedTold = before;
      put('Warning', 'Log lines were dropped because they could not be written fast enough', {
        droppedSoFar: before,
      });
    };
  };

  return {
    debugging: severities.indexOf('Debug') >= least,
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

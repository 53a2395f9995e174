/**
 * Writes lines to a file descriptor without ever blocking the caller, with bounded memory.
 */
import { pino } from 'pino';
import type { Level } from './line.ts';

/** Takes finished lines. A file sink will be the second one. */
export interface LineSink {
  write(line: string, level: Level): void;
  /** Resolves when everything taken so far has been written. */
  flush(): Promise<void>;
  /** The same, before returning; for a process that is about to end. */
  flushSync(): void;
  /** Lines given up because the reader was too slow. */
  readonly dropped: number;
}

/** With this much waiting, lines below Warning are dropped. Characters. */
const CROWDED = 4 * 1024 * 1024;
/** With this much waiting, every line is dropped. Characters. */
const FULL = 16 * 1024 * 1024;

/** @param descriptor e.g. 1 for standard output */
export function createDescriptorSink(descriptor: number): LineSink {
  const stream = pino.destination({ dest: descriptor, sync: false, minLength: 0, maxLength: FULL });
  // An estimate between two drains: characters are taken in, bytes are reported out.
  let waiting = 0;
  let idle = true;
  let dropped = 0;
  let broken = false;
  stream.on('write', (written: number) => {
    waiting = Math.max(0, waiting - written);
  });
  stream.on('drain', () => {
    waiting = 0;
    idle = true;
  });
  // A reader that went away (a closed pipe) must not take the service with it.
  stream.on('error', () => {
    broken = true;
  });
  return {
    write(line, level) {
      const minor = level === 'Verbose' || level === 'Debug' || level === 'Information';
      if (broken || waiting + line.length > (minor ? CROWDED : FULL)) {
        dropped += 1;
        return;
      }
      waiting += line.length;
      idle = false;
      stream.write(line);
    },
    // The stream's own flush answers at once when it buffers nothing on purpose.
    flush: () =>
      new Promise((resolve) => {
        if (idle || broken) resolve();
        else stream.once('drain', resolve).once('error', resolve);
      }),
    flushSync() {
      if (broken) return;
      try {
        stream.flushSync();
      } catch {
        // The last lines are lost with the reader; there is nobody left to tell.
        broken = true;
      }
    },
    get dropped() {
      return dropped;
    },
  };
}

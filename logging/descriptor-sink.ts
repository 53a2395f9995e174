/** Writes lines to a file descriptor without ever blocking the caller, with bounded memory. */
import { pino } from 'pino';
import { FULL, hasRoom, type LineSink, mayWait, WRITE_DELAY_MS } from './sinks.ts';

/**
 * @param descriptor e.g. 1 for standard output
 * @param clock delays lines below Warning, so that many are written together; missing = each is written at once
 */
export function createDescriptorSink(
  descriptor: number,
  clock?: { after(delay: number, task: () => void): () => void },
): LineSink {
  const stream = pino.destination({ dest: descriptor, sync: false, minLength: 0, maxLength: FULL });
  // An estimate between two drains: characters are taken in, bytes are reported out.
  let waiting = 0;
  let idle = true;
  let dropped = 0;
  let broken = false;
  /** Lines that wait for others. */
  let delayed = '';
  let cancelDelay: (() => void) | undefined;
  const writeDelayed = () => {
    cancelDelay?.();
    cancelDelay = undefined;
    const lines = delayed;
    delayed = '';
    if (lines === '' || broken) return;
    idle = false;
    stream.write(lines);
  };
  stream.on('write', (written: number) => {
    waiting = Math.max(0, waiting - written);
  });
  stream.on('drain', () => {
    waiting = delayed.length;
    idle = true;
  });
  // A closed pipe must not stop the service.
  stream.on('error', () => {
    broken = true;
  });
  return {
    write(line, level) {
      if (broken || !hasRoom(level, line.length, waiting)) {
        dropped += 1;
        return;
      }
      waiting += line.length;
      delayed += line;
      if (clock === undefined || !mayWait(level, waiting)) writeDelayed();
      else cancelDelay ??= clock.after(WRITE_DELAY_MS, writeDelayed);
    },
    // The stream's own flush answers at once when it buffers nothing on purpose.
    flush: () =>
      new Promise((resolve) => {
        writeDelayed();
        if (idle || broken) resolve();
        else stream.once('drain', resolve).once('error', resolve);
      }),
    flushSync() {
      if (broken) return;
      writeDelayed();
      try {
        stream.flushSync();
      } catch {
        // The last lines are lost with the reader.
        broken = true;
      }
    },
    get dropped() {
      return dropped;
    },
  };
}

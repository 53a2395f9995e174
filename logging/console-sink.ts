/**
 * Writes lines to a file descriptor without ever blocking the caller, with bounded memory.
 */
import { pino } from 'pino';
import { FULL, hasRoom, type LineSink } from './line-sink.ts';

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
      if (broken || !hasRoom(level, line.length, waiting)) {
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

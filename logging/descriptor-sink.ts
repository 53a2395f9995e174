/** Writes lines to a file descriptor without ever blocking the caller, with bounded memory. */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { pino } from 'pino';
import { FULL, hasRoom, type LineSink, mayWait, WRITE_DELAY_MS } from './sinks.ts';

/** Pauses of a synchronous flush for a reader that takes nothing, and how many, before its lines are given up. */
const PAUSE_MS = 100;
const MOST_PAUSES = 50;

/**
 * Writes to the end, or as far as the reader takes it.
 * @returns false when the reader has left or takes nothing for 5 s
 */
function writeWhole(descriptor: number, text: string): boolean {
  let bytes = Buffer.from(text);
  for (let pauses = 0; bytes.length > 0; ) {
    try {
      bytes = bytes.subarray(writeSync(descriptor, bytes));
    } catch (error) {
      const isFull = (error as NodeJS.ErrnoException).code === 'EAGAIN';
      if (!isFull || pauses === MOST_PAUSES) return false;
      pauses += 1;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
  return true;
}

/**
 * The stream gets one piece at a time: what it holds itself it writes at the end of the process, and then tries for ever
 * when the reader has left.
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
  /** Lines that wait for others, or for the piece before them. */
  let delayed = '';
  let cancelDelay: (() => void) | undefined;
  /** They are to be written as soon as the piece before them is. */
  let isDue = false;
  const takeDelayed = () => {
    cancelDelay?.();
    cancelDelay = undefined;
    isDue = false;
    const lines = delayed;
    delayed = '';
    return lines;
  };
  const writeDelayed = () => {
    if (!idle) {
      isDue = true;
      return;
    }
    const lines = takeDelayed();
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
    if (isDue) writeDelayed();
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
    async flush() {
      writeDelayed();
      // The piece in progress, and the one behind it.
      for (let pieces = 0; pieces < 2 && !idle && !broken; pieces += 1)
        await once(stream, 'drain').catch(() => undefined);
    },
    flushSync() {
      const lines = takeDelayed();
      // The last lines are lost with the reader.
      if (!broken && !writeWhole(descriptor, lines)) broken = true;
    },
    get dropped() {
      return dropped;
    },
  };
}

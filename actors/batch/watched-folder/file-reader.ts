/** Samples single files of a folder with bounded concurrency; many at once on the sample thread. */
import { close, fstat, lstat, open } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@sealwright/runtime';
import { type SampleRequest, SampleThread } from './sample-thread.ts';
import { type FileSample, kindOf, SAMPLE_FLAGS, sampleOf, sampleOfError } from './stability.ts';

/** FIFO queue with amortized constant cost per item. */
interface FifoQueue<T> {
  readonly length: number;
  push(item: T): void;
  peek(): T | undefined;
  shift(): T | undefined;
  clear(): void;
}

/** Removed items are cut off in runs: one copy per run, not per item. */
const CUT_AFTER = 4_096;

export function createFifoQueue<T>(): FifoQueue<T> {
  let items: T[] = [];
  let head = 0;
  return {
    get length() {
      return items.length - head;
    },
    push(item) {
      items.push(item);
    },
    peek() {
      return items[head];
    },
    shift() {
      if (head === items.length) return undefined;
      const item = items[head];
      head += 1;
      if (head === items.length) {
        items = [];
        head = 0;
      } else if (head >= CUT_AFTER && head * 2 >= items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
    clear() {
      items = [];
      head = 0;
    },
  };
}

export interface FileReader {
  /** Never rejects. */
  sample(fileName: string): Promise<FileSample>;
  /** Resolves when no sample is in progress. */
  idle(): Promise<void>;
}

export interface FileReaderOptions {
  /** Maximum number of concurrent samples, at least 1; further ones wait. */
  readonly limit: number;
  readonly clock: Pick<Clock, 'after'>;
  /** @default that of the process */
  readonly thread?: Pick<SampleThread, 'take'>;
}

/** Number of requests in one turn of the event loop from which one message costs less than a call of `node:fs` for each. */
const BATCH_MIN = 8;

const SHARED = new SampleThread();

export function createFileReader(
  folder: string,
  { limit, clock, thread = SHARED }: FileReaderOptions,
): FileReader {
  const waiting = createFifoQueue<() => void>();
  let inFlight = 0;
  let idlers: (() => void)[] = [];
  let collected: SampleRequest[] = [];

  function finished(): void {
    inFlight -= 1;
    waiting.shift()?.();
    if (inFlight > 0) return;
    const done = idlers;
    idlers = [];
    for (const resolve of done) resolve();
  }

  function inTurn<T>(begin: (finish: (result: T) => void) => void): Promise<T> {
    return new Promise((resolve) => {
      const run = () => {
        inFlight += 1;
        begin((result) => {
          resolve(result);
          finished();
        });
      };
      if (inFlight < limit) run();
      else waiting.push(run);
    });
  }

  function ask(request: SampleRequest): void {
    collected.push(request);
    // Events of many files are reported in one turn, one by one.
    if (collected.length === 1) setImmediate(send);
  }

  function send(): void {
    const requests = collected;
    collected = [];
    if (requests.length >= BATCH_MIN && thread.take({ requests, clock, onLost: callFileSystem })) return;
    callFileSystem(requests);
  }

  return {
    sample: (fileName) => inTurn((finish) => ask({ path: join(folder, fileName), answer: finish })),
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
  };
}

/** Makes the calls of `node:fs` for each request, on the four threads of libuv. */
function callFileSystem(requests: readonly SampleRequest[]): void {
  for (const { path, answer } of requests)
    lstat(path, (error, stats) => {
      const known = error === null ? kindOf(stats) : sampleOfError(error);
      if (known !== undefined) return answer(known);
      open(path, SAMPLE_FLAGS, (refusal, file) => {
        if (refusal !== null) return answer(sampleOfError(refusal));
        fstat(file, (failure, opened) =>
          close(file, () => answer(failure === null ? sampleOf(opened) : sampleOfError(failure))),
        );
      });
    });
}

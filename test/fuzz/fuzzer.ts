/** Starts the fuzzing thread, monitors its progress, and restarts it when it hangs or dies. */
import { Worker } from 'node:worker_threads';
import {
  type Failure,
  type FromFuzzer,
  type FuzzOptions,
  type Progress,
  SharedInput,
  type TargetFigures,
} from './messages.ts';

/** Time after which the thread counts as hung, in milliseconds. */
const HANGS = 60_000;
const HEAP = 1024;

export interface FuzzResult {
  readonly failures: readonly Failure[];
  readonly byTarget: { readonly [target: string]: TargetFigures };
  readonly progress: Progress | undefined;
}

/** Runs all cases; reports failures as they occur, including hangs and deaths of the thread. */
export async function runFuzzer(
  options: FuzzOptions,
  onProgress: (progress: Progress) => void = () => {},
  onFailure: (failure: Failure) => void = () => {},
): Promise<FuzzResult> {
  const failures: Failure[] = [];
  const byTarget: { [target: string]: TargetFigures } = {};
  let last: Progress | undefined;
  const add = (failure: Failure): void => {
    failures.push(failure);
    onFailure(failure);
  };
  for (let done = 0, seed = options.seed; done < options.cases; seed++) {
    const before = done;
    const rest = { ...options, seed, cases: options.cases - done };
    const { count, failure } = await oneThread(rest, (message) => {
      if (message.type === 'failure') add(message.failure);
      else if (message.type === 'end') Object.assign(byTarget, message.byTarget);
      else {
        last = { ...message, done: before + message.done };
        onProgress(last);
      }
    });
    if (failure === undefined) break;
    add(failure);
    // A thread that dies before its first case would die repeatedly.
    if (count === 0) break;
    done += count;
  }
  return { failures, byTarget, progress: last };
}

interface ThreadEnd {
  /** Number of started cases. */
  readonly count: number;
  readonly failure?: Failure;
}

function oneThread(options: FuzzOptions, onMessage: (message: FromFuzzer) => void): Promise<ThreadEnd> {
  const shared = new SharedInput();
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    workerData: { options, memory: shared.memory },
    resourceLimits: { maxOldGenerationSizeMb: HEAP },
  });
  const failureOf = (kind: Failure['kind'], detail: string): Failure => ({
    target: shared.count === 0 ? 'start' : (options.targets[shared.target] ?? ''),
    kind,
    detail,
    input: shared.input,
  });
  return new Promise((resolve) => {
    let count = 0;
    let since = performance.now();
    let failure: Failure | undefined;
    const finish = (): void => {
      clearInterval(watch);
      resolve({ count: shared.count, ...(failure === undefined ? {} : { failure }) });
    };
    const watch = setInterval(() => {
      if (shared.count !== count) {
        count = shared.count;
        since = performance.now();
      } else if (count > 0 && performance.now() - since > HANGS) {
        failure ??= failureOf('hang', `no end after ${HANGS / 1000} s`);
        void worker.terminate();
        // A thread inside native code can't be terminated: the run continues without it, and ends with the process.
        worker.unref();
        finish();
      }
    }, 500);
    worker.on('message', onMessage);
    worker.on('error', (error) => {
      failure ??= failureOf('crash', `${error.stack ?? error}`);
    });
    worker.on('exit', finish);
  });
}

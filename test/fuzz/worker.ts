/** Fuzzing thread, monitored by `fuzzer.ts`. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { type FuzzOptions, SharedInput } from './messages.ts';
import { fuzz } from './session.ts';

const { options, memory } = workerData as {
  readonly options: FuzzOptions;
  readonly memory: SharedArrayBuffer;
};
setFlagsFromString('--expose-gc');
(globalThis as { gc?: () => void }).gc = runInNewContext('gc') as () => void;
await fuzz(options, new SharedInput(memory), (message) => parentPort?.postMessage(message));

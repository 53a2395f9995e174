/** Samples files one after the other, on the thread that `sample-thread.ts` starts. */
import { parentPort } from 'node:worker_threads';
import type { FromSampleThread, ToSampleThread } from './sample-thread.ts';
import { sampleSync } from './stability.ts';

parentPort?.on('message', (paths: ToSampleThread) => {
  parentPort?.postMessage(paths.map(sampleSync) satisfies FromSampleThread);
});

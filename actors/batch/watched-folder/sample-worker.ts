/** Samples files one after the other, on the thread that `sample-thread.ts` starts. */
import { parentPort } from 'node:worker_threads';
import type { FromSampleThread, ToSampleThread } from './sample-thread.ts';
import { refusalSync, sampleSync } from './stability.ts';

parentPort?.on('message', ({ samples, refusals }: ToSampleThread) => {
  parentPort?.postMessage({
    samples: samples.map(sampleSync),
    refusals: refusals.map(refusalSync),
  } satisfies FromSampleThread);
});

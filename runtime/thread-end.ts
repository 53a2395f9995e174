/** Terminates threads safely. */
import type { Worker } from 'node:worker_threads';

/**
 * Resolves once the thread can be terminated: it is ready, or has ended by itself. Terminating a thread that loads a
 * native module aborts the whole process, because the module's initialization fails where errors cannot be thrown:
 * https://github.com/kriszyp/lmdb-js/issues/200
 * @param ready settles when the thread has loaded all modules
 */
export function mayEnd(worker: Pick<Worker, 'once'>, ready: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const settled = () => resolve();
    worker.once('exit', settled);
    ready.then(settled, settled);
  });
}

/**
 * Connection of a thread to the one writing thread of its store: the thread that started the writer holds the worker
 * itself, every other one a port to it.
 */
import { type MessagePort, Worker } from 'node:worker_threads';
import type { FromWriter, ToWriter } from './lmdb-wire.ts';

export interface WriterLink {
  post(message: ToWriter, transfer?: readonly MessagePort[]): void;
  onMessage(take: (message: FromWriter) => void): void;
  /** Calls `notify` when no more answers come; perhaps twice, first with the error. */
  onEnd(notify: (why: string) => void): void;
  /** While true, the process stays alive. */
  hold(): void;
  release(): void;
}

/** Starts the writing thread. */
export function startWriter(folder: string): WriterLink {
  const worker = new Worker(new URL('./lmdb-writer.js', import.meta.url), { workerData: { folder } });
  // An idle store keeps no process alive; one with a group in progress does.
  worker.unref();
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    onMessage: (take) => worker.on('message', take),
    onEnd(notify) {
      worker.on('error', (error) => notify(error.message));
      worker.on('exit', (code) => notify(`The writing thread ended (${code}).`));
    },
    hold: () => worker.ref(),
    release: () => worker.unref(),
  };
}

/** Connects another thread to the writer that `startWriter` started. */
export function linkThroughPort(port: MessagePort): WriterLink {
  port.unref();
  return {
    post: (message) => port.postMessage(message),
    onMessage: (take) => port.on('message', take),
    onEnd: (notify) => port.on('close', () => notify('The writing thread ended.')),
    hold: () => port.ref(),
    release: () => port.unref(),
  };
}

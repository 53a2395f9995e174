/** Threads that take messages and keep no process alive while they have none. */
import { Worker, type WorkerOptions } from 'node:worker_threads';

export interface ThreadEvents<Answer> {
  online(): void;
  answer(message: Answer): void;
  /** It has ended; perhaps called twice. */
  lost(): void;
}

/** Starts one. Throws where the system makes no more threads. */
export function startIdleThread<Answer>(
  module: URL,
  options: WorkerOptions,
  events: ThreadEvents<Answer>,
): Worker {
  const worker = new Worker(module, options);
  worker.on('online', () => events.online());
  worker.on('message', (message: Answer) => events.answer(message));
  worker.on('error', () => events.lost());
  worker.on('exit', () => events.lost());
  // After the listeners: the first one for messages refers to the thread again.
  worker.unref();
  return worker;
}

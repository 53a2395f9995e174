/** Parses large JSON bodies on a worker thread, which starts with the first body and ends after an idle time. */

import type { Log } from '@sealwright/runtime';
import { Piscina } from 'piscina';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { BodyCredentials } from '../../core/router.ts';
import type { BodyAnswer, BodyTask, ReadBody } from './body-wire.ts';

export interface BodyReading {
  /** The credentials in a body. Refusals: `BadRequest`, `ServiceBusy`. */
  credentials(bytes: Uint8Array): Promise<BodyCredentials>;
  /** The body parsed by its schema. Refusals: `BadRequest`, `ServiceBusy`. */
  body(schema: string, bytes: Uint8Array): Promise<ReadBody>;
  /** Ends the thread after the current bodies. */
  close(): Promise<void>;
}

/** Maximum number of queued bodies, at most 8 MiB each. */
const MAX_WAITING = 16;
/** Idle time after which the thread ends, milliseconds. */
const IDLE_MS = 60_000;
const HEAP_MIB = 256;

export function createBodyReading(log: Pick<Log, 'error'>): BodyReading {
  let threads: Piscina | undefined;
  const started = (): Piscina => {
    threads ??= new Piscina({
      filename: new URL('./body-worker.js', import.meta.url).href,
      name: 'run',
      minThreads: 0,
      maxThreads: 1,
      maxQueue: MAX_WAITING,
      idleTimeout: IDLE_MS,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    }).on('error', (error: Error) => {
      log.error('The thread that reads large bodies failed outside a task.', { Error: error.message });
    });
    return threads;
  };
  const run = async (task: BodyTask): Promise<BodyAnswer> => {
    let answer: BodyAnswer;
    try {
      answer = await started().run(task);
    } catch (error) {
      log.error('A large body could not be read by its thread.', { Error: String(error) });
      throw new PortalRefusal('ServiceBusy', 'Too many large requests are being read. Try again.');
    }
    if (!('fault' in answer)) return answer;
    const { code, message, errors } = answer.fault;
    throw new PortalRefusal(code, message, errors && { errors });
  };
  return {
    async credentials(bytes) {
      const answer = await run({ task: 'credentials', bytes });
      if ('credentials' in answer) return answer.credentials;
      throw new TypeError('The reading thread answered something else.');
    },
    async body(schema, bytes) {
      const answer = await run({ task: 'body', schema, bytes });
      if ('body' in answer) return answer.body;
      throw new TypeError('The reading thread answered something else.');
    },
    close: async () => threads?.close(),
  };
}

/**
 * Thread that asks for readiness and for what the overview shows, and looks at the memory, until it is told to end: on the
 * thread of what sends gigabytes, the times would be those of the sender.
 */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Client, getRequest } from '../../../bench/http/client.ts';

/** Of the watched service. */
export interface WatchData {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
}

export interface WatchedFigures {
  /** Milliseconds of each answer. */
  readonly answers: readonly number[];
  /** MiB, five times a second. */
  readonly resident: readonly number[];
}

if (parentPort !== null) {
  const { url, key, pid } = workerData as WatchData;
  const seen = { answers: [] as number[], resident: [] as number[] };
  let isOver = false;
  parentPort.once('message', () => {
    isOver = true;
  });
  const client = await Client.open(url, 1, 200);
  const asked = ['/api/ready', '/api/statistics?window=24h'].map((path) =>
    getRequest(path, { 'X-API-Key': key }),
  );
  for (; !isOver; await setTimeout(200)) {
    for (const one of asked) {
      const began = performance.now();
      if ((await client.ask(one)) === 'refused') throw new Error('What operators look at was refused.');
      seen.answers.push(performance.now() - began);
    }
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    seen.resident.push(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024);
  }
  client.close();
  parentPort.postMessage(seen satisfies WatchedFigures);
}

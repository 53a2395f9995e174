/**
 * The process that is killed. Tells actors to ask for work of every kind, calls the far side for it, and says on
 * standard output what it promised after the step was durable, `ack <actor> <revision>`, and for which step it calls the
 * far side, `ran <actor> <revision>`. With `drain` it asks for nothing, does what is left, and ends.
 *
 * node kill-worker.js <folder> <port of the far side> run|drain
 */
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import {
  type ActorAddress,
  type EffectAttempt,
  type EffectHandler,
  Fatal,
  Faults,
  Retryable,
  systemClock,
  systemIds,
} from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { buildRuntime } from '#runtime/runtime.js';
import { reached } from '../../project/waiting.ts';
import { dropsWork, EFFECT_KINDS, LEDGERS, ledger } from './ledger.ts';
import { KEY_HEADER } from './strict-receiver.ts';

/** Requests in flight. */
const CONCURRENCY = 32;

const [, , folder = '', port = '', mode = 'run'] = process.argv;
const faults = Faults.parse(process.env['SEALWRIGHT_FAULTS']);
const store = openLmdbStore({ folder: join(folder, 'store'), faults });
const agent = new Agent({ keepAlive: true, maxSockets: 32 });

async function call(
  { n }: { n: number },
  { key, actor }: EffectAttempt,
): Promise<{ type: string; n: number }> {
  // What is done outside is a promise too: the step that asked for it must never be undone.
  process.stdout.write(`ran ${actor.id} ${key.split('/')[2]}\n`);
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const options = { agent, port, method: 'POST', headers: { [KEY_HEADER]: key } };
    // A connection that was kept may be closed in the moment it is used again. Nobody knows then whether the work was
    // done, so it is asked for again under its key, and is not given up.
    const lost = (error: Error) => reject(new Retryable('unreachable', error.message, 2));
    request(options, (response) =>
      response
        .on('error', lost)
        .resume()
        .on('end', () => resolve(response.statusCode)),
    )
      .on('error', lost)
      .end(`${actor.id} ${n}`);
  });
  if (status !== 204) throw new Fatal('refused', `the far side answered ${status}`);
  return { type: 'WORKED', n };
}

/** Nothing but what is doomed may ever fail for good: its outcome would be one too many. */
const failed: EffectHandler['failed'] = ({ n }: { n: number }, { code, message }) => {
  process.stderr.write(`kill-worker gave up piece ${n}: ${code}: ${message}\n`);
  return { type: 'WORKED', n: -1 };
};

const silent = () => {};
const { system, start, stop } = buildRuntime({
  store,
  clock: systemClock,
  ids: systemIds,
  log: { debug: silent, info: silent, warn: silent, error: silent },
  faults,
  definitions: [ledger],
  handlers: {
    call: { after: 'durable', run: call, failed },
    quick: { after: 'visible', run: call, failed },
    partitioned: {
      after: 'durable',
      partitioning: {
        atOnce: 16,
        perPartition: 2,
        partitionOf: ({ n }: { n: number }) => `partition-${n % 8}`,
      },
      run: call,
      failed,
    },
    flaky: {
      after: 'durable',
      run: (effect, attempt) => {
        if (attempt.failures === 0) throw new Retryable('busy', 'every first try fails', 2);
        return call(effect, attempt);
      },
      failed,
    },
    doomed: {
      after: 'durable',
      tries: 2,
      run: () => Promise.reject(new Retryable('never', 'every try fails', 2)),
      failed: ({ n }) => ({ type: 'GAVE_UP', n }),
    },
  },
});

for (const actor of LEDGERS) await system.create(actor, null);
start();

function pick<T>(from: readonly T[], n: number): T {
  const found = from[n % from.length];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
}

/** Every 16th request to those that drop makes them drop what is open. */
function requestTo(actor: ActorAddress, turn: number) {
  if (!dropsWork(actor)) {
    return { type: 'ASK', kind: pick(EFFECT_KINDS, turn), to: pick(LEDGERS, turn * 7) };
  }
  if (turn % 16 === 15) return { type: 'DROP' };
  return { type: 'ASK', kind: pick(EFFECT_KINDS, turn % 5), to: actor };
}

async function askForEver(worker: number): Promise<never> {
  for (let turn = worker; ; turn++) {
    const actor = pick(LEDGERS, worker * 5 + turn * 11);
    const outcome = await system.send(actor, requestTo(actor, turn));
    if (!outcome.accepted) throw new Error(`refused: ${outcome.reason}`);
    process.stdout.write(`ack ${actor.id} ${outcome.revision}\n`);
    // Somebody looks at times, for whom the state index is written out.
    if (turn % 64 === 0) await store.counters('actors/');
  }
}

if (mode === 'drain') {
  const isOpen = async () => {
    for (const actor of LEDGERS) if ((await store.pendingEffects(actor)).length > 0) return true;
    return (await store.nextTimerDue()) !== undefined;
  };
  await reached(async () => !(await isOpen()));
  await stop();
  await store.close();
  agent.destroy();
} else {
  await Promise.all(Array.from({ length: CONCURRENCY }, (_, worker) => askForEver(worker)));
}

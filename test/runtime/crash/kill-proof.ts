/**
 * The proof that a killed process breaks no promise: a worker under load is killed at every fault point of the runtime,
 * as every kind of effect passes it, and at moments in between, until enough requests were acknowledged. After each
 * kill the store is looked at as the next process will find it; at the end everything left is done and compared with
 * what the far side has seen.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { RUNTIME_FAULT_POINTS, type RuntimeFaultPoint, seededIds } from '@sealwright/runtime/testing';
import type { ExecutionContext } from 'ava';
import { folderFor } from '../folder.ts';
import { EFFECT_KINDS, WORK_KINDS } from './ledger.ts';
import { addPromise, type LedgerPromise, lookAtLedgers } from './ledger-evidence.ts';
import { StrictReceiver } from './strict-receiver.ts';

const WORKER = new URL('./kill-worker.js', import.meta.url).pathname;

/** Way in which a point is passed: as which kinds of effect, and about how often for each acknowledged request. */
interface Passing {
  readonly as: readonly string[];
  readonly perRequest: number;
}
const ANY: readonly string[] = [''];

/** One call of so many the far side never answers: a lost connection must not become an outcome. */
const HANG_UP_EVERY = 50;

/** A new fault point without a line here does not compile. */
const PASSINGS: { readonly [point in RuntimeFaultPoint]: Passing } = {
  'step.computed.before-commit': { as: ANY, perRequest: 2 },
  'store.group.before-transaction': { as: ANY, perRequest: 0.1 },
  'store.group.in-transaction': { as: ANY, perRequest: 0.1 },
  'store.group.committed.before-reply': { as: ANY, perRequest: 0.1 },
  'step.committed.before-reply': { as: ANY, perRequest: 2 },
  'effect.leased.before-run': { as: EFFECT_KINDS, perRequest: 0.12 },
  'effect.done.before-outcome': { as: WORK_KINDS, perRequest: 0.12 },
  'effect.failed.before-defer': { as: ['flaky', 'doomed'], perRequest: 0.12 },
  'timer.due.before-fire': { as: ANY, perRequest: 0.4 },
};

export interface Verdict {
  readonly acknowledged: number;
  readonly kills: number;
  readonly lost: number;
  readonly torn: number;
  readonly doubled: number;
}

interface Round {
  /** `point` or `point/kind`; empty: only the count kills. */
  readonly point: string;
  readonly pass: number;
  /** Killed at this acknowledgement at the latest. */
  readonly killAfter: number;
}

/** Every point as every kind that passes it, each at some moment of about `requests` requests. */
function roundsOf(requests: number, roll: (limit: number) => number): readonly Round[] {
  return Object.keys(RUNTIME_FAULT_POINTS).flatMap((point) => {
    const { as, perRequest } = PASSINGS[point as RuntimeFaultPoint];
    return as.map((kind) => ({
      point: kind === '' ? point : `${point}/${kind}`,
      pass: 1 + roll(Math.ceil(2 * requests * perRequest)),
      killAfter: 10_000 + 20 * requests,
    }));
  });
}

export class KillProof {
  readonly #t: ExecutionContext;
  readonly #folder: string;
  readonly #receiver = new StrictReceiver(HANG_UP_EVERY);
  /** The highest revision acknowledged per actor, over all lives. */
  readonly #promised = new Map<string, number>();
  /** Journal lines looked at per actor. */
  readonly #read = new Map<string, number>();
  readonly #roll: (limit: number) => number;
  #port = 0;
  #acknowledged = 0;
  #kills = 0;
  #lost = 0;
  #torn = 0;
  #doubled = 0;
  /** Everything that is broken, not told yet: ava ends a test at the first thing it is told, and it takes all of it to see why. */
  readonly #broken: string[] = [];

  constructor(t: ExecutionContext, seed: number) {
    this.#t = t;
    // A kill leaves what the system holds for the disk, so that memory will do; `power-cut.test.ts` is about disks.
    this.#folder = folderFor(t, existsSync('/dev/shm') ? '/dev/shm' : undefined);
    const dice = seededIds(seed);
    this.#roll = (limit) => dice.bytes(4).readUInt32LE() % limit;
  }

  /** @param requests acknowledged in all, at least */
  async run(requests: number): Promise<Verdict> {
    this.#port = await this.#receiver.listen();
    this.#t.teardown(() => this.#receiver.close());
    // Half of the load for the named points, so that their spread leaves something for moments in between.
    const named = roundsOf(Math.ceil(requests / 2 / 25), this.#roll);
    for (const round of named) {
      await this.#live(round);
      await this.#look(`${round.point}:${round.pass}`);
    }
    while (this.#acknowledged < requests) {
      const killAfter = Math.min(
        1 + this.#roll(Math.min(10_000, requests / 10)),
        requests - this.#acknowledged,
      );
      await this.#live({ point: '', pass: 0, killAfter });
      await this.#look(`killed after ${killAfter} requests`);
    }
    await this.#drain();
    const { calls, bodies } = this.#receiver;
    this.#t.log(`${calls} calls at the far side for ${bodies.size} pieces of work`);
    return {
      acknowledged: this.#acknowledged,
      kills: this.#kills,
      lost: this.#lost,
      torn: this.#torn,
      doubled: this.#doubled,
    };
  }

  #spawn(mode: string, faults: string): ChildProcess {
    return spawn(process.execPath, [WORKER, this.#folder, String(this.#port), mode], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, SEALWRIGHT_FAULTS: faults },
    });
  }

  async #live({ point, pass, killAfter }: Round): Promise<void> {
    const child = this.#spawn('run', point === '' ? '' : `${point}=kill:${pass}`);
    if (child.stdout === null) throw new Error('no output');
    const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
    const lines = createInterface({ input: child.stdout });
    const read = once(lines, 'close');
    let acks = 0;
    lines.on('line', (line) => {
      if (!addPromise(this.#promised, line)) return;
      this.#acknowledged += 1;
      // A kill by count lands anywhere in the steps in flight, and needs no clock.
      if (++acks === killAfter) {
        if (point !== '') this.#broken.push(`${point} was not passed ${pass} times`);
        child.kill('SIGKILL');
      }
    });
    const [, signal] = await exited;
    await read;
    this.#t.is(signal, 'SIGKILL', `${point} ended by itself`);
    this.#kills += 1;
  }

  async #drain(): Promise<void> {
    const [code] = (await once(this.#spawn('drain', ''), 'exit')) as [number | null];
    this.#t.is(code, 0);
    const { sent = 0, heard = 0, asked = 0, done = 0, failed = 0, dropped = 0 } = await this.#look('drained');
    this.#expect('lost', heard >= sent, `${sent} messages were told, ${heard} heard`);
    this.#expect('doubled', heard <= sent, `${sent} messages were told, ${heard} heard`);
    this.#expect('lost', done + failed + dropped === asked, `of ${asked} pieces ${done} came back`);
    this.#report();
  }

  /** Looks at what a process has left, as the next one will find it. Resolves with the counters. */
  async #look(where: string): Promise<{ readonly [name: string]: number }> {
    const store = openLmdbStore({ folder: join(this.#folder, 'store') });
    try {
      const { breaches, counters } = await lookAtLedgers(store, {
        promised: this.#promised,
        read: this.#read,
        done: (id) => this.#receiver.seen(id),
      });
      for (const { promise, text } of breaches) this.#expect(promise, false, `${where}: ${text}`);
      for (const breach of this.#receiver.breaches.splice(0)) this.#expect('doubled', false, breach);
      this.#report();
      return counters;
    } finally {
      await store.close();
    }
  }

  #expect(promise: LedgerPromise, kept: boolean, text: string): void {
    if (kept) return;
    this.#broken.push(text);
    if (promise === 'lost') this.#lost += 1;
    else if (promise === 'torn') this.#torn += 1;
    else this.#doubled += 1;
  }

  #report(): void {
    if (this.#broken.length > 0) this.#t.fail(this.#broken.splice(0).join('\n'));
  }
}

/**
 * A runtime whose actors are made by dice, on a real store, with a client that sends messages, sends them again, and a
 * process that dies: nothing of the runtime goes on, what was handed to the store may be stored or not.
 */
import { existsSync } from 'node:fs';
import { type ActorStore, type EffectHandler, Fatal, Faults, Retryable } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { RUNTIME_FAULT_POINTS, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import type { ExecutionContext } from 'ava';
import type { StepOutcome } from '#runtime/model/definition.js';
import { type BuiltRuntime, buildRuntime } from '#runtime/runtime.js';
import { folderFor } from '../folder.ts';
import {
  type Chart,
  definitionOf,
  EVENTS,
  KINDS,
  PEERS,
  peerOf,
  type Roll,
  randomChart,
} from './random-chart.ts';

const HOUR = 3_600_000;
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** A message of the client, and all it knows of it. */
export interface Sent {
  readonly id: string;
  readonly to: ReturnType<typeof peerOf>;
  readonly event: { readonly type: string; readonly what: string };
  accepted: number;
  duplicates: number;
  refused: number;
  sends: number;
}

interface Life {
  readonly store: ActorStore;
  readonly runtime: BuiltRuntime;
  readonly clock: SimulatedClock;
  readonly faults: Faults;
  readonly died: Promise<void>;
  isDead: boolean;
  die(): void;
}

/** A store that stops answering once its process is dead. */
function mortal(store: ActorStore, isDead: () => boolean): ActorStore {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        if (isDead()) return new Promise(() => {});
        const result: unknown = member.apply(target, args);
        if (!(result instanceof Promise)) return result;
        return new Promise((resolve, reject) => {
          result.then(
            (value) => isDead() || resolve(value),
            (error) => isDead() || reject(error),
          );
        });
      };
    },
  });
}

export class RandomSimulation {
  readonly charts: readonly Chart[];
  readonly sent: Sent[] = [];
  /** Everything the far side did: by effect key, for which actor and number. */
  readonly farSide = new Map<string, string>();
  readonly breaches: string[] = [];
  deaths = 0;
  readonly #roll: Roll;
  readonly #folder: string;
  readonly #seed: number;
  #life: Life;
  /** Sent, and not answered by this life. */
  #underWay = new Set<Promise<void>>();

  constructor(t: ExecutionContext, seed: number) {
    const dice = seededIds(seed);
    this.#seed = seed;
    this.#roll = (limit) => dice.bytes(4).readUInt32LE() % limit;
    this.#folder = folderFor(t, existsSync('/dev/shm') ? '/dev/shm' : undefined);
    this.charts = Array.from({ length: KINDS }, (_, n) => randomChart(`k${n}`, this.#roll));
    this.#life = this.#begin(Date.UTC(2026, 0, 1));
  }

  get store(): ActorStore {
    return this.#life.store;
  }

  /** Creates its actors, then does the given number of random actions. */
  async run(turns: number, look: () => Promise<void>): Promise<void> {
    for (let peer = 0; peer < PEERS; peer++) await this.#life.runtime.system.create(peerOf(peer), null);
    this.#life.runtime.start();
    for (let turn = 0; turn < turns; turn++) {
      await this.#turn();
      if (!this.#life.isDead) continue;
      await this.#revive();
      await look();
    }
    await this.#calm();
  }

  async close(): Promise<void> {
    this.#life.die();
    await this.#life.store.close();
  }

  async #turn(): Promise<void> {
    const roll = this.#roll;
    const { clock, faults } = this.#life;
    switch (roll(12)) {
      case 0:
        // What was found due just before a jump back is told after it; here nothing is on the way.
        await Promise.race([idle(this.#life.runtime), this.#life.died]);
        clock.setWallClock(roll(2) === 0 ? HOUR : -HOUR);
        break;
      case 1:
        clock.advance([1, 50, 5_000, 100_000][roll(4)] ?? 1);
        break;
      case 2:
        await this.#restartStopped();
        break;
      case 3:
        if (roll(2) === 0) this.#life.die();
        else {
          const points = Object.keys(RUNTIME_FAULT_POINTS);
          const point = points[roll(points.length)] ?? '';
          const isWritten = roll(2) === 0;
          const die = (): void | Promise<void> => {
            this.#life.die();
            // The store completes or drops what it has started, without an answer.
            if (!point.startsWith('store.')) return new Promise(() => {});
            if (!isWritten) throw new Error('the process is dead');
          };
          faults.arm(point, die, 1 + roll(20));
        }
        break;
      default:
        for (let n = 1 + roll(6); n > 0; n--) this.#send();
    }
    const answered = Promise.all(this.#underWay);
    if (roll(3) > 0) await Promise.race([answered, this.#life.died]);
    else for (let n = roll(4); n > 0; n--) await nextTurn();
  }

  /** A new message, or one of the last again. */
  #send(): void {
    const roll = this.#roll;
    const again = this.sent.at(-1 - roll(8));
    const id = `m${this.sent.length}`;
    const type = EVENTS[roll(EVENTS.length)] ?? 'E0';
    const counts = { accepted: 0, duplicates: 0, refused: 0, sends: 0 };
    const fresh: Sent = { id, to: peerOf(roll(PEERS)), event: { type, what: id }, ...counts };
    const message = again !== undefined && roll(4) === 0 ? again : fresh;
    if (message === fresh) this.sent.push(fresh);
    this.#tell(message);
  }

  #tell(message: Sent): void {
    message.sends += 1;
    const telling = this.#life.runtime.system.send(message.to, message.event, { id: message.id }).then(
      (outcome) => note(message, outcome),
      () => {},
    );
    this.#underWay.add(telling);
    void telling.then(() => this.#underWay.delete(telling));
  }

  async #restartStopped(): Promise<void> {
    const { runtime, died } = this.#life;
    for (let peer = 0; peer < PEERS; peer++) {
      await Promise.race([runtime.system.restart(peerOf(peer)), died]);
      if (this.#life.isDead) return;
    }
  }

  /** The next start finds the stored state, and a client that repeats its unanswered messages. */
  async #revive(): Promise<void> {
    this.deaths += 1;
    const { clock, store } = this.#life;
    await store.close();
    this.#underWay = new Set();
    this.#life = this.#begin(clock.now() + this.#roll(10_000));
    this.#life.runtime.start();
    for (const message of this.sent.slice(-8)) {
      if (message.accepted + message.duplicates + message.refused === 0) this.#tell(message);
    }
  }

  /** No more messages and deaths: all that is due is done, and nothing that is pending now stays so. */
  async #calm(): Promise<void> {
    const { runtime, clock, faults } = this.#life;
    faults.disarm();
    await Promise.all(this.#underWay);
    const before = new Set(await this.#pending());
    for (let round = 0; round < 16; round++) {
      await this.#restartStopped();
      clock.advance(2 * HOUR);
      await idle(runtime);
    }
    for (const key of await this.#pending()) {
      if (before.has(key)) this.breaches.push(`${key} is never done`);
    }
  }

  async #pending(): Promise<readonly string[]> {
    const keys: string[] = [];
    for (let peer = 0; peer < PEERS; peer++)
      for (const { key } of await this.store.pendingEffects(peerOf(peer))) keys.push(key);
    return keys;
  }

  #begin(now: number): Life {
    const clock = new SimulatedClock(now);
    const faults = new Faults();
    let tell = () => {};
    const died = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const store = openLmdbStore({ folder: this.#folder, faults });
    const life: Omit<Life, 'runtime'> = {
      store,
      clock,
      faults,
      died,
      isDead: false,
      die() {
        life.isDead = true;
        tell();
      },
    };
    const runtime: BuiltRuntime = buildRuntime({
      store: mortal(store, () => life.isDead),
      clock,
      ids: seededIds(this.#seed + this.deaths),
      log: QUIET,
      faults,
      definitions: this.charts.map(definitionOf),
      handlers: this.#handlers(() => runtime),
      cachedActors: this.#roll(2) === 0 ? 2 : 100,
      restarts: { restarts: 3 },
    });
    return Object.assign(life, { runtime });
  }

  #handlers(runtime: () => BuiltRuntime): { readonly [name: string]: EffectHandler } {
    const work: EffectHandler['run'] = async ({ n }: { n: number }, { key, actor }) => {
      this.#do(key, `${actor.id} ${n}`);
      return { type: 'DONE', what: String(n) };
    };
    const failed: EffectHandler['failed'] = ({ n }: { n: number }) => ({ type: 'GAVE_UP', what: String(n) });
    return {
      plain: { after: 'visible', run: work, failed },
      partitioned: {
        after: 'durable',
        partitioning: {
          atOnce: 2,
          perPartition: 1,
          partitionOf: ({ n }: { n: number }) => `partition-${n % 2}`,
        },
        run: work,
        failed,
      },
      flaky: {
        after: 'durable',
        run: (effect, attempt, context) => {
          if (attempt.failures < effect.n % 4) throw new Retryable('busy', 'not yet');
          return work(effect, attempt, context);
        },
        failed,
      },
      doomed: {
        after: 'durable',
        run: () => Promise.reject(new Fatal('never', 'it cannot be done')),
        failed,
      },
      spawn: {
        after: 'durable',
        run: async ({ n }: { n: number }, { key }) => {
          await runtime().system.create({ kind: 'k0', id: key.replaceAll('/', '.') }, null);
          return { type: 'SPAWNED', what: String(n) };
        },
      },
    };
  }

  #do(key: string, what: string): void {
    const before = this.farSide.get(key);
    if (before !== undefined && before !== what)
      this.breaches.push(`${key} was ${before} and is now ${what}`);
    if (before === undefined && [...this.farSide.values()].includes(what))
      this.breaches.push(`${what} came under two keys`);
    this.farSide.set(key, what);
  }
}

function note(message: Sent, outcome: StepOutcome): void {
  if (outcome.accepted) message.accepted += 1;
  else if (outcome.reason === 'duplicate') message.duplicates += 1;
  else message.refused += 1;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Resolves once nothing has moved for some turns, or all that is left waits for time. */
async function idle(runtime: BuiltRuntime): Promise<void> {
  let still = 0;
  for (const end = performance.now() + 10_000; still < 20 && performance.now() < end; ) {
    await nextTurn();
    const { awakeActors, effectsInFlight } = runtime.stats();
    still = awakeActors + effectsInFlight === 0 ? still + 1 : 0;
  }
}

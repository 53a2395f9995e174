/**
 * N nodes on one database in memory, with suspended and killed nodes, an absent database, and delayed, reordered and
 * lost statements. Runtime, sessions, leases, commits and changes are the code of the product; the invariants are
 * checked where the database runs the statements, and at the end.
 */

import type { ActorDefinition, EffectHandler, Log, StoredEffect } from '@sealwright/runtime';
import { note } from '@sealwright/runtime/actions';
import { MemoryDatabase, MemoryStore, openMemoryNode, seededIds } from '@sealwright/runtime/testing';
import { assign, setup } from 'xstate';
import { buildRuntime } from '#runtime/runtime.js';
import type { EncodedStep } from '#runtime/store/postgres/steps-as-arrays.js';
import { Singletons } from '../../../actors/shared/coordination/singletons.ts';
import { anyEffect } from '../any-effect.ts';
import { SimulatedCluster, type SimulatedProcess } from './simulated-cluster.ts';

const LEASE_SECONDS = 2;
const LEASE_MS = LEASE_SECONDS * 1000;

/** Time in which faults happen, and time after it until everything must be done, milliseconds. */
const FAULTS_MS = 9_000;
const END_MS = 120_000;

/** Rounds of one task: an effect, then a deadline. */
const ROUNDS = 2;

const SINGLETON = 'sweep';

interface TaskContext {
  readonly rounds: number;
}

const task = setup({
  types: { context: {} as TaskContext, events: {} as { type: string; by?: string } },
  actions: {
    effect: anyEffect,
    note,
    count: assign({ rounds: ({ context }) => context.rounds + 1 }),
  },
  guards: { isLast: ({ context }) => context.rounds + 1 >= ROUNDS },
  delays: { pause: ({ context }) => 400 + 300 * context.rounds },
}).createMachine({
  id: 'task',
  context: { rounds: 0 },
  initial: 'Idle',
  states: {
    Idle: { on: { START: 'Working' } },
    Working: {
      entry: {
        type: 'effect',
        params: ({ context }) => ({ do: context.rounds % 2 === 0 ? 'once' : 'work' }),
      },
      on: {
        DONE: [
          {
            guard: 'isLast',
            target: 'Finished',
            actions: ['count', { type: 'note', params: { message: 'done' } }],
          },
          { target: 'Waiting', actions: ['count', { type: 'note', params: { message: 'done' } }] },
        ],
      },
    },
    Waiting: {
      after: { pause: { target: 'Working', actions: { type: 'note', params: { message: 'fired' } } } },
    },
    Finished: {
      entry: {
        type: 'effect',
        params: { do: 'tell', to: { kind: 'ledger', id: 'all' }, event: { type: 'ADD' } },
      },
    },
  },
});

const ledger = setup({
  types: { context: {} as { count: number } },
  actions: { add: assign({ count: ({ context }) => context.count + 1 }) },
}).createMachine({
  id: 'ledger',
  context: { count: 0 },
  initial: 'Open',
  states: { Open: { on: { ADD: { actions: 'add' } } } },
});

const DEFINITIONS: readonly ActorDefinition[] = [
  { kind: 'task', version: 1, machine: task, counters: ({ state }) => ({ [`task.${state}`]: 1 }) },
  { kind: 'ledger', version: 1, machine: ledger },
  { kind: 'sweeper', version: 1, machine: ledger },
];
const LEDGER = { kind: 'ledger', id: 'all' };
const SWEEPER = { kind: 'sweeper', id: 'one' };

const quiet = (): void => {};
const SILENT: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** A check that is left out, to see that the simulation notices. */
export type Mutation =
  | 'none'
  | 'no fencing'
  | 'outcomes twice'
  | 'no take-over of timers'
  | 'two singletons'
  | 'take-over right after an outage';

export interface SimulationReport {
  readonly seed: number;
  /** Broken invariants; empty: all held. */
  readonly broken: readonly string[];
  readonly trace: readonly string[];
  /** Number of sessions that were taken over. */
  readonly takenOver: number;
  /** Simulated time until everything was done, milliseconds. */
  readonly elapsed: number;
  /** Statements that reached the database. */
  readonly statements: number;
}

/** The database, with the checks of what it runs. */
class CheckedDatabase extends MemoryDatabase {
  readonly broken: string[] = [];
  takenOver = 0;
  readonly #cluster: SimulatedCluster;
  readonly #mutation: Mutation;
  /** Sessions that were taken over, recorded apart from what fences them. */
  readonly #over = new Set<number>();
  readonly #settled = new Map<string, number>();
  readonly #settledEffects = new Map<string, StoredEffect>();

  constructor(cluster: SimulatedCluster, mutation: Mutation) {
    super({ now: () => cluster.now });
    this.#cluster = cluster;
    this.#mutation = mutation;
  }

  protected override mayCommit(token: number): boolean {
    return this.#mutation === 'no fencing' || super.mayCommit(token);
  }

  override async commit(token: number, steps: readonly EncodedStep[], isReported: boolean) {
    if (this.#mutation === 'outcomes twice') for (const { step } of steps) this.#restore(step.settles);
    for (const { step } of steps) {
      const effect = step.settles === null ? undefined : this.tables.effects.get(step.settles);
      if (effect !== undefined) this.#settledEffects.set(effect.key, effect);
    }
    const row = await super.commit(token, steps, isReported).finally(() => this.#removeRestored(steps));
    for (const [at, { step }] of steps.entries()) {
      const { kind, id } = step.actor.address;
      const what = `${kind}/${id} ${step.basedOn + 1} ${step.actor.state}`;
      this.#cluster.say(`session ${token} commits ${what}: ${row.outcomes[at]}`);
      if (row.outcomes[at] !== 'ok') continue;
      if (this.#over.has(token)) this.#fail(`session ${token} committed ${what} after it was taken over`);
      if (kind === SWEEPER.kind && step.basedOn > 0 && this.leases.get(SINGLETON) !== token)
        this.#fail(`the component of session ${token} worked without the lease`);
      if (step.settles === null) continue;
      const count = (this.#settled.get(step.settles) ?? 0) + 1;
      this.#settled.set(step.settles, count);
      if (count > 1) this.#fail(`the outcome of ${step.settles} was committed ${count} times`);
    }
    return row;
  }

  /** Makes a settled effect look unsettled. */
  #restore(key: string | null): void {
    const effect = key === null ? undefined : this.#settledEffects.get(key);
    if (key !== null && effect !== undefined) this.tables.effects.set(key, effect);
  }

  #removeRestored(steps: readonly EncodedStep[]): void {
    for (const { step } of steps)
      if (this.#settled.has(step.settles ?? '')) this.tables.effects.delete(step.settles ?? '');
  }

  override async takeOver(token: number, silentUntil: number, node: string) {
    const before = new Map(this.sessions);
    const owners = this.#mutation === 'no take-over of timers' ? new Map(this.tables.owners) : undefined;
    const isHasty = this.#mutation === 'take-over right after an outage';
    const taken = await super.takeOver(token, isHasty ? Number.POSITIVE_INFINITY : silentUntil, node);
    for (const key of this.tables.timers.keys()) {
      const owner = owners?.get(key);
      if (owner !== undefined) this.tables.owners.set(key, owner);
    }
    for (const [other, session] of before) {
      if (this.sessions.has(other)) continue;
      this.#over.add(other);
      // Each node has one lease to renew its session after an outage that may have silenced all of them.
      const isOthers = session.node !== node && Number.isFinite(session.seenAt);
      if (isOthers && this.#cluster.hadOutage(LEASE_MS, this.#cluster.now - LEASE_MS))
        this.#fail(`session ${token} took over session ${other} within one lease of an outage`);
      if (Number.isFinite(session.seenAt)) this.takenOver += 1;
      this.#cluster.say(`session ${token} takes over session ${other} (${session.node})`);
    }
    return taken;
  }

  override async acquire(token: number, name: string) {
    const before = this.leases.get(name);
    if (this.#mutation === 'two singletons') this.leases.delete(name);
    const isAcquired = await super.acquire(token, name);
    if (isAcquired && before !== undefined && before !== token && this.sessions.has(before))
      this.#fail(`session ${token} acquired "${name}" while session ${before} had it`);
    if (isAcquired) this.#cluster.say(`session ${token} runs "${name}"`);
    return isAcquired;
  }

  #fail(text: string): void {
    this.broken.push(text);
    this.#cluster.say(`BROKEN: ${text}`);
  }
}

/** Node of a cluster; a new process of the same name follows one that has ended. */
class SimulatedNode {
  readonly name: string;
  system: ReturnType<typeof buildRuntime>['system'] | undefined;
  process: SimulatedProcess;
  readonly #cluster: SimulatedCluster;
  readonly #database: MemoryDatabase;

  constructor(name: string, cluster: SimulatedCluster, database: MemoryDatabase) {
    this.name = name;
    this.#cluster = cluster;
    this.#database = database;
    this.process = { isAlive: false, suspendedUntil: 0, skew: 0 };
  }

  start(): void {
    const cluster = this.#cluster;
    // Wall clocks differ by minutes.
    const process = { isAlive: true, suspendedUntil: 0, skew: cluster.between(-300_000, 300_000) };
    this.process = process;
    cluster.say(`${this.name} starts`);
    this.#open(process).catch((error: { readonly message?: string }) => {
      if (!process.isAlive) return;
      cluster.say(`${this.name} did not start: ${error.message}`);
      this.end(500);
    });
  }

  /** Ends the process and starts the next one after a pause. */
  end(pause: number): void {
    this.process.isAlive = false;
    this.system = undefined;
    this.#cluster.schedule(pause, () => this.start());
  }

  async #open(process: SimulatedProcess): Promise<void> {
    const cluster = this.#cluster;
    const clock = cluster.clockOf(process);
    const store = await openMemoryNode({
      database: this.#database,
      link: cluster.linkOf(process),
      clock,
      log: SILENT,
      node: this.name,
      leaseSeconds: LEASE_SECONDS,
      onLost: () => {
        if (!process.isAlive) return;
        cluster.say(`${this.name} has lost its session`);
        this.end(cluster.between(100, 1000));
      },
    });
    const handler = (interrupted: boolean): EffectHandler => ({
      after: 'durable',
      run: async () => {
        await store.nodes.clock.sleep(cluster.between(1, 700));
        return { type: 'DONE' };
      },
      ...(interrupted && { interrupted: () => ({ type: 'DONE' }) }),
    });
    const runtime = buildRuntime({
      store,
      clock: store.nodes.clock,
      ids: seededIds(cluster.between(0, 1e9)),
      log: SILENT,
      definitions: DEFINITIONS,
      handlers: { work: handler(false), once: handler(true) },
    });
    runtime.start();
    this.system = runtime.system;
    const singletons = new Singletons({ store, clock, log: SILENT });
    const sweep = (): void => {
      runtime.system.send(SWEEPER, { type: 'ADD' }).catch(() => {});
      clock.after(700, sweep);
    };
    await singletons.run(SINGLETON, sweep);
  }
}

/** Runs one seed, with 2 to 4 nodes unless their number is given. Errors have no stacks meanwhile: lost statements make many. */
export async function simulate(
  seed: number,
  mutation: Mutation = 'none',
  nodes?: number,
): Promise<SimulationReport> {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return await simulateSeed(seed, mutation, nodes);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

async function simulateSeed(
  seed: number,
  mutation: Mutation,
  size: number | undefined,
): Promise<SimulationReport> {
  const cluster = new SimulatedCluster(seed);
  const database = new CheckedDatabase(cluster, mutation);
  const count = size ?? cluster.between(2, 4);
  const nodes = Array.from({ length: count }, (_, at) => new SimulatedNode(`node-${at}`, cluster, database));
  for (const node of nodes) cluster.schedule(cluster.between(0, 500), () => node.start());
  scheduleFaults(cluster, nodes);
  const tasks = Array.from({ length: size ?? cluster.between(2, 4) }, (_, at) => ({
    kind: 'task',
    id: `t${at}`,
  }));
  for (const address of [LEDGER, SWEEPER])
    cluster.schedule(cluster.between(0, 500), () => void request(cluster, nodes, address));
  // A message to an actor that does not exist is dropped.
  const hasLedger = () =>
    [...database.tables.actors.values()].some(({ address }) => address.kind === 'ledger');
  const begin = (address: (typeof tasks)[number]): void => {
    if (hasLedger()) void request(cluster, nodes, address);
    else cluster.schedule(200, () => begin(address));
  };
  for (const address of tasks) cluster.schedule(cluster.between(500, 6000), () => begin(address));
  const reads = new MemoryStore(database.tables);
  const isDone = (): boolean =>
    database.tables.effects.size === 0 &&
    database.tables.timers.size === 0 &&
    (database.tables.counters.get('task.Finished') ?? 0) === tasks.length;
  const isOver = await cluster.run(
    END_MS,
    () => database.broken.length > 0 || (cluster.now > FAULTS_MS && isDone()),
  );
  const broken = [...database.broken];
  if (!isOver) {
    const { effects, timers, counters } = database.tables;
    broken.push(
      `not done after ${END_MS} ms: effects ${[...effects.keys()].join(' ')}; deadlines ${[...timers.keys()].join(' ')}; ${JSON.stringify([...counters])}`,
    );
  } else if (broken.length === 0) {
    for (const address of tasks) {
      const lines = (await reads.journal(address)).map(({ message }) => message);
      const done = lines.filter((message) => message === 'done').length;
      const fired = lines.filter((message) => message === 'fired').length;
      if (done !== ROUNDS) broken.push(`${address.id} has ${done} outcomes`);
      if (fired !== ROUNDS - 1) broken.push(`${address.id} has ${fired} deadlines`);
    }
    const added = ((await reads.load(LEDGER))?.context as { readonly count?: number } | undefined)?.count;
    if (added !== tasks.length) broken.push(`the ledger was told ${added} times of ${tasks.length} tasks`);
  }
  // Nothing of this run goes on.
  for (const node of nodes) node.process.isAlive = false;
  const { trace, statements, now: elapsed } = cluster;
  return { seed, broken, trace, takenOver: database.takenOver, elapsed, statements };
}

/** Suspends and kills nodes, and takes the database away, until the time of faults is over. */
function scheduleFaults(cluster: SimulatedCluster, nodes: readonly SimulatedNode[]): void {
  for (let at = cluster.between(500, 2500); at < FAULTS_MS; at += cluster.between(300, 3000)) {
    const node = nodes[cluster.between(0, nodes.length - 1)];
    const kind = cluster.random();
    const length = cluster.between(100, 3 * LEASE_MS);
    cluster.schedule(at, () => {
      if (node === undefined) return;
      if (kind < 0.5) {
        cluster.say(`${node.name} is suspended for ${length} ms`);
        node.process.suspendedUntil = Math.max(node.process.suspendedUntil, cluster.now + length);
      } else if (kind < 0.85) {
        if (!node.process.isAlive) return;
        cluster.say(`${node.name} is killed`);
        node.end(length / 4);
      } else {
        cluster.beginOutage(length);
      }
    });
  }
  // One that is longer than a lease silences all nodes at once.
  if (cluster.random() < 0.5)
    cluster.schedule(cluster.between(1000, FAULTS_MS - 2 * LEASE_MS), () =>
      cluster.beginOutage(cluster.between(LEASE_MS + 100, 2 * LEASE_MS)),
    );
  cluster.schedule(FAULTS_MS, () => {
    cluster.isRough = false;
  });
}

/** Creates and starts an actor as a client does that repeats what was not answered. */
async function request(
  cluster: SimulatedCluster,
  nodes: readonly SimulatedNode[],
  address: { readonly kind: string; readonly id: string },
): Promise<void> {
  const again = () => cluster.schedule(cluster.between(50, 400), () => void request(cluster, nodes, address));
  const node = nodes[cluster.between(0, nodes.length - 1)];
  const { process, system } = node ?? {};
  if (process === undefined || system === undefined || !process.isAlive) {
    again();
    return;
  }
  // A node that ends does not answer.
  let isAnswered = false;
  cluster.schedule(2000, () => {
    if (isAnswered) return;
    isAnswered = true;
    again();
  });
  try {
    const input = address.kind === 'task' ? { rounds: 0 } : { count: 0 };
    await system.create(address, input);
    if (address.kind === 'task') await system.send(address, { type: 'START' }, { id: 'start' });
    isAnswered = true;
  } catch {
    if (isAnswered) return;
    isAnswered = true;
    again();
  }
}

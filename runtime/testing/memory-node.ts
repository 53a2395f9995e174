/**
 * The store of one node on a database in memory, for simulations: sessions, commits, changes and leases of effects are
 * the code of the store on PostgreSQL; only the statements are those of `memory-database.ts`.
 */
import { Faults } from '../model/faults.ts';
import type {
  ActorStore,
  Clock,
  Committed,
  Log,
  NodeStatus,
  Step,
  StoredEffect,
  StoreNodes,
} from '../model/ports.ts';
import { MemoryStore } from '../store/memory/memory-store.ts';
import { ChangeFeed } from '../store/postgres/change-feed.ts';
import { Committer } from '../store/postgres/committer.ts';
import { unavailable } from '../store/postgres/connection/connection.ts';
import { EffectLeases } from '../store/postgres/effect-leases.ts';
import { Session, type SessionOptions, StoreClock } from '../store/postgres/session.ts';
import type { ChangeStatements, CommitStatements, SessionStatements } from '../store/postgres/statements.ts';
import type { MemoryDatabase } from './memory-database.ts';

/** The way to the database: runs a statement there, or rejects when its answer is lost. */
export type Link = <Result>(statement: () => Promise<Result>) => Promise<Result>;

export interface MemoryNodeOptions extends SessionOptions {
  readonly database: MemoryDatabase;
  readonly link: Link;
  readonly clock: Clock;
  readonly log: Log;
}

/** Opens the store of a node. Rejects as `Session.open` does, and with errors of the link. */
export async function openMemoryNode(
  options: MemoryNodeOptions,
): Promise<ActorStore & { readonly nodes: StoreNodes }> {
  const { database, link, clock, log } = options;
  const storeClock = new StoreClock(clock);
  const session = await Session.open(sessionsOver(database, link), options, { clock, storeClock, log });
  let committer: Committer | undefined;
  const feed = await ChangeFeed.open(changesOver(database, link), clock, {
    log,
    session,
    commits: {
      answered: async () => committer?.answered(),
      tellUncertain: async () => committer?.tellUncertain(),
    },
  });
  committer = new Committer(commitsOver(database, link), session, new Faults(), feed);
  const leases = new EffectLeases(
    clock,
    (held) => link(() => database.releaseAllBut(session.token, held)),
    () => feed.listener?.adopted(),
  );
  return storeOf(options, storeClock, { session, feed, committer, leases });
}

function sessionsOver(database: MemoryDatabase, link: Link): SessionStatements {
  return {
    begin: (...given) => link(() => database.begin(...given)),
    heartbeat: (...given) => link(() => database.heartbeat(...given)),
    takeOver: (...given) => link(() => database.takeOver(...given)),
    end: (...given) => link(() => database.end(...given)),
  };
}

function commitsOver(database: MemoryDatabase, link: Link): CommitStatements {
  return {
    commit: (...given) => link(() => database.commit(...given)),
    stored: (...given) => link(() => database.stored(...given)),
  };
}

function changesOver(database: MemoryDatabase, link: Link): ChangeStatements {
  return {
    open: (...given) => link(() => database.open(...given)),
    page: (...given) => link(() => database.page(...given)),
    consistently: (...given) => link(() => database.consistently(...given)),
  };
}

function storeOf(
  { database, link, node }: MemoryNodeOptions,
  clock: StoreClock,
  {
    session,
    feed,
    committer,
    leases,
  }: {
    readonly session: Session;
    readonly feed: ChangeFeed;
    readonly committer: Committer;
    readonly leases: EffectLeases;
  },
): ActorStore & { readonly nodes: StoreNodes } {
  const ask = async <Result>(read: (store: MemoryStore) => Promise<Result>): Promise<Result> => {
    try {
      return await link(() => read(new MemoryStore(database.tables, session.token)));
    } catch (error) {
      throw unavailable(error);
    }
  };
  session.attach({
    report: () => ({}),
    position: () => feed.position,
    adopted: () => feed.listener?.adopted(),
    draining: () => feed.listener?.draining?.(),
  });
  return {
    nodes: nodesOf(database, link, { clock, name: node, session, feed }),
    load: (actor) => ask((store) => store.load(actor)),
    actors: (query) => ask((store) => store.actors(query)),
    async commit(step: Step): Promise<Committed> {
      const committed = await committer.commit(step);
      const isSettled = committed.ok || committed.reason === 'duplicate';
      if (step.settles !== null && isSettled) leases.end(step.settles);
      return committed;
    },
    journal: (actor, options) => ask((store) => store.journal(actor, options)),
    rows: (query) => ask((store) => store.rows(query)),
    counters: (prefix) => ask((store) => store.counters(prefix)),
    holder: (name) => ask((store) => store.holder(name)),
    names: (query) => ask((store) => store.names(query)),
    leaseEffects: (...given): Promise<readonly StoredEffect[]> =>
      leases.add(() => ask((store) => store.leaseEffects(...given))),
    partitions: (query) => ask((store) => store.partitions(query)),
    async deferEffect(key, until, error) {
      await ask((store) => store.deferEffect(key, until, error));
      leases.end(key);
    },
    async releaseEffects(keys) {
      await ask((store) => store.releaseEffects(keys));
      for (const key of keys) leases.end(key);
    },
    async settleEffects(keys) {
      await ask((store) => store.settleEffects(keys));
      for (const key of keys) leases.end(key);
    },
    rescheduleAfterClockRegression: (now) => ask((store) => store.rescheduleAfterClockRegression(now)),
    nextEffectDue: () => ask((store) => store.nextEffectDue()),
    pendingEffects: (actor) => ask((store) => store.pendingEffects(actor)),
    failedEffects: (query) => ask((store) => store.failedEffects(query)),
    failedEffectCount: () => ask((store) => store.failedEffectCount()),
    effects: (query) => ask((store) => store.effects(query)),
    takeEffect: (key, due, error) => ask((store) => store.takeEffect(key, due, error)),
    timers: (query) => ask((store) => store.timers(query)),
    dueTimers: (now, limit) => ask((store) => store.dueTimers(now, limit)),
    nextTimerDue: () => ask((store) => store.nextTimerDue()),
    flushed: () => committer.idle(),
    refusal: () => undefined,
    describe: () => ({ engine: 'memory', location: 'this process' }),
    async close() {
      await committer.idle();
      await feed.stop();
      await session.close().catch(() => {});
    },
  };
}

function statusOf({ sessions, leases }: MemoryDatabase, own: number): readonly NodeStatus[] {
  return [...sessions].flatMap(([session, { node, leaseMs, info, seenAt }]) =>
    Number.isFinite(seenAt)
      ? {
          name: node,
          session,
          isThis: session === own,
          openedAt: 0,
          silentMs: 0,
          isDraining: false,
          leaseSeconds: leaseMs / 1000,
          effectsLeased: 0,
          info: JSON.parse(info),
          report: null,
          leases: [...leases].flatMap(([name, holder]) => (holder === session ? name : [])),
        }
      : [],
  );
}

function nodesOf(
  database: MemoryDatabase,
  link: Link,
  {
    clock,
    name,
    session,
    feed,
  }: {
    readonly clock: StoreClock;
    readonly name: string;
    readonly session: Session;
    readonly feed: ChangeFeed;
  },
): StoreNodes {
  return {
    clock,
    name,
    get slot() {
      return session.slot;
    },
    get deadline() {
      return session.deadline;
    },
    get count() {
      return session.nodes;
    },
    follow: (listener) => feed.follow(listener),
    sync: () => feed.sync(),
    started: () => {},
    countersInOrder: (prefix, use) => feed.readCounters(prefix, use),
    acquire: (lease) => link(() => database.acquire(session.token, lease)),
    release: (lease) => link(() => database.release(session.token, lease)),
    takePermit: async () => 0,
    list: () => link(async () => statusOf(database, session.token)),
    drain: async () => false,
  };
}

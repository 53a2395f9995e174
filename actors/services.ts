/** The services of one process on one runtime, one store and one pool of threads. */
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { ActorCalls, type Clock, createRuntime, describeFailure, type Runtime } from '@sealwright/runtime';
import { type ShardOptions, shards as shardsOf } from '@sealwright/runtime/shards';
import { type Batch, planBatch } from './batch/batch.ts';
import type { BatchOptions } from './batch/batch-options.ts';
import { mailProbe, objectsProbe } from './batch/health-probes.ts';
import type { BatchObserver } from './batch/observer.ts';
import { createHistory, type History, type HistoryOptions } from './history/history.ts';
import type { HostedService, ServicePlan, ServiceRuntime } from './hosting/service-plan.ts';
import { SigningPool } from './pool/pool.ts';
import { poolOptions } from './pool/pool-options.ts';
import { type Portal, planPortal } from './portal/portal.ts';
import type { PortalOptions } from './portal/portal-options.ts';
import { portalDefinitions } from './portal/registry.ts';
import { ACTOR_KINDS, RESTING_STATES } from './shard-module.ts';
import { Singletons } from './shared/coordination/singletons.ts';
import { createStorageFolders } from './shared/files/storage-folders.ts';
import { nodeFolderName } from './shared/files/storage-layout.ts';

export interface ServicesOptions {
  readonly batch: BatchOptions;
  /** Left out: there is no portal. */
  readonly portal?: PortalOptions | undefined;
  /** Left out: the history is not sealed. */
  readonly history?: HistoryOptions | undefined;
  /** `Runtime:Shards`: threads that host actors. @default 1: the main thread does */
  readonly shards?: number | undefined;
  /** @default those of the runtime */
  readonly shardLimits?: Pick<ShardOptions, 'memory' | 'heartbeatTimeoutMs' | 'losses'>;
  /** Called when an operator asked this node to drain; may be called again. @default none */
  readonly onDraining?: (() => void) | undefined;
  /** Called when the threads that host actors are lost repeatedly. @default none */
  readonly onLost?: ((why: string) => void) | undefined;
}

interface ServicesBase extends Omit<ServiceRuntime, 'actors'> {
  /** The same faults as text, for the pool's threads. */
  readonly faultsText: string;
  /** Receives the events of jobs, for metrics. */
  readonly observer?: BatchObserver;
}

export class Services {
  readonly #all: readonly HostedService[];

  readonly batch: Batch;
  readonly portal: Portal | undefined;

  private constructor(
    private readonly needs: {
      readonly common: ServiceRuntime;
      readonly pool: SigningPool;
      readonly runtime: Runtime;
      readonly batch: Batch;
      readonly portal: Portal | undefined;
      readonly history: History | undefined;
      readonly singletons: Singletons;
    },
  ) {
    this.batch = needs.batch;
    this.portal = needs.portal;

    this.#all = needs.portal === undefined ? [needs.batch] : [needs.batch, needs.portal];
  }

  /** Opens the services and recovers the last run. They answer requests from here on; nothing is begun before `start`. */
  static async open(options: ServicesOptions, given: ServicesBase): Promise<Services> {
    const { store, clock, ids, log, faults, faultsText, observer } = given;
    const { layout } = options.batch;
    const { shards = 1 } = options;
    createStorageFolders(layout, []);
    const pool = createPool(options, given);
    // The services are built first: the runtime needs their handlers.
    const calls = new ActorCalls();
    const common: ServiceRuntime = { actors: calls, store, clock, ids, log, faults };
    const batchPlan = await planBatch(options.batch, common, pool, observer);
    const portalPlan = options.portal && (await planPortal(options.portal, common, pool));
    const plans: readonly ServicePlan[] = portalPlan ? [batchPlan, portalPlan] : [batchPlan];
    const planOf = new Map(
      plans.flatMap((plan) => plan.definitions.map(({ kind }) => [kind, plan] as const)),
    );
    let opened: Batch | undefined;
    const history = options.history && createHistory(options.history, common, ACTOR_KINDS, RESTING_STATES);
    const singletons = new Singletons(common);
    // Before the first step, so that none is missed.
    if (history !== undefined) await startHistory(history, singletons, clock);
    const runtime = await createRuntime({
      store,
      actors: plans.flatMap(({ definitions }) => definitions),
      // A service without the portal keeps what the portal has stored.
      dormant: portalPlan ? [] : portalDefinitions,
      handlers: plans.flatMap(({ handlers }) => handlers),
      calls,
      start: 'later',
      clock,
      ids,
      log,
      faults,
      crashJournal: join(layout.db, crashJournalName(store.nodes?.name)),
      deadLetters: false,
      onCommitted: (step, isOwn) => {
        opened?.inspection.changes.observe();
        planOf.get(step.actor.address.kind)?.observe(step, isOwn);
        if (singletons.runsHere('history')) history?.observe(step);
      },
      onUnaccepted: (_, what) => observer?.unaccepted(what),
      ...(options.onDraining && { onDraining: options.onDraining }),
      ...(shards > 1 && {
        shards: shardsOf(shards, new URL('./shard-module.js', import.meta.url), {
          faults: faultsText,
          onLost: options.onLost ?? (() => {}),
          onReplaced: () => observer?.threadLost(),
          ...options.shardLimits,
        }),
      }),
    });
    // Migrations are not observed, nor is what other nodes committed since their start.
    if (store.nodes === undefined ? runtime.migrated > 0 : singletons.runsHere('history')) history?.compare();
    const batch = await batchPlan.open(runtime);
    opened = batch;
    const portal = await portalPlan?.open();
    const objects = options.batch.objects ?? options.portal?.objects;
    if (objects) batch.health.add(objectsProbe(objects, clock, log));
    if (portal) batch.health.add(mailProbe(portal.mailTrouble));
    return new Services({ common, pool, runtime, batch, portal, history, singletons });
  }

  /** Time for which each kind of task of the pool took so far; see `SigningPool.stages`. */
  get stages(): SigningPool['stages'] {
    return this.needs.pool.stages;
  }

  /** Takes up stored work, watches the folders, claims jobs. */
  async start(): Promise<void> {
    this.needs.runtime.start();
    for (const service of this.#all) await service.start();
    for (const flag of compilerFlags(process.versions.v8)) setFlagsFromString(flag);
  }

  /**
   * Takes nothing new from the call on, lets what is under way finish for up to `grace` milliseconds, then cuts it
   * off. What is left is found by the recovery of the next start. The store stays open; its owner closes it.
   * @param requests resolves when no request sends messages to actors any more
   */
  async stop(grace: number, requests?: Promise<unknown>): Promise<void> {
    const { clock, store, log } = this.needs.common;
    const { pool } = this.needs;
    const until = clock.elapsed() + grace;
    await Promise.all(this.#all.map((service) => service.drain(grace)));
    const left = Math.max(0, until - clock.elapsed());
    const stopped = this.needs.runtime.stop({ graceMs: left, ...(requests && { requests }) });
    // Set after the deadline of the runtime, so that results of lost tasks are ignored.
    const cancel = clock.after(left, () => void pool.destroy());
    await stopped;
    cancel();
    await pool.close();
    await this.needs.singletons.stop();
    await (this.needs.singletons.runsHere('history') ? this.needs.history : undefined)
      ?.stop()
      .catch((error: unknown) =>
        log.warn('The history could not be sealed; the next start does so.', { ...describeFailure(error) }),
      );
    await this.needs.singletons.release();
    await store.flushed();
  }
}

function createPool({ batch, portal }: ServicesOptions, given: ServicesBase): SigningPool {
  const { store, clock, log, faultsText } = given;
  const { layout, threads, eagerThreads, maxConcurrency, taskTimeout } = batch;
  return new SigningPool({
    // Without a portal, jobs in flight are the only tasks.
    threads: portal === undefined ? Math.min(threads, maxConcurrency) : threads,
    eagerThreads,
    clock,
    log,
    ...(taskTimeout !== undefined && { deadlineMs: taskTimeout }),
    // The portal uses the profiles of the batch service, and adds its own if none of them signs locally.
    ...poolOptions(
      { ...batch, profiles: portal?.profiles ?? batch.profiles },
      {
        processing: layout.processing,
        allProcessing: layout.allProcessing,
        output: layout.output,
        publishesElsewhere: batch.objects !== undefined,
        error: layout.error,
        lease: store.nodes?.deadline.memory,
        clock: store.nodes?.clock.memory,
        faults: faultsText,
      },
    ),
  });
}

/** Milliseconds between two reads of the record of the last stop. */
const HISTORY_RETRY_MS = 100;

async function startHistory(history: History, singletons: Singletons, clock: Clock): Promise<void> {
  await singletons.run('history', () => history.start());
  // The node that runs it may be ending.
  while (await history.isRecordedAsStopped()) await clock.sleep(HISTORY_RETRY_MS);
}

/** Each node has its own record. */
function crashJournalName(node: string | undefined): string {
  return node === undefined ? 'effects-under-way.json' : `effects-under-way-${nodeFolderName(node)}.json`;
}

/**
 * V8 of Node 22 optimizes a function after 3,000 calls, in each thread. From the end of a start on it optimizes after a fourth of
 * that, and inlines less, which takes two thirds of the compiler's time. A start itself is shorter without. Node 24 gains nothing:
 * this ends with Node 22.
 */
export function compilerFlags(v8: string): readonly string[] {
  if (!v8.startsWith('12.')) return [];
  return ['--invocation-count-for-turbofan=700', '--max-inlined-bytecode-size-cumulative=250'];
}

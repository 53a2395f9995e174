/** The services of one process on one runtime, one store and one pool of threads. */
import { createRuntime, migrateStore, type Runtime, type ShardOptions } from '../runtime/index.ts';
import { Batch, type BatchOptions, type BatchParts } from './batch.ts';
import { SigningPool } from './pool/pool.ts';
import { poolOptions } from './pool/pool-options.ts';
import { Portal, type PortalOptions } from './portal/portal.ts';
import type { HostedService, ServiceParts, ServicePlan } from './service-plan.ts';
import { shardParts } from './shard-parts.ts';
import { makeStorageFolders } from './storage-folders.ts';

export interface ServicesOptions {
  readonly batch: BatchOptions;
  /** Left out: there is no portal. */
  readonly portal?: PortalOptions | undefined;
  /** `Runtime:Shards`: threads that host actors. @default 1: the main thread does */
  readonly shards?: number | undefined;
  /** @default those of the runtime */
  readonly shardLimits?: Pick<ShardOptions, 'memory' | 'patience' | 'losses'>;
  /** Told when the threads that host actors are lost again and again. @default nobody */
  readonly onLost?: ((why: string) => void) | undefined;
}

export class Services {
  readonly batch: Batch;
  readonly portal: Portal | undefined;
  readonly #parts: ServiceParts;
  readonly #runtime: Runtime;
  readonly #all: readonly HostedService[];

  private constructor(parts: ServiceParts, runtime: Runtime, batch: Batch, portal: Portal | undefined) {
    this.#parts = parts;
    this.#runtime = runtime;
    this.batch = batch;
    this.portal = portal;
    this.#all = portal === undefined ? [batch] : [batch, portal];
  }

  /** Opens the services and recovers the last run. They answer requests from here on; nothing is begun before `start`. */
  static async open(options: ServicesOptions, given: Omit<BatchParts, 'pool'>): Promise<Services> {
    const { store, clock, ids, log, faults } = given;
    const { layout, threads, maxConcurrency } = options.batch;
    const { shards = 1 } = options;
    makeStorageFolders(layout, []);
    const pool = new SigningPool({
      // Without a portal nobody has more than the jobs in flight to do.
      threads: options.portal === undefined ? Math.min(threads, maxConcurrency) : threads,
      clock,
      log,
      ...poolOptions(options.batch, {
        processing: layout.processing,
        output: layout.output,
        error: layout.error,
        faults: given.faultsText,
      }),
    });
    const parts = { ...given, pool };
    const batchPlan = await Batch.plan(options.batch, parts);
    const portalPlan = options.portal && Portal.plan(options.portal, parts);
    const plans: readonly ServicePlan[] = portalPlan ? [batchPlan, portalPlan] : [batchPlan];
    const definitions = plans.flatMap((plan) => plan.definitions);
    // Before anybody lives: whoever is of an earlier version is brought to this one.
    await migrateStore(store, shardParts.definitions, log);
    const runtime = createRuntime({
      store,
      clock,
      ids,
      log,
      faults,
      definitions,
      handlers: Object.assign({}, ...plans.map(({ handlers }) => handlers)),
      onCommitted: (step) => {
        for (const plan of plans) plan.observe(step);
      },
      ...(shards > 1 && {
        shards: {
          count: shards,
          parts: new URL('./shard-parts.js', import.meta.url).href,
          faults: given.faultsText,
          onLost: options.onLost ?? (() => {}),
          onReplaced: () => given.observer?.threadLost(),
          ...options.shardLimits,
        },
      }),
    });
    const batch = await batchPlan.open(runtime);
    return new Services(parts, runtime, batch, await portalPlan?.open(runtime));
  }

  /** How long each kind of task of the pool took so far; see `SigningPool.stages`. */
  get stages(): SigningPool['stages'] {
    return this.#parts.pool.stages;
  }

  /** Takes up stored work, watches the folders, claims jobs. */
  async start(): Promise<void> {
    this.#runtime.start();
    for (const service of this.#all) await service.start();
  }

  /**
   * Takes nothing new from the call on, lets what is under way finish for up to `grace` milliseconds, then cuts it
   * off. What is left is found by the recovery of the next start. The store stays open; its owner closes it.
   */
  async stop(grace: number): Promise<void> {
    const { clock, store, pool } = this.#parts;
    const until = clock.elapsed() + grace;
    await Promise.all(this.#all.map((service) => service.quiet(grace)));
    const left = Math.max(0, until - clock.elapsed());
    const stopped = this.#runtime.stop(left);
    // Armed after the runtime's own deadline, so that what comes of the lost tasks is no longer listened to.
    const cancel = clock.after(left, () => void pool.destroy());
    await stopped;
    cancel();
    await pool.close();
    await store.flushed();
  }
}

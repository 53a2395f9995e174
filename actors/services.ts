/** The services of one process on one runtime, one store and one pool of threads. */
import { createRuntime, migrateStore, type Runtime } from '../runtime/index.ts';
import { Batch, type BatchOptions, type BatchParts } from './batch.ts';
import { SigningPool } from './pool/pool.ts';
import { poolOptions } from './pool/pool-options.ts';
import type { HostedService, ServiceParts, ServicePlan } from './service-plan.ts';
import { makeStorageFolders } from './storage-folders.ts';

export interface ServicesOptions {
  readonly batch: BatchOptions;
}

export class Services {
  readonly batch: Batch;
  readonly #parts: ServiceParts;
  readonly #runtime: Runtime;
  readonly #all: readonly HostedService[];

  private constructor(parts: ServiceParts, runtime: Runtime, batch: Batch) {
    this.#parts = parts;
    this.#runtime = runtime;
    this.batch = batch;
    this.#all = [batch];
  }

  /** Opens the services and recovers the last run. They answer requests from here on; nothing is begun before `start`. */
  static async open(options: ServicesOptions, given: Omit<BatchParts, 'pool'>): Promise<Services> {
    const { store, clock, ids, log, faults } = given;
    const { layout, threads, maxConcurrency } = options.batch;
    makeStorageFolders(layout, []);
    const pool = new SigningPool({
      threads: Math.min(threads, maxConcurrency),
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
    const plans: readonly ServicePlan[] = [batchPlan];
    const runtime = createRuntime({
      store,
      clock,
      ids,
      log,
      faults,
      definitions: plans.flatMap(({ definitions }) => definitions),
      handlers: Object.assign({}, ...plans.map(({ handlers }) => handlers)),
      onCommitted: (step) => {
        for (const plan of plans) plan.observe(step);
      },
    });
    await migrateStore(
      store,
      plans.flatMap(({ definitions }) => definitions),
      log,
    );
    return new Services(parts, runtime, await batchPlan.open(runtime));
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

/**
 * Removes uploads from the object store that never became a job, and parts of files whose transfer was cut off: a kill
 * leaves them. The path of an original that a job has, or a cleared job left, has a row.
 *
 * Source: docs/decisions/0285-jobs-in-an-object-store.md.
 */
import { describeFailure } from '@sealwright/runtime';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { pathKey } from '../../shared/files/storage-layout.ts';
import type { JobObjects } from '../objects/job-objects.ts';
import { RepeatedWork } from './repeated-work.ts';

const SWEEP_INTERVAL_MS = 6 * 3_600_000;
/** Age from which an upload without a job counts as lost: the step of a job follows its upload at once. */
const LOST_AFTER_MS = 24 * 3_600_000;

export class InputSweep {
  #stopped = false;
  #repeated: RepeatedWork | undefined;

  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'store' | 'clock' | 'log'>,
    private readonly objects: Pick<JobObjects, 'removeLost'>,
  ) {}

  /** Sweeps now and then every six hours. */
  start(): void {
    if (this.#stopped) return;
    const { clock, log } = this.runtime;
    this.#repeated = new RepeatedWork(
      clock,
      SWEEP_INTERVAL_MS,
      () => this.sweep(),
      (error) =>
        log.warn('Lost uploads could not be looked for; this is tried again.', {
          Error: describeFailure(error).message,
        }),
    );
  }

  /** Resolves when the current sweep has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#repeated?.stop();
  }

  async sweep(): Promise<void> {
    const { store, clock, log } = this.runtime;
    // A new store, or one that is not restored yet: it knows nothing of what the bucket has for another one.
    if ((await store.rows({ view: 'jobs', limit: 1 })).length === 0) return;
    const isLost = async (location: string) => {
      const rows = await store.rows({ view: 'paths', prefix: [pathKey(location)], limit: 1 });
      return rows.length === 0;
    };
    const before = clock.now() - LOST_AFTER_MS;
    const { removed, refusal } = await this.objects.removeLost(before, isLost, () => this.#stopped);
    if (refusal !== undefined)
      log.warn('The object store does not let lost uploads be removed; this is tried again.', {
        Error: refusal,
      });
    if (removed > 0) log.info('Uploads that became no job were removed.', { Files: removed });
  }
}

/**
 * Polls the documents of all waiting jobs and passes concluded ones to `RemoteDownloads`. Waiting jobs are read from
 * the store; only the counts of consecutive failures are in memory.
 *
 * Source: docs/batch-values.md §0 (7), §8.
 */

import { describeFailure } from '@sealwright/runtime';
import type { JobContext } from '../../../machines/batch/job-context.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { StorageLayout } from '../../shared/files/storage-layout.ts';
import { rowPieces } from '../../shared/lists/stored-rows.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { jobRowOf } from '../job-records/job-index.ts';
import { JOB } from '../job-records/kinds.ts';
import type { RemotePortal } from '../remote/ports.ts';
import type { RemoteSigning } from '../remote/remote-signing.ts';
import type { Pipeline } from './pipeline.ts';
import { RemoteDownloads } from './remote-downloads.ts';
import { RemoteFailures } from './remote-failures.ts';

export interface RemotePollOptions {
  /** `RemoteSigner:PollIntervalSeconds`, in milliseconds. */
  readonly every: Millis;
  /** `RemoteSigner:TimeoutHours`, in milliseconds. */
  readonly timeout: Millis;
  /** `RemoteSigner:MaxConsecutiveApiFailures`: more consecutive failures than this fail the job; 0 = no limit. */
  readonly maxFailures: number;
}

/** Documents polled concurrently. Source: docs/batch-values.md §8. */
const CONCURRENT_POLLS = 8;

interface Waiting {
  readonly id: string;
  readonly order: number;
}

export class RemotePoll {
  readonly #failures: RemoteFailures;
  readonly #downloads: RemoteDownloads;
  readonly #warned = new Set<string>();
  /** Profiles without a remote portal that the log has reported. */
  readonly #orphanedProfiles = new Set<string>();
  readonly #stopping = new AbortController();
  #pass: Promise<void> = Promise.resolve();
  #cancelNext: () => void = () => {};

  constructor(
    private readonly needs: {
      readonly runtime: BatchRuntime;
      readonly pipeline: Pick<Pipeline, 'paused' | 'acquireSlot'>;
      readonly remote: RemoteSigning;
      readonly layout: StorageLayout;
      readonly options: RemotePollOptions;
    },
  ) {
    this.#failures = new RemoteFailures(needs.runtime, needs.options.maxFailures);
    const { signal } = this.#stopping;
    this.#downloads = new RemoteDownloads({
      runtime: needs.runtime,
      pipeline: needs.pipeline,
      remote: needs.remote,
      layout: needs.layout,
      failures: this.#failures,
      signal,
    });
  }

  /** Starts the first pass at once. */
  start(): void {
    this.#next();
  }

  /** Starts nothing more; resolves when the current pass has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelNext();
    this.needs.remote.stop();
    await Promise.all([this.#pass, this.#downloads.idle()]);
  }

  #next(): void {
    this.#pass = this.#pollAll()
      .catch((error: unknown) => {
        this.needs.runtime.log.error('The jobs that wait for a signer could not be read.', {
          Error: describeFailure(error).message,
        });
      })
      .finally(() => {
        if (this.#stopping.signal.aborted) return;
        this.#cancelNext = this.needs.runtime.clock.after(this.needs.options.every, () => this.#next());
      });
  }

  async #pollAll(): Promise<void> {
    const { clock } = this.needs.runtime;
    const { pipeline, remote } = this.needs;
    if (pipeline.paused) return;
    const waiting = await this.#waiting();
    this.#dropEnded(waiting);
    if (waiting.length === 0) return;
    const start = clock.elapsed();
    let at = 0;
    const visitor = async () => {
      for (let job = waiting[at++]; job !== undefined; job = waiting[at++]) {
        if (this.#stopping.signal.aborted || pipeline.paused) return;
        await this.#pollOne(job.id);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_POLLS }, visitor));
    if (remote.portal !== undefined) remote.polled(clock.elapsed() - start);
  }

  /** Waiting jobs of all profiles, also of removed ones, oldest first. */
  async #waiting(): Promise<readonly Waiting[]> {
    const { store, counts } = this.needs.runtime;
    const found: Waiting[] = [];
    for (const profile of counts.profiles()) {
      const range = { view: 'jobs-by', prefix: [profile, 'AwaitingSigner'] };
      for await (const rows of rowPieces(store, range))
        found.push(...rows.map(({ key, value }) => ({ id: jobRowOf(value).id, order: key[2] as number })));
    }
    return found.sort((a, b) => a.order - b.order);
  }

  #dropEnded(waiting: readonly Waiting[]): void {
    const ids = new Set(waiting.map(({ id }) => id));
    this.#failures.retain(ids);
    for (const id of this.#warned) if (!ids.has(id)) this.#warned.delete(id);
  }

  async #pollOne(id: string): Promise<void> {
    const { actors, clock } = this.needs.runtime;
    const { remote } = this.needs;
    const job = await actors.read(JOB, id);
    if (job?.state !== 'AwaitingSigner') return;
    const context = job.context;
    const since = context.awaitingSignerSince ?? context.updatedAt;
    if (clock.now() - since > this.needs.options.timeout) {
      const hours = Math.round(this.needs.options.timeout / 3_600_000);
      return this.#failures.fail(id, 'remote.timeout', `The document was not signed within ${hours} hours.`);
    }
    const { portal } = remote;
    const served = remote.serves(context.profileName);
    if (portal === undefined || !served) this.#warnOfProfile(context.profileName);
    if (portal === undefined || remote.outage !== undefined) return;
    if (this.#downloads.has(id) || this.#failures.mustRest(id)) return;
    await this.#poll(id, context, portal, served);
  }

  async #poll(id: string, context: JobContext, portal: RemotePortal, served: boolean): Promise<void> {
    const documentId = context.remoteDocumentId ?? '';
    try {
      const { status, reason } = await portal.status(documentId);
      this.#failures.forgive(id, 'poll');
      switch (status) {
        case 'Pending':
        case 'FlowConcluded':
          return;
        case 'Concluded':
          // Without its profile, verification and publication are undefined; the profile may be configured again.
          if (served) this.#downloads.add({ id, documentId, fileName: context.fileName });
          return;
        case 'Refused':
        case 'Expired':
        case 'Canceled': {
          const why = reason ? ` Reason: ${reason}` : '';
          const text = `The remote portal reports the document ${status}.${why}`;
          return await this.#failures.fail(id, 'remote.document-rejected', text);
        }
        default:
          this.#warnOfStatus(id, status);
      }
    } catch (error) {
      await this.#failures.failed(id, 'poll', error);
    }
  }

  #warnOfStatus(id: string, status: string): void {
    if (this.#warned.has(id)) return;
    this.#warned.add(id);
    const text = 'The remote portal reports a status that is not known here; the job goes on waiting.';
    this.needs.runtime.log.warn(text, { JobId: id, Status: status });
  }

  /** Logs once per profile. */
  #warnOfProfile(profile: string): void {
    if (this.#orphanedProfiles.has(profile)) return;
    this.#orphanedProfiles.add(profile);
    this.needs.runtime.log.warn(
      'Jobs wait for the remote portal with a profile that is not signed there any more. They fail when their time is over; configure the profile and RemoteSigner:Endpoint again, or cancel the jobs.',
      { Profile: profile, Jobs: this.needs.runtime.counts.count(['AwaitingSigner'], [profile]) },
    );
  }
}

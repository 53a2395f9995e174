/**
 * Downloads documents signed on the remote portal, outside the pipeline: a job takes a slot after its download, so that
 * a slow portal does not delay local jobs.
 *
 * Source: docs/batch-values.md §8.
 */

import { existsSync } from 'node:fs';
import { link, mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describeFailure, Fatal } from '@sealwright/runtime';
import { fileDigest } from '../../shared/files/digest.ts';
import { outputName, shortFileName } from '../../shared/files/output-names.ts';
import type { StorageLayout } from '../../shared/files/storage-layout.ts';
import { workingFolder } from '../../shared/files/working-folders.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { JOB } from '../job-records/kinds.ts';
import { isInBucket } from '../objects/bucket-originals.ts';
import { isObject } from '../objects/job-objects.ts';
import type { RemoteSigning } from '../remote/remote-signing.ts';
import type { Pipeline } from './pipeline.ts';
import type { RemoteFailures } from './remote-failures.ts';

/** Maximum number of concurrent downloads, including downloaded files that wait for a slot. */
const CONCURRENT_DOWNLOADS = 4;

interface Concluded {
  readonly id: string;
  readonly documentId: string;
  readonly fileName: string;
}

export class RemoteDownloads {
  /** Waiting and running downloads; bounded by the number of jobs that wait for a signer. */
  readonly #downloads = new Set<string>();
  readonly #queue: Concluded[] = [];
  readonly #running = new Set<Promise<void>>();

  /** @param signal aborted at the stop of the service: starts no further download and ends all waits for a slot */
  constructor(
    private readonly needs: {
      readonly runtime: BatchRuntime;
      readonly pipeline: Pick<Pipeline, 'paused' | 'acquireSlot'>;
      readonly remote: Pick<RemoteSigning, 'portal'>;
      readonly layout: StorageLayout;
      readonly failures: RemoteFailures;
      readonly signal: AbortSignal;
    },
  ) {}

  has(id: string): boolean {
    return this.#downloads.has(id);
  }

  add(job: Concluded): void {
    if (this.#downloads.has(job.id)) return;
    this.#downloads.add(job.id);
    this.#queue.push(job);
    if (this.#running.size >= CONCURRENT_DOWNLOADS) return;
    const run = this.#work().finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  /** Resolves when no download is running. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #work(): Promise<void> {
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) {
      try {
        if (!this.needs.signal.aborted) await this.#download(job);
      } catch (error) {
        await this.needs.failures.failed(job.id, 'download', error).catch((failure: unknown) => {
          this.needs.runtime.log.error(
            'A job did not accept the failure of its download; the document is polled again.',
            {
              JobId: job.id,
              Error: describeFailure(failure).message,
            },
          );
        });
      } finally {
        this.#downloads.delete(job.id);
      }
    }
  }

  /** With an object store, another node may have staged the file, on its own disk. */
  async #stageAgain(id: string, folder: string): Promise<void> {
    const { actors, objects, originals } = this.needs.runtime;
    const job = objects && (await actors.read(JOB, id));
    if (job === undefined) return;
    const { originalPath } = job.context;
    const place = isObject(originalPath) ? objects : isInBucket(originalPath) ? originals : undefined;
    if (place === undefined) return;
    const staged = join(folder, shortFileName(job.context.fileName));
    if (existsSync(staged)) return;
    await place.withCopy(originalPath, async (copy) => {
      const { input } = job.context;
      if (input !== null && fileDigest(copy) !== input.sha256)
        throw new Fatal(
          'input.missing',
          'The file in the object store is not the one that was sent to the portal.',
        );
      await link(copy, staged);
    });
  }

  async #download({ id, documentId, fileName }: Concluded): Promise<void> {
    const { actors } = this.needs.runtime;
    const { pipeline, layout, remote } = this.needs;
    const { portal } = remote;
    if (portal === undefined || pipeline.paused) return;
    const folder = workingFolder(layout.processing, layout.allProcessing, id);
    const target = join(folder, outputName(fileName));
    let concluded = false;
    try {
      await mkdir(folder, { recursive: true, mode: 0o750 });
      // Left by an attempt that was interrupted between download and commit.
      await rm(target, { force: true });
      await this.#stageAgain(id, folder);
      const signed = await portal.download(documentId, target);
      this.needs.failures.forgive(id, 'download');
      // Acquired before the job becomes Verifying, to respect `Pipeline:MaxConcurrency`.
      const giveBack = await pipeline.acquireSlot(this.needs.signal);
      if (giveBack === undefined) return;
      try {
        concluded = (await actors.send(JOB, id, { type: 'CONCLUDED', signed })).accepted;
      } finally {
        giveBack();
      }
    } finally {
      if (!concluded) {
        await rm(target, { force: true });
        // A canceled job has moved its folder; removes the one created for this download.
        await rmdir(folder).catch(() => {});
      }
    }
  }
}

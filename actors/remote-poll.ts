/**
 * Visits every job that waits for its signer and brings home what was signed. Keeps no truth: which jobs wait, and
 * since when, is read from the store; only the count of failures in a row lives here.
 *
 * Source: Batch Signing Service API, "What the service does" 7; batch-gaps §8.
 */
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Millis } from '../machines/ids.ts';
import type { JobContext } from '../machines/job-context.ts';
import {
  type ActorStore,
  type ActorSystem,
  type Clock,
  describeFailure,
  type Log,
} from '../runtime/index.ts';
import { outputName } from './file-names.ts';
import type { JobCounts } from './job-counts.ts';
import { factsOf } from './job-index.ts';
import type { Pipeline } from './pipeline.ts';
import { RemoteFailure, type RemotePortal } from './ports.ts';
import { JOB } from './registry.ts';
import type { RemoteSigning } from './remote-signing.ts';

export interface RemotePollParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly counts: JobCounts;
  readonly clock: Clock;
  readonly log: Log;
  readonly pipeline: Pick<Pipeline, 'paused' | 'takeSlot'>;
  readonly remote: RemoteSigning;
  /** The folder with the jobs' working folders. */
  readonly processing: string;
}

export interface RemotePollOptions {
  /** `RemoteSigner:PollIntervalSeconds`, in milliseconds. */
  readonly every: Millis;
  /** `RemoteSigner:TimeoutHours`, in milliseconds. */
  readonly timeout: Millis;
  /** `RemoteSigner:MaxConsecutiveApiFailures`: one more than this many in a row fail the job. */
  readonly maxFailures: number;
}

/** Documents asked for at once. Source: batch-gaps §8, "poll". */
const AT_ONCE = 8;
const PIECE = 256;

interface Waiting {
  readonly id: string;
  readonly order: number;
}

export class RemotePoll {
  readonly #parts: RemotePollParts;
  readonly #options: RemotePollOptions;
  /** Per job: transient failures in a row, and until when the portal wants to be left alone. */
  readonly #troubles = new Map<string, { failures: number; until: number }>();
  readonly #warned = new Set<string>();
  #stopping: AbortController | undefined;
  #pass: Promise<void> = Promise.resolve();
  #cancelNext: () => void = () => {};

  constructor(parts: RemotePollParts, options: RemotePollOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** The first pass begins at once. */
  start(): void {
    this.#stopping = new AbortController();
    this.#next();
  }

  /** Begins nothing more; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopping?.abort();
    this.#cancelNext();
    await this.#pass;
  }

  #next(): void {
    this.#pass = this.#visitAll()
      .catch((error: unknown) => {
        this.#parts.log.error('The jobs that wait for a signer could not be read.', {
          Error: describeFailure(error).message,
        });
      })
      .finally(() => {
        if (this.#stopping?.signal.aborted) return;
        this.#cancelNext = this.#parts.clock.after(this.#options.every, () => this.#next());
      });
  }

  async #visitAll(): Promise<void> {
    const { clock, pipeline, remote } = this.#parts;
    const { portal } = remote;
    if (portal === undefined || pipeline.paused) return;
    const waiting = await this.#waiting();
    this.#forgetOthers(waiting);
    if (waiting.length === 0) return;
    const start = clock.elapsed();
    let at = 0;
    const visitor = async () => {
      for (let job = waiting[at++]; job !== undefined; job = waiting[at++]) {
        if (this.#stopping?.signal.aborted || pipeline.paused) return;
        await this.#visit(job.id, portal);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, visitor));
    remote.polled(clock.elapsed() - start);
  }

  /** Oldest first, over all profiles. */
  async #waiting(): Promise<readonly Waiting[]> {
    const { store, counts } = this.#parts;
    const found: Waiting[] = [];
    for (const profile of counts.profiles()) {
      const prefix = [profile, 'AwaitingSigner'];
      for (let after: readonly (string | number)[] | undefined; ; ) {
        const rows = await store.rows({ view: 'jobs-by', prefix, limit: PIECE, ...(after && { after }) });
        found.push(...rows.map(({ key, value }) => ({ id: factsOf(value).id, order: key[2] as number })));
        after = rows.at(-1)?.key;
        if (rows.length < PIECE) break;
      }
    }
    return found.sort((a, b) => a.order - b.order);
  }

  #forgetOthers(waiting: readonly Waiting[]): void {
    const ids = new Set(waiting.map(({ id }) => id));
    for (const id of this.#troubles.keys()) if (!ids.has(id)) this.#troubles.delete(id);
    for (const id of this.#warned) if (!ids.has(id)) this.#warned.delete(id);
  }

  async #visit(id: string, portal: RemotePortal): Promise<void> {
    const { system, clock, log } = this.#parts;
    if ((this.#troubles.get(id)?.until ?? 0) > clock.elapsed()) return;
    const job = await system.read({ kind: JOB, id });
    if (job?.state !== 'AwaitingSigner') return;
    const context = job.context as JobContext;
    const since = context.awaitingSignerSince ?? context.updatedAt;
    if (clock.now() - since > this.#options.timeout) {
      const hours = Math.round(this.#options.timeout / 3_600_000);
      return this.#fail(id, 'remote.timeout', `The document was not signed within ${hours} hours.`);
    }
    const documentId = context.remoteDocumentId ?? '';
    try {
      const { status, reason } = await portal.status(documentId);
      this.#troubles.delete(id);
      switch (status) {
        case 'Pending':
        case 'FlowConcluded':
          return;
        case 'Concluded':
          return await this.#bringHome(id, documentId, context.fileName, portal);
        case 'Refused':
        case 'Expired':
        case 'Canceled': {
          const why = reason ? ` Reason: ${reason}` : '';
          const text = `The remote portal reports the document ${status}.${why}`;
          return this.#fail(id, 'remote.document-rejected', text);
        }
        default:
          if (this.#warned.has(id)) return;
          this.#warned.add(id);
          log.warn('The remote portal reports a status that is not known here; the job goes on waiting.', {
            JobId: id,
            Status: status,
          });
      }
    } catch (error) {
      await this.#troubled(id, error);
    }
  }

  /** A slot is taken before the job becomes Verifying, so that `Pipeline:MaxConcurrency` holds. */
  async #bringHome(id: string, documentId: string, fileName: string, portal: RemotePortal): Promise<void> {
    const { system, pipeline, processing } = this.#parts;
    const signal = this.#stopping?.signal;
    const giveBack = await pipeline.takeSlot(signal);
    if (giveBack === undefined) return;
    const folder = join(processing, id);
    try {
      const target = join(folder, outputName(fileName));
      await mkdir(folder, { recursive: true, mode: 0o750 });
      // Left by a try that was cut off between the download and its commit.
      await rm(target, { force: true });
      const signed = await portal.download(documentId, target);
      const outcome = await system.tell({ kind: JOB, id }, { type: 'CONCLUDED', signed });
      if (!outcome.accepted) await rm(target, { force: true });
    } finally {
      giveBack();
      // A job that was canceled meanwhile has put its folder aside; the one made for the download is nobody's then.
      await rmdir(folder).catch(() => {});
    }
  }

  async #troubled(id: string, error: unknown): Promise<void> {
    const { remote, log, clock } = this.#parts;
    if (!(error instanceof RemoteFailure)) {
      log.error(
        'What the remote portal signed could not be taken home; it is tried again at the next poll.',
        {
          JobId: id,
          Error: describeFailure(error).message,
        },
      );
      return;
    }
    remote.failed(error);
    const failures = (this.#troubles.get(id)?.failures ?? 0) + 1;
    if (error.transient && failures <= this.#options.maxFailures) {
      this.#troubles.set(id, { failures, until: clock.elapsed() + (error.retryAfter ?? 0) });
      log.warn('The remote portal could not be asked; it is asked again at the next poll.', {
        JobId: id,
        Failures: failures,
        Error: error.message,
      });
      return;
    }
    const text = error.transient ? `${error.message} (${failures} failures in a row)` : error.message;
    await this.#fail(id, 'remote.unreachable', text);
  }

  /** The text begins with the code. Source: batch-gaps §4, `errorMessage`. */
  async #fail(id: string, code: string, sentence: string): Promise<void> {
    this.#troubles.delete(id);
    await this.#parts.system.tell({ kind: JOB, id }, { type: 'FAIL', code, message: `${code}: ${sentence}` });
  }
}

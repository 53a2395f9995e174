/**
 * Keeps trusted lists fresh: one refresh at start and one in each interval, on a thread that ends. A refresh that fails
 * leaves what is kept, and the check `trust-lists` is Degraded: what needs no lists works on.
 */
import type { Clock, Log } from '@sealwright/runtime';
import { type KeptState, readKeptState } from '@sealwright/signatures';
import { startIdleThread } from '../coordination/idle-thread.ts';
import type { ListOptions, ListThreadData, RefreshOutcome } from './list-options.ts';

/** Longest wait of a start for its first lists, milliseconds. */
const FIRST_WAIT_MS = 30_000;
/** Wait after a refresh where nothing is kept yet, milliseconds. */
const RETRY_MS = 5 * 60_000;
/** Part of the interval by which refreshes are spread, so that not all services ask at once. */
const JITTER = 0.1;
/** Refreshes that may fail before what is kept counts as old. */
const MISSED = 4;
const MEMORY = { maxOldGenerationSizeMb: 1024 };

export class ListKeeper {
  #problems: readonly string[] = [];
  #cancel: () => void = () => {};
  #isStopped = false;

  constructor(
    private readonly options: ListOptions,
    private readonly needs: {
      readonly clock: Pick<Clock, 'now' | 'after'>;
      readonly log: Log;
      /** From 0 to 1. */
      readonly random: () => number;
    },
    private readonly module: URL = new URL('./list-worker.js', import.meta.url),
  ) {}

  /** Resolves after the first refresh where nothing is kept yet, after `FIRST_WAIT_MS` at the latest. */
  async start(): Promise<void> {
    const first = this.#refresh();
    if (this.kept !== undefined) return;
    let cancel = () => {};
    await Promise.race([
      first,
      new Promise<void>((resolve) => {
        cancel = this.needs.clock.after(FIRST_WAIT_MS, resolve);
      }),
    ]);
    cancel();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  /** Result of the last refresh that succeeded. */
  get kept(): KeptState | undefined {
    try {
      return readKeptState(this.options.place.folder);
    } catch {
      return undefined;
    }
  }

  /** Check `trust-lists`. */
  check(): ListsCheck {
    return listsCheck(this.options, this.needs.clock.now(), this.#problems);
  }

  async #refresh(): Promise<void> {
    const { problems } = await this.#onThread();
    if (this.#isStopped) return;
    const isNews = problems.join('\n') !== this.#problems.join('\n');
    this.#problems = problems;
    if (isNews && problems.length > 0)
      this.needs.log.error('Trusted lists are missing, refused or late; what was kept stays in use.', {
        Problems: shortened(problems),
      });
    const { everyMs } = this.options;
    const least = this.kept === undefined ? Math.min(RETRY_MS, everyMs) : everyMs;
    const wait = least * (1 - JITTER * this.needs.random());
    this.#cancel = this.needs.clock.after(wait, () => void this.#refresh());
  }

  #onThread(): Promise<RefreshOutcome> {
    const lost = { kept: undefined, problems: ['The thread that refreshes trusted lists has ended.'] };
    const workerData: ListThreadData = { options: this.options, at: this.needs.clock.now() };
    return new Promise((resolve) => {
      try {
        startIdleThread<RefreshOutcome>(
          this.module,
          { workerData, resourceLimits: MEMORY },
          { online: () => {}, answer: resolve, lost: () => resolve(lost) },
        );
      } catch {
        resolve(lost);
      }
    });
  }
}

/** A check as `GET /api/ready` has it. */
export interface ListsCheck {
  readonly name: 'trust-lists';
  readonly status: 'Healthy' | 'Degraded';
  readonly detail: string;
}

/** State of what is kept, for readiness, metrics and `doctor`. @param problems of the last refresh */
export function listsCheck(
  { place: { folder }, everyMs }: Pick<ListOptions, 'place' | 'everyMs'>,
  now: number,
  problems: readonly string[] = [],
): ListsCheck {
  const degraded = (detail: string): ListsCheck => ({ name: 'trust-lists', status: 'Degraded', detail });
  let kept: KeptState | undefined;
  try {
    kept = readKeptState(folder);
  } catch (error) {
    return degraded((error as Error).message);
  }
  if (kept === undefined)
    return degraded(`no trusted lists are kept: ${shortened(problems) || 'none was read yet'}`);
  const late = [
    ...(kept.endsAt < now ? [`The list of lists was to be renewed by ${iso(kept.endsAt)}.`] : []),
    ...(now - kept.checkedAt > MISSED * everyMs ? [`No refresh since ${iso(kept.checkedAt)}.`] : []),
  ];
  const all = [...new Set([...late, ...kept.problems, ...problems])];
  if (all.length > 0) return degraded(shortened(all));
  const { sequence, territories, endsAt } = kept;
  const detail = `list of lists ${sequence}, ${territories.length} national lists, until ${iso(endsAt)}`;
  return { name: 'trust-lists', status: 'Healthy', detail };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

/** Sentences that are shown at once. */
const SHOWN = 5;

function shortened(problems: readonly string[]): string {
  const more = problems.length - SHOWN;
  return [...problems.slice(0, SHOWN), ...(more > 0 ? [`And ${more} more.`] : [])].join(' ');
}

/**
 * Watches the objects of a bucket below a prefix, and offers each version of an object once. A key is a path: what
 * follows its last slash is the name of the file. An object is complete when it is listed. Skips ignored names, empty
 * objects (also markers of folders) and keys that name no file.
 *
 * Lists a bounded number of pages in a round. Versions are told apart by entity tag and time, so nothing that is known is
 * read again. What the service has removed may be listed for a while after it.
 *
 * Source: docs/decisions/0290-inputs-in-buckets.md.
 */
import { describeFailure, isRetryable } from '@sealwright/runtime';
import { type Backoff, pauseAfter } from '../../../machines/backoff.ts';
import type { BucketObject, InputBuckets } from '../../shared/objects/input-buckets.ts';
import { bucketPath } from '../objects/bucket-originals.ts';
import {
  type Candidate,
  type Look,
  MAX_OFFERED_AGAIN,
  type WatchedFolder,
  type WatchedFolderOptions,
  type WatchedFolderSettings,
  type WatchedFolderState,
} from './contract.ts';
import { createIgnoredNames } from './ignored-names.ts';

/** The objects of one input. */
export interface BucketSource {
  readonly buckets: Pick<InputBuckets, 'list'>;
  readonly bucket: string;
  /** Begins the keys; empty, or with a slash at its end. */
  readonly prefix: string;
}

/** Pages of a round. */
const MAX_PAGES = 10;
/** Pause between two rounds of one listing, milliseconds. */
const ROUND_PAUSE_MS = 100;
/** Objects that are remembered; further ones are looked up in the store at each listing. */
const MAX_KNOWN = 100_000;
/** Time after the end of its job in which an object that is still listed counts as removed, milliseconds. */
const LISTED_AFTER_REMOVAL_MS = 60_000;
/** Time for which an answer about a bucket counts that this node does not watch, milliseconds. */
const LOOK_MS = 5_000;
/** Limit of such a request, so that the readiness answers in time, milliseconds. */
const LOOK_TIMEOUT_MS = 4_000;
/** Pauses after listings that failed. */
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000 };
/** Of a name in a folder, in UTF-8. */
const MAX_NAME_BYTES = 255;

/** The file that an object stands for. `unusable`: it has a key that names no file. */
export function createBucketFiles(
  settings: WatchedFolderSettings,
  { bucket, prefix }: BucketSource,
): (object: BucketObject) => Candidate | 'ignored' | 'unusable' {
  const ignored = createIgnoredNames(settings);
  return ({ key, length, modifiedAt, etag }) => {
    if (length === 0 || key.endsWith('/') || !key.startsWith(prefix)) return 'ignored';
    const names = key.slice(prefix.length).split('/');
    // Of a server that does not know the delimiter of the listing.
    if (names.length > 1 && settings.recursive !== true) return 'ignored';
    if (names.some(isNoName)) return 'unusable';
    if (names.some(ignored)) return 'ignored';
    const fileName = names.pop() ?? '';
    if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) return 'unusable';
    return {
      path: bucketPath(bucket, key),
      fileName,
      subfolder: names.join('/'),
      size: length,
      mtimeMs: modifiedAt,
      etag,
      seen: 'sweep',
    };
  };
}

function isNoName(name: string): boolean {
  return name === '' || name === '.' || name === '..' || name.includes('\0');
}

/** Every object of an input. Rejects when it cannot be listed. */
export async function* listedObjects(
  { buckets, bucket, prefix }: BucketSource,
  { recursive = false }: Pick<WatchedFolderSettings, 'recursive'>,
): AsyncGenerator<BucketObject, void, undefined> {
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page = await buckets.list(bucket, { prefix, recursive, next: next === '' ? undefined : next });
    yield* page.objects;
    next = page.next;
  }
}

interface Known {
  readonly version: string;
  /** Its last listing. */
  listing: number;
  isActive: boolean;
  /** Monotonic time at which its job released it. */
  endedAt?: number;
}

function versionOf({ etag, mtimeMs }: Candidate): string {
  return `${etag} ${mtimeMs}`;
}

export function createWatchedBucket(
  options: WatchedFolderOptions & { readonly source: BucketSource },
): WatchedFolder {
  return new WatchedBucket(options);
}

class WatchedBucket implements WatchedFolder {
  readonly name: string;
  readonly path: string;
  readonly ready: Promise<void>;
  #announceReady = () => {};
  readonly #fileOf: ReturnType<typeof createBucketFiles>;
  readonly #known = new Map<string, Known>();
  #state: WatchedFolderState = { phase: 'Initializing', exists: false, notices: 'none', error: null };
  #running: Promise<void> | undefined;
  readonly #stopping = new AbortController();
  #endWait = () => {};
  /** Number of the listing in progress, and where it goes on. */
  #listing = 1;
  #next: string | undefined;
  #after: string | undefined;
  #failures = 0;
  /** The first object of this listing that is not taken, and their number. */
  #trouble: string | undefined;
  #troubles = 0;
  #asked = 0;
  /** Objects that stand for files: in this listing, and in the last one. */
  #files = 0;
  #count = 0;
  /** The last offer failed for a reason that the other objects share. */
  #isStoreAway = false;
  #look: { readonly at: number; readonly found: Promise<Look> } | undefined;

  constructor(private readonly options: WatchedFolderOptions & { readonly source: BucketSource }) {
    this.name = options.name;
    this.path = options.path;
    this.#fileOf = createBucketFiles(options.settings, options.source);
    this.ready = new Promise<void>((settle) => {
      this.#announceReady = settle;
    });
  }

  start(): void {
    if (!this.#isStopped) this.#running ??= this.#run();
  }

  recheck(path: string): void {
    const known = this.#known.get(path);
    if (known === undefined) return;
    known.endedAt = this.options.clock.elapsed();
    this.#forgetIfWaiting(path, known);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#endWait();
    await this.#running;
    this.#known.clear();
    this.#publish({ phase: 'Stopped' });
    this.#announceReady();
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  state(): WatchedFolderState {
    return this.#state;
  }

  async exists(): Promise<boolean> {
    return (await this.look()).obstacle === undefined;
  }

  /** Facts of the listings of this watcher; where another node watches, of the first page. */
  look(): Promise<Look> {
    const { clock } = this.options;
    if (this.#running !== undefined && (this.#state.exists || this.#failures > 0)) {
      const obstacle = this.#failures > 0 ? (this.#state.error ?? 'it cannot be listed') : undefined;
      return Promise.resolve({ obstacle, files: this.#count });
    }
    if (this.#look === undefined || clock.elapsed() - this.#look.at >= LOOK_MS)
      this.#look = { at: clock.elapsed(), found: this.#lookNow() };
    return this.#look.found;
  }

  async #lookNow(): Promise<Look> {
    const { source, settings, clock } = this.options;
    const { buckets, bucket, prefix } = source;
    const stopping = new AbortController();
    const cancel = clock.after(LOOK_TIMEOUT_MS, () => stopping.abort());
    try {
      const recursive = settings.recursive ?? false;
      const { objects } = await buckets.list(bucket, { prefix, recursive, signal: stopping.signal });
      return {
        obstacle: undefined,
        files: objects.filter((one) => typeof this.#fileOf(one) === 'object').length,
      };
    } catch (error) {
      const late = `bucket ${bucket} does not answer`;
      return { obstacle: stopping.signal.aborted ? late : describeFailure(error).message, files: 0 };
    } finally {
      cancel();
    }
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const pause = await this.#round();
      if (!this.#isStopped) await this.#wait(pause);
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.options.clock.after(ms, resolve);
      this.#endWait = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Resolves with the pause until the next one, milliseconds. */
  async #round(): Promise<number> {
    const { log, name, settings } = this.options;
    try {
      for (let pages = 0; pages < MAX_PAGES && !this.#isStopped; pages += 1) {
        const failed = await this.#page();
        if (this.#next === undefined) {
          this.#listed();
          return settings.sweepIntervalMs;
        }
        // The store of the service may be away.
        if (failed) return BACKOFF.firstMs;
      }
      return ROUND_PAUSE_MS;
    } catch (error) {
      if (this.#isStopped) return 0;
      const { message } = describeFailure(error);
      if (this.#failures === 0)
        log.error('An input bucket cannot be listed; the others go on.', { Folder: name, Error: message });
      this.#failures += 1;
      // Its mark of the page may be out of date.
      this.#next = undefined;
      this.#publish({ exists: false, error: message });
      return Math.min(pauseAfter(this.#failures, BACKOFF), settings.sweepIntervalMs);
    }
  }

  /** Lists a page and offers what is new. True when the offer of an object failed. */
  async #page(): Promise<boolean> {
    const { source, settings, log, name } = this.options;
    const { buckets, bucket, prefix } = source;
    const { objects, next } = await buckets.list(bucket, {
      prefix,
      recursive: settings.recursive ?? false,
      next: this.#next,
      after: this.#after,
      signal: this.#stopping.signal,
    });
    if (this.#failures > 0 || !this.#state.exists)
      log.info('An input bucket is listed.', { Folder: name, Path: this.path });
    this.#failures = 0;
    this.#publish({ exists: true, notices: 'polling' });
    const due: Candidate[] = [];
    for (const object of objects) {
      const file = this.#fileOf(object);
      if (file === 'unusable') this.#troubled(`The key ${JSON.stringify(object.key)} names no file.`);
      if (typeof file === 'string') continue;
      this.#files += 1;
      if (this.#isDue(file)) due.push(file);
    }
    const troubles = this.#troubles;
    const workers = Array.from({ length: Math.min(settings.concurrency, due.length) }, async () => {
      for (let file = due.shift(); file !== undefined && !this.#isStopped; file = due.shift())
        await this.#offer(file);
    });
    await Promise.all(workers);
    this.#next = next;
    this.#after = objects.at(-1)?.key ?? this.#after;
    return this.#troubles > troubles && this.#isStoreAway;
  }

  #isDue(file: Candidate): boolean {
    const known = this.#known.get(file.path);
    if (known?.version !== versionOf(file)) return true;
    known.listing = this.#listing;
    const { endedAt, isActive } = known;
    if (endedAt !== undefined) return this.options.clock.elapsed() - endedAt >= LISTED_AFTER_REMOVAL_MS;
    if (!isActive || this.#asked >= MAX_OFFERED_AGAIN) return false;
    this.#asked += 1;
    return true;
  }

  async #offer(file: Candidate): Promise<void> {
    const { offer, log, name } = this.options;
    // Before its job can end.
    const known: Known = { version: versionOf(file), listing: this.#listing, isActive: false };
    if (this.#known.size < MAX_KNOWN || this.#known.has(file.path)) this.#known.set(file.path, known);
    try {
      known.isActive = (await offer(file)) === 'active';
      this.#forgetIfWaiting(file.path, known);
      this.#isStoreAway = false;
    } catch (error) {
      this.#known.delete(file.path);
      const { code, message } = describeFailure(error);
      this.#isStoreAway = isRetryable(error) && code !== 'input.unreadable';
      if (this.#troubles === 0)
        log.warn('An object of an input bucket is not taken; it is offered again.', {
          Folder: name,
          Path: file.path,
          Error: message,
        });
      this.#troubled(`${file.path} is not taken: ${message}`);
    }
  }

  /** An object that waited for the job of another version, which has ended, is offered at the next listing. */
  #forgetIfWaiting(path: string, { isActive, endedAt }: Known): void {
    if (isActive && endedAt !== undefined) this.#known.delete(path);
  }

  #troubled(text: string): void {
    this.#trouble ??= text;
    this.#troubles += 1;
  }

  /** Every page was listed. */
  #listed(): void {
    for (const [path, { listing }] of this.#known) if (listing !== this.#listing) this.#known.delete(path);
    const others = this.#troubles > 1 ? ` So it is with ${this.#troubles - 1} more.` : '';
    this.#publish({
      error: this.#trouble === undefined ? null : `${this.#trouble}${others}`,
      ...(this.#state.phase === 'Initializing' && { phase: 'Running' }),
    });
    this.#announceReady();
    this.#listing += 1;
    this.#after = undefined;
    this.#trouble = undefined;
    this.#troubles = 0;
    this.#asked = 0;
    this.#count = this.#files;
    this.#files = 0;
  }

  #publish(part: Partial<WatchedFolderState>): void {
    this.#state = { ...this.#state, ...part };
    this.options.onState(this.#state);
  }
}

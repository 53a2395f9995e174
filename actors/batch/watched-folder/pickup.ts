/**
 * Processes each file of a watched folder: discovered, sampled until complete, offered, remembered. Files are
 * identified by their path relative to the folder.
 */
import { basename, dirname, join } from 'node:path';
import { describeFailure } from '@sealwright/runtime';
import type { WatchedFolderOptions } from './contract.ts';
import type { FileReader } from './file-reader.ts';
import type { KnownFiles } from './known-files.ts';
import { createOfferQueue, type OfferQueue } from './offer-queue.ts';
import { createSampler, type Sampler, type WaitingFile } from './sampler.ts';
import {
  type FileSample,
  firstSample,
  hasTimedOut,
  isStable,
  isUntouched,
  nextSample,
  type Sample,
  type StabilityRules,
} from './stability.ts';

/** Maximum number of concurrent warnings about single unreadable files. */
const MAX_UNREADABLE_WARNINGS = 20;

export class Pickup {
  readonly #clock: WatchedFolderOptions['clock'];
  readonly #log: WatchedFolderOptions['log'];
  readonly #prefix: string;
  readonly #waiting = new Map<string, WaitingFile>();
  readonly #unreadable = new Map<string, string>();
  readonly #sampler: Sampler;
  readonly #offers: OfferQueue<WaitingFile>;
  #initialLeft = 0;
  #stopped = false;

  constructor(
    private readonly needs: {
      readonly options: WatchedFolderOptions;
      /** Absolute path of the folder. */
      readonly folder: string;
      readonly fileReader: FileReader;
      readonly memory: KnownFiles;
      /** Those of the file system that the folder has now. */
      readonly rules: () => StabilityRules;
      /** Called when a discovered name is a directory. */
      readonly onDirectory: (directory: string) => void;
      /** Called when `initialLeft` or `failures` may have changed. */
      readonly onChange: () => void;
    },
  ) {
    const { options, fileReader } = needs;
    const { clock, log, settings } = options;
    this.#clock = clock;
    this.#log = log;
    this.#prefix = join(needs.folder, '/');
    this.#sampler = createSampler({
      fileReader,
      clock,
      intervalMs: () => needs.rules().intervalMs,
      limit: settings.concurrency,
      onSample: (file, found) => this.#judge(file, found),
    });
    this.#offers = createOfferQueue<WaitingFile>({
      clock,
      limit: settings.concurrency,
      deliver: (file) => this.#present(file),
      onFailure(error) {
        const { message } = describeFailure(error);
        log.warn('Files of a watched folder are not being taken; they are offered again.', {
          Folder: options.name,
          Error: message,
        });
      },
    });
  }

  /** Reports a possible change of this name. The caller filters ignored names. */
  observe(fileName: string, seen: 'event' | 'sweep', initial = false): void {
    if (this.#stopped) return;
    const { memory } = this.needs;
    const file = this.#waiting.get(fileName);
    if (file !== undefined) {
      if (seen === 'event') file.noticed = true;
      // A change before its first sample is not missed: while the job owns the path, each listing offers the file again.
    } else if (seen === 'event' && !memory.has(fileName) && this.#isTaken(fileName))
      memory.add(fileName, undefined, 'active');
    else this.#enter(fileName, seen, initial);
  }

  /** As `observe` by an event, but also for a file unchanged since its last offer. */
  recheck(fileName: string): void {
    if (this.#stopped) return;
    const { memory } = this.needs;
    const file = this.#waiting.get(fileName);
    const known = memory.has(fileName);
    memory.remove(fileName);
    if (file !== undefined) file.recheck = true;
    // Never offered, or removed, like the input of most completed jobs: an event will report a new file.
    else if (known) this.#enter(fileName, 'event', false);
  }

  has(fileName: string): boolean {
    return this.#waiting.has(fileName);
  }

  /** Number of files found at start without a first result. */
  initialLeft(): number {
    return this.#initialLeft;
  }

  /** Message about files that cannot be read; null for none. */
  failures(): string | null {
    return describeUnreadable(this.needs.folder, this.#unreadable);
  }

  /** Samples the unreadable files again. */
  retryUnreadable(): void {
    for (const fileName of this.#unreadable.keys())
      if (!this.#waiting.has(fileName)) this.#enter(fileName, 'sweep', false);
  }

  /** Removes all state: the folder no longer exists. */
  clear(): void {
    this.needs.memory.clear();
    this.#unreadable.clear();
  }

  stop(): void {
    this.#stopped = true;
    this.#sampler.stop();
    this.#offers.stop();
    this.#waiting.clear();
    this.#unreadable.clear();
  }

  /** Evaluates one sample. True = sample again later. */
  #judge(file: WaitingFile, found: FileSample): boolean {
    if (found.is !== 'file') {
      if (found.is === 'unreadable') this.#refuse(file, found.code);
      else this.#removeFile(file.fileName);
      if (found.is === 'directory') this.needs.onDirectory(file.fileName);
      this.#leave(file);
      return false;
    }
    const elapsed = this.#clock.elapsed();
    const { memory, onChange } = this.needs;
    const rules = this.needs.rules();
    if (file.track === undefined) {
      if (memory.containsSample(file.fileName, found.sample)) {
        // Offered before it could not be sampled for a while, for example with the whole folder.
        if (this.#unreadable.delete(file.fileName)) onChange();
        this.#leave(file);
        return false;
      }
      if (!file.recheck && this.#isTaken(file.fileName)) {
        memory.add(file.fileName, found.sample, 'active');
        this.#leave(file);
        return false;
      }
      file.track = firstSample(found.sample, elapsed);
    } else {
      file.track = nextSample(file.track, found.sample, elapsed);
      if (file.track.equal === 1) this.#firstOutcome(file);
    }
    if (isStable(file.track, elapsed, rules)) {
      this.#offers.add(file);
      return false;
    }
    if (!hasTimedOut(file.track, elapsed, rules)) return true;
    this.#log.warn(
      'A file is still changing; it is left until something happens to it or the next listing.',
      {
        Folder: this.needs.options.name,
        File: file.fileName,
        WaitedMs: Math.round(elapsed - file.track.since),
      },
    );
    this.#leave(file);
    return false;
  }

  #isTaken(fileName: string): boolean {
    return this.needs.options.isTaken?.(this.#prefix + fileName) === true;
  }

  async #present(file: WaitingFile): Promise<void> {
    const sample = file.track?.sample;
    if (this.#stopped || sample === undefined) return;
    if (file.noticed || this.#clock.elapsed() - file.sampledAt > this.needs.rules().intervalMs) {
      if (!(await this.#isUnchanged(sample, file))) return;
    }
    await this.#offer(file, sample);
  }

  /** Samples a file again before its delayed offer. A changed file returns to sampling. */
  async #isUnchanged(sample: Sample, file: WaitingFile): Promise<boolean> {
    file.noticed = false;
    const found = await this.needs.fileReader.sample(file.fileName);
    if (this.#stopped) return false;
    file.sampledAt = this.#clock.elapsed();
    if (found.is === 'file' && isUntouched(found.sample, sample)) return true;
    if (this.#judge(file, found)) this.#sampler.resample(file);
    return false;
  }

  async #offer(file: WaitingFile, sample: Sample): Promise<void> {
    const { options, folder, fileReader, memory, onChange } = this.needs;
    let found: FileSample | undefined;
    try {
      const answer = await options.offer({
        path: join(folder, file.fileName),
        fileName: basename(file.fileName),
        subfolder: directoryOf(file.fileName),
        size: sample.size,
        mtimeMs: sample.mtimeMs,
        seen: file.seen,
        isThere: async () => {
          found = await fileReader.sample(file.fileName);
          return found.is === 'file';
        },
      });
      if (this.#stopped) return;
      // Remembered as declined, a file of a share that fails for a moment would be left until it changes.
      if (answer === 'declined' && found !== undefined && found.is !== 'file') {
        this.#judge(file, found);
        return;
      }
      if (this.#unreadable.delete(file.fileName)) onChange();
      if (!file.recheck) memory.add(file.fileName, sample, answer);
      file.noticed ||= file.recheck;
      this.#leave(file);
    } catch (error) {
      this.#firstOutcome(file);
      throw error;
    }
  }

  #refuse(file: WaitingFile, code: string): void {
    if (this.#unreadable.get(file.fileName) === code) return;
    this.#unreadable.set(file.fileName, code);
    const write = this.#unreadable.size <= MAX_UNREADABLE_WARNINGS ? this.#log.warn : this.#log.debug;
    write('A file of a watched folder cannot be read; the others go on.', {
      Folder: this.needs.options.name,
      File: file.fileName,
      Code: code,
    });
    this.needs.onChange();
  }

  #removeFile(fileName: string): void {
    this.needs.memory.remove(fileName);
    if (this.#unreadable.delete(fileName)) this.needs.onChange();
  }

  #firstOutcome(file: WaitingFile): void {
    if (!file.initial) return;
    file.initial = false;
    this.#initialLeft -= 1;
    this.needs.onChange();
  }

  #leave(file: WaitingFile): void {
    this.#waiting.delete(file.fileName);
    this.#firstOutcome(file);
    if (file.noticed) this.#enter(file.fileName, 'event', false);
  }

  #enter(fileName: string, seen: 'event' | 'sweep', initial: boolean): void {
    const file = {
      fileName,
      seen,
      initial,
      noticed: false,
      recheck: false,
      track: undefined,
      sampledAt: 0,
    };
    this.#waiting.set(fileName, file);
    if (initial) this.#initialLeft += 1;
    this.#sampler.add(file);
  }
}

/** Directory of the file, relative to the folder. */
function directoryOf(fileName: string): string {
  const directory = dirname(fileName);
  return directory === '.' ? '' : directory;
}

function describeUnreadable(folder: string, unreadable: ReadonlyMap<string, string>): string | null {
  const first = unreadable.entries().next().value;
  if (first === undefined) return null;
  const [fileName, code] = first;
  const more = unreadable.size - 1;
  const others = more === 0 ? '' : `, and ${more} more in the same folder`;
  return `The file ${join(folder, fileName)} cannot be read (${code})${others}.`;
}

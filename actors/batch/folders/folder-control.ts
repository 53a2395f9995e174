/** Status and rescan of input folders for operators. */

import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, describeFailure } from '@sealwright/runtime';
import type { FolderView, RescanCounts, RescanReport } from '../../../contracts/batch/folders.ts';
import type { SystemEventContext } from '../../../machines/batch/system-event.ts';
import type { Millis } from '../../../machines/ids.ts';
import { Refusal } from '../../../machines/refusals.ts';
import type { EventLog } from '../job-records/events.ts';
import {
  type Candidate,
  createBucketFiles,
  createIgnoredNames,
  isDoubtful,
  listedObjects,
  nameIn,
  walk,
} from '../watched-folder/index.ts';
import type { FolderIntake } from './folder-intake.ts';
import type { FolderOptions, Folders } from './folders.ts';

/** Files counted per folder. Source: docs/batch-values.md §0. */
const MAX_FILES_COUNTED = 50;

/** Entries read for that count, which bounds the cost of a folder full of ignored files. */
const MAX_ENTRIES_READ = 2_000;

/** Jobs created concurrently: they share commits, and uploads do not wait for a whole folder. */
const CONCURRENCY = 64;

type Counts = { -readonly [Name in keyof RescanCounts]: number };

export class FolderService {
  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    private readonly folders: Folders,
    private readonly intake: FolderIntake,
    private readonly events: EventLog,
  ) {}

  get names(): readonly string[] {
    return this.folders.options.map(({ name }) => name);
  }

  async list(): Promise<readonly FolderView[]> {
    const reports = await this.folders.reports();
    return Promise.all(
      reports.map(async (report) => {
        const files = report.look?.files ?? (await countFiles(report.options));
        return {
          name: report.name,
          path: report.path,
          exists: report.exists,
          status: report.status,
          lastEnqueueAt: report.lastEnqueueAt,
          lastError: report.lastError,
          processedCount: report.processed,
          fileCount: Math.min(files, MAX_FILES_COUNTED),
          fileCountCapped: files > MAX_FILES_COUNTED,
          profile: report.options.profile,
        };
      }),
    );
  }

  /** All folders when no name is given. Refusals: `folder.not-found`, with the configured names in its message. */
  async rescan(name: string | undefined, by = 'operator'): Promise<RescanReport> {
    const all = this.folders.options;
    const chosen = name === undefined ? all : all.filter((folder) => folder.name === name);
    if (chosen.length === 0 && name !== undefined) {
      const names = all.map((folder) => folder.name).join(', ') || 'none';
      throw new Refusal('folder.not-found', `No input folder is called ${name}. Configured: ${names}.`);
    }
    const folders: RescanReport['folders'][number][] = [];
    for (const folder of chosen) folders.push(await this.#rescanOne(folder));
    const sum = (count: keyof RescanCounts) => folders.reduce((total, folder) => total + folder[count], 0);
    const report = {
      folders,
      totals: {
        folders: folders.length,
        scanned: sum('scanned'),
        enqueued: sum('enqueued'),
        alreadyActive: sum('alreadyActive'),
        ignored: sum('ignored'),
        errors: sum('errors'),
      },
    };
    await this.events.record(rescanEvent(report, by, this.clock.now()));
    return report;
  }

  async #rescanOne(folder: FolderOptions): Promise<RescanReport['folders'][number]> {
    const counts: Counts = { scanned: 0, enqueued: 0, alreadyActive: 0, ignored: 0, errors: 0 };
    const enqueuedFiles: string[] = [];
    const running = new Set<Promise<void>>();
    const { source } = folder;
    const begin = async (work: Promise<void>) => {
      const ended = work.finally(() => running.delete(ended));
      running.add(ended);
      if (running.size >= CONCURRENCY) await Promise.race(running);
    };
    if (source !== undefined) {
      try {
        const fileOf = createBucketFiles(folder.settings, source);
        for await (const object of listedObjects(source, folder.settings)) {
          counts.scanned += 1;
          const file = fileOf(object);
          if (typeof file === 'string') counts.ignored += 1;
          else await begin(this.#enqueue(folder, file, counts, enqueuedFiles));
        }
      } catch {
        counts.errors += 1;
      }
      await Promise.all(running);
      return this.#rescanned(folder, counts, enqueuedFiles);
    }
    const rules = rulesOf(folder, (directory, error) => {
      if (describeFailure(error).code !== 'ENOENT' || isDoubtful(directory)) counts.errors += 1;
    });
    try {
      for await (const { directory, entry } of walk(folder.path, rules)) {
        const isIgnored = rules.ignored(entry.name);
        // The walk enters it and counts its files.
        if (rules.recursive && entry.isDirectory() && !isIgnored) continue;
        counts.scanned += 1;
        if (!entry.isFile() || isIgnored) {
          counts.ignored += 1;
          continue;
        }
        await begin(
          this.#enqueueFile(folder, directory, { fileName: entry.name, counts, enqueued: enqueuedFiles }),
        );
      }
    } catch {
      // Missing or not listable: counts one error and keeps the files found before it.
      counts.errors += 1;
    }
    await Promise.all(running);
    return this.#rescanned(folder, counts, enqueuedFiles);
  }

  #rescanned({ name, path }: FolderOptions, counts: Counts, enqueuedFiles: string[]) {
    return { name, path, ...counts, enqueuedFiles: enqueuedFiles.sort() };
  }

  async #enqueueFile(
    folder: FolderOptions,
    subfolder: string,
    {
      fileName,
      counts,
      enqueued,
    }: { readonly fileName: string; readonly counts: Counts; readonly enqueued: string[] },
  ): Promise<void> {
    try {
      const path = join(folder.path, subfolder, fileName);
      const stat = await lstat(path);
      if (!stat.isFile() || stat.size === 0) {
        counts.ignored += 1;
        return;
      }
      const { size, mtimeMs } = stat;
      const file: Candidate = { path, fileName, subfolder, size, mtimeMs, seen: 'sweep' };
      await this.#enqueue(folder, file, counts, enqueued);
    } catch (error) {
      // Removed by another process after the listing, or its name is not UTF-8.
      if (describeFailure(error).code === 'ENOENT' && !isDoubtful(fileName)) counts.ignored += 1;
      else counts.errors += 1;
    }
  }

  async #enqueue(folder: FolderOptions, file: Candidate, counts: Counts, enqueued: string[]): Promise<void> {
    try {
      const taken = await this.intake.enqueueByRescan(folder, file);
      if (taken === undefined) counts.alreadyActive += 1;
      else {
        counts.enqueued += 1;
        enqueued.push(nameIn(file.subfolder, taken.fileName));
      }
    } catch (error) {
      if (describeFailure(error).code === 'ENOENT') counts.ignored += 1;
      else counts.errors += 1;
    }
  }
}

/** @param unlistable called with the reason when a directory below the folder cannot be listed */
function rulesOf({ settings }: FolderOptions, unlistable: (directory: string, error: unknown) => void) {
  return {
    recursive: settings.recursive ?? false,
    ignored: createIgnoredNames(settings),
    unlistable,
  };
}

async function countFiles(folder: FolderOptions): Promise<number> {
  const rules = rulesOf(folder, () => {});
  let files = 0;
  let looked = 0;
  try {
    for await (const { entry } of walk(folder.path, rules)) {
      if (entry.isFile() && !rules.ignored(entry.name)) files += 1;
      looked += 1;
      if (files > MAX_FILES_COUNTED || looked >= MAX_ENTRIES_READ) break;
    }
  } catch {
    return files;
  }
  return files;
}

/** The system event of a finished rescan. */
function rescanEvent({ folders }: RescanReport, actor: string, at: Millis): SystemEventContext {
  const enqueued = folders.reduce((sum, folder) => sum + folder.enqueued, 0);
  const message = `Rescan of ${folders.map(({ name }) => name).join(', ') || 'no folder'}: ${enqueued} enqueued.`;
  return { at, kind: 'RescanCompleted', actor, jobId: null, code: null, message };
}

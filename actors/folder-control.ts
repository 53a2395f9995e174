/** What operators may see of input folders, and taking their files by hand. Implements the port `FolderControl`. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FolderName } from '../machines/ids.ts';
import { Refusal } from '../machines/refusals.ts';
import { describeFailure } from '../runtime/index.ts';
import { type Candidate, createIgnoredNames, nameIn, walk } from './adapters/watched-folder/index.ts';
import type { FolderControl, FolderView, RescanCounts, RescanReport } from './api.ts';
import type { FolderOptions, Folders } from './folders.ts';

/** Files counted per folder. Source: Batch Signing Service API, "Limits". */
const FILES_COUNTED = 50;

/** Entries looked at for that count, so that a folder full of ignored files costs no more. */
const ENTRIES_LOOKED_AT = 2_000;

/** Jobs made at once: they share commits, and no upload has to wait for a whole folder. */
const AT_ONCE = 64;

export interface FolderControlParts {
  readonly folders: Folders;
  /** Makes a job of a file, recently canceled or failed or not; undefined when an active job has it. */
  readonly take: (
    folder: FolderOptions,
    file: Candidate,
  ) => Promise<{ readonly fileName: string } | undefined>;
  /** Told of a rescan that is done. */
  readonly rescanned: (report: RescanReport) => Promise<void>;
}

type Counts = { -readonly [Name in keyof RescanCounts]: number };

export class FolderService implements FolderControl {
  readonly #parts: FolderControlParts;

  constructor(parts: FolderControlParts) {
    this.#parts = parts;
  }

  async list(): Promise<readonly FolderView[]> {
    const reports = await this.#parts.folders.reports();
    return Promise.all(
      reports.map(async (report) => {
        const files = await countFiles(report.options);
        return {
          name: report.name,
          path: report.path,
          exists: report.exists,
          status: report.status,
          lastEnqueueAt: report.lastEnqueueAt,
          lastError: report.lastError,
          processedCount: report.processed,
          fileCount: Math.min(files, FILES_COUNTED),
          fileCountCapped: files > FILES_COUNTED,
          profile: report.options.profile,
        };
      }),
    );
  }

  async rescan(name: string | undefined): Promise<RescanReport> {
    const all = this.#parts.folders.options;
    const chosen = name === undefined ? all : all.filter((folder) => folder.name === name);
    if (chosen.length === 0 && name !== undefined) {
      const names = all.map((folder) => folder.name).join(', ') || 'none';
      throw new Refusal('folder.not-found', `No input folder is called ${name}. Configured: ${names}.`);
    }
    const folders = [];
    for (const folder of chosen) folders.push(await this.#rescanOne(folder));
    const report = { folders };
    await this.#parts.rescanned(report);
    return report;
  }

  async #rescanOne(folder: FolderOptions): Promise<RescanReport['folders'][number]> {
    const counts: Counts = { scanned: 0, enqueued: 0, alreadyActive: 0, ignored: 0, errors: 0 };
    const enqueuedFiles: string[] = [];
    const running = new Set<Promise<void>>();
    const rules = rulesOf(folder, (error) => {
      if (describeFailure(error).code !== 'ENOENT') counts.errors += 1;
    });
    try {
      for await (const { directory, entry } of walk(folder.path, rules)) {
        const isIgnored = rules.ignored(entry.name);
        // Gone into, its files are what counts.
        if (rules.recursive && entry.isDirectory() && !isIgnored) continue;
        counts.scanned += 1;
        if (!entry.isFile() || isIgnored) {
          counts.ignored += 1;
          continue;
        }
        const work = this.#takeOne(folder, directory, entry.name, counts, enqueuedFiles).finally(() =>
          running.delete(work),
        );
        running.add(work);
        if (running.size >= AT_ONCE) await Promise.race(running);
      }
    } catch {
      // Missing or not listable: one error, and what was found before it still counts.
      counts.errors += 1;
    }
    await Promise.all(running);
    return {
      name: folder.name as FolderName,
      path: folder.path,
      ...counts,
      enqueuedFiles: enqueuedFiles.sort(),
    };
  }

  async #takeOne(
    folder: FolderOptions,
    subfolder: string,
    fileName: string,
    counts: Counts,
    enqueued: string[],
  ): Promise<void> {
    try {
      const path = join(folder.path, subfolder, fileName);
      const stat = await lstat(path);
      if (!stat.isFile() || stat.size === 0) {
        counts.ignored += 1;
        return;
      }
      const taken = await this.#parts.take(folder, {
        path,
        fileName,
        subfolder,
        size: stat.size,
        mtimeMs: stat.mtimeMs,
        seen: 'sweep',
      });
      if (taken === undefined) counts.alreadyActive += 1;
      else {
        counts.enqueued += 1;
        enqueued.push(nameIn(subfolder, taken.fileName));
      }
    } catch (error) {
      // Gone since it was listed: somebody else had it.
      if (describeFailure(error).code === 'ENOENT') counts.ignored += 1;
      else counts.errors += 1;
    }
  }
}

/** @param onUnlistable told why a directory below the folder cannot be listed */
function rulesOf({ settings }: FolderOptions, onUnlistable: (error: unknown) => void) {
  return {
    recursive: settings.recursive ?? false,
    ignored: createIgnoredNames(settings.ignoredExtensions, settings.ignoredPrefixes),
    unlistable: (_: string, error: unknown) => onUnlistable(error),
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
      if (files > FILES_COUNTED || looked >= ENTRIES_LOOKED_AT) break;
    }
  } catch {
    return files;
  }
  return files;
}

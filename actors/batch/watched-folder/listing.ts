/**
 * Lists a folder to find files whose events were lost. Reads entries in batches, so that the event loop is never
 * blocked for long.
 */
import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileReader } from './file-reader.ts';
import type { KnownFiles } from './known-files.ts';

/** Entries per read: larger batches are cheaper, smaller ones shorter (about 1 ms each). */
const BATCH_SIZE = 512;

/** Walks the entries of an input folder, and of its subdirectories when recursive. */
interface WalkRules {
  /** True: enters directories, except ignored ones. Does not follow links. */
  readonly recursive: boolean;
  /** True for names of files and directories to skip. */
  readonly ignored: (name: string) => boolean;
  /** Called with the relative path of each subdirectory before it is listed. */
  readonly entering?: (directory: string) => Promise<void>;
  /** Called for each subdirectory that cannot be entered or listed; the walk continues. */
  readonly unlistable: (directory: string, error: unknown) => void;
}

interface Found {
  /** Relative path of the directory, `''` for the folder itself. */
  readonly directory: string;
  readonly entry: Dirent;
}

/** Yields all entries, including directories and ignored names. Rejects when the folder itself cannot be listed. */
export async function* walk(
  folder: string,
  { recursive, ignored, entering, unlistable }: WalkRules,
): AsyncGenerator<Found, void, undefined> {
  const waiting = [''];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    try {
      if (directory !== '') await entering?.(directory);
      for await (const entry of await opendir(join(folder, directory), { bufferSize: BATCH_SIZE })) {
        if (recursive && entry.isDirectory() && !ignored(entry.name))
          waiting.push(nameIn(directory, entry.name));
        yield { directory, entry };
      }
    } catch (error) {
      if (directory === '') throw error;
      unlistable(directory, error);
    }
  }
}

/** Path of an entry, relative to the folder. */
export function nameIn(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

/** Replacement character of the UTF-8 decoder; may also be part of a valid name. */
const REPLACEMENT = '\uFFFD';

/** True for a name that may stand for one that is not UTF-8. Nothing is found at its path then. */
export function isDoubtful(name: string): boolean {
  return name.includes(REPLACEMENT);
}

export interface ListingOptions {
  /** Absolute. */
  readonly folder: string;
  readonly rules: WalkRules;
  readonly memory: KnownFiles;
  readonly fileReader: FileReader;
  /** Maximum number of known files sampled concurrently. */
  readonly limit: number;
  /** Called for each new, changed or removed file. */
  readonly observe: (fileName: string) => void;
  /** True once the result is no longer needed. */
  readonly stopped: () => boolean;
}

/**
 * Lists the folder once and reports files by their path relative to the folder. Rejects with the system's error when it
 * cannot be listed; earlier reports stay valid.
 *
 * @returns the directories in which a name may contain bytes that are not UTF-8
 */
export async function listFolder(options: ListingOptions): Promise<ReadonlySet<string>> {
  const { folder, rules, memory, observe, stopped, limit } = options;
  memory.startListing();
  const doubtful = new Set<string>();
  let known: string[] = [];
  for await (const { directory, entry } of walk(folder, rules)) {
    if (stopped()) return doubtful;
    if (isDoubtful(entry.name)) doubtful.add(directory);
    if (!entry.isFile() || rules.ignored(entry.name)) continue;
    const fileName = nameIn(directory, entry.name);
    if (!memory.has(fileName)) {
      observe(fileName);
      continue;
    }
    memory.mark(fileName);
    known.push(fileName);
    if (known.length < limit) continue;
    await noticeChanged(known, options);
    known = [];
  }
  await noticeChanged(known, options);
  await noticeGone(options);
  return doubtful;
}

/** Reports offered files whose metadata has changed. */
async function noticeChanged(
  fileNames: readonly string[],
  { memory, fileReader, observe }: ListingOptions,
): Promise<void> {
  await Promise.all(
    fileNames.map(async (fileName) => {
      const found = await fileReader.sample(fileName);
      if (found.is !== 'file' || !memory.containsSample(fileName, found.sample)) observe(fileName);
    }),
  );
}

/** Samples offered files missing from the listing before forgetting them: renames during a listing can hide files. */
async function noticeGone(options: ListingOptions): Promise<void> {
  let batch: string[] = [];
  for (const fileName of options.memory.unmarked()) {
    batch.push(fileName);
    if (batch.length < options.limit) continue;
    await noticeChanged(batch, options);
    batch = [];
    if (options.stopped()) return;
  }
  await noticeChanged(batch, options);
}

function percentEncoded(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

export interface BadName {
  /** Hexadecimal bytes after the path of the directory. */
  readonly bytes: string;
  /** For people: the path with `%` and two digits for each byte beyond ASCII. */
  readonly text: string;
}

/** Names in a directory that are not UTF-8: no path string can address them. */
export async function namesNotUtf8(folder: string, directory: string): Promise<readonly BadName[]> {
  const names: BadName[] = [];
  for await (const entry of await opendir(join(folder, directory), {
    encoding: 'buffer' as BufferEncoding,
  })) {
    // The type of names depends on the encoding, which the declared type of this call does not express.
    const name = (entry as unknown as Dirent<Buffer>).name;
    if (isUtf8(name)) continue;
    const shown = name.toString('latin1').replaceAll(/[^ -~]/g, percentEncoded);
    names.push({ bytes: nameIn(directory, name.toString('hex')), text: nameIn(directory, shown) });
  }
  return names;
}

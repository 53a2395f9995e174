/**
 * Listing a folder: what change notices have missed is found here. Entries are read in batches, so that the
 * event loop is never held for long however many files there are.
 */
import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Looker } from './look.ts';
import type { OfferMemory } from './memory.ts';
import { nameIn, type WalkRules, walk } from './walk.ts';

/** What decoding puts in the place of bytes that are not UTF-8 (and what a name may also hold by right). */
const REPLACEMENT = '\uFFFD';

export interface SweepParts {
  /** Absolute. */
  readonly folder: string;
  readonly rules: WalkRules;
  readonly memory: OfferMemory;
  readonly looker: Looker;
  /** Known files looked at together. */
  readonly limit: number;
  /** Told each file that is new, changed or gone. */
  readonly notice: (fileName: string) => void;
  /** True once the result is of no interest. */
  readonly stopped: () => boolean;
}

/**
 * Lists the folder once. Rejects with the system's error when it cannot be listed; files already told stay told.
 * Files are told by their path relative to the folder.
 *
 * @returns the directories in which a name may hold bytes that are not UTF-8
 */
export async function sweep(parts: SweepParts): Promise<ReadonlySet<string>> {
  const { folder, rules, memory, notice, stopped, limit } = parts;
  memory.beginListing();
  const doubtful = new Set<string>();
  let known: string[] = [];
  for await (const { directory, entry } of walk(folder, rules)) {
    if (stopped()) return doubtful;
    if (entry.name.includes(REPLACEMENT)) doubtful.add(directory);
    if (!entry.isFile() || rules.ignored(entry.name)) continue;
    const fileName = nameIn(directory, entry.name);
    if (!memory.has(fileName)) {
      notice(fileName);
      continue;
    }
    memory.mark(fileName);
    known.push(fileName);
    if (known.length < limit) continue;
    await noticeChanged(known, parts);
    known = [];
  }
  await noticeChanged(known, parts);
  await noticeGone(parts);
  return doubtful;
}

/** Which of the files that were offered do not look any more as they did then. */
async function noticeChanged(
  fileNames: readonly string[],
  { memory, looker, notice }: SweepParts,
): Promise<void> {
  await Promise.all(
    fileNames.map(async (fileName) => {
      const look = await looker.look(fileName);
      if (look.is !== 'file' || !memory.holds(fileName, look.sample)) notice(fileName);
    }),
  );
}

/** A file that was offered and is not listed is looked at again before it is forgotten: renames during a listing hide files. */
async function noticeGone(parts: SweepParts): Promise<void> {
  let batch: string[] = [];
  for (const fileName of parts.memory.unmarked()) {
    batch.push(fileName);
    if (batch.length < parts.limit) continue;
    await noticeChanged(batch, parts);
    batch = [];
    if (parts.stopped()) return;
  }
  await noticeChanged(batch, parts);
}

/**
 * Names in a directory of the folder that are not UTF-8, as hexadecimal bytes behind the directory's path: no path text
 * can lead to them.
 */
export async function namesNotUtf8(folder: string, directory: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(join(folder, directory), {
    encoding: 'buffer' as BufferEncoding,
  })) {
    // The type of the names follows the encoding, which the declared type of this call does not know.
    const name = (entry as unknown as Dirent<Buffer>).name;
    if (!isUtf8(name)) names.push(nameIn(directory, name.toString('hex')));
  }
  return names;
}

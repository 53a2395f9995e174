/** Actors that have ended, with lines of a history, and what is read of them. */
import type { ActorStore, JournalLine, Step } from '@sealwright/runtime';
import { lineHash } from '#runtime/history/checkpoint.js';
import type { CopySide } from '#runtime/store/copy/copy-side.js';
import { stepOf } from '../../contract/steps.ts';

export const address = (number: number) => ({ kind: 'job', id: `job-${number}` });

/** Lines of an actor; of the odd ones a part has no hash, as earlier programs wrote them. */
export function linesOf(number: number, from: number, count: number, head: string): JournalLine[] {
  const lines: JournalLine[] = [];
  for (let id = from; id < from + count; id += 1) {
    const line = {
      id,
      at: 1_790_000_000_000 + id,
      state: 'Queued',
      message: `Line ${id} “ü\n"`,
      cause: 'CREATE',
      ...(id % 3 === 0 && { data: { check: 'deadbeef', code: 'x' } }),
    };
    const hash = lineHash(head, address(number), line);
    lines.push(number % 2 === 1 && id <= 2 ? line : { ...line, hash });
    head = number % 2 === 1 && id <= 2 ? '' : hash;
  }
  return lines;
}

export function stepWith(
  number: number,
  basedOn: number,
  lines: readonly JournalLine[],
  more: Partial<Step> = {},
) {
  const last = lines.at(-1);
  const context = { order: number, text: `Text ${number} `.repeat(number % 7) };
  return stepOf(
    address(number),
    basedOn,
    { journal: lines, ...more },
    {
      state: 'Completed',
      context,
      journalLength: last?.id ?? 0,
      ...(last?.hash !== undefined && { journalHash: last.hash }),
    },
  );
}

/** Everything that is read of actors, in several ways. */
export async function all(store: Pick<ActorStore, 'load' | 'actors' | 'journal'>, count: number) {
  const read: unknown[] = [await store.actors({ kind: 'job', after: 'job-1', limit: 5 })];
  for (let number = 0; number < count; number += 1) {
    const one = address(number);
    read.push(await store.load(one), await store.journal(one), await store.journal(one, { after: 2 }));
    read.push(await store.journal(one, { after: 1, limit: 2 }));
  }
  return JSON.stringify(read);
}

export const packed = (store: ActorStore, actors: ReturnType<typeof resting>) =>
  store.packing?.pack(actors, 'node', ['node', 1, actors.length]);
export const resting = (from: number, to: number, revision = 1) =>
  Array.from({ length: to - from }, (_, at) => ({ ...address(from + at), revision, states: ['Completed'] }));

/** Everything that a copy reads of actors and lines; closes it. */
export async function recordsOf(side: CopySide): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (const table of ['actors', 'journal'] as const) {
    const all: unknown[] = [];
    for (let batch = await side.read(table, undefined); batch.length > 0; ) {
      all.push(...batch);
      // Also from the middle of an actor.
      all.push(...(await side.read(table, batch[batch.length >> 1]?.key)));
      batch = await side.read(table, batch.at(-1)?.key);
    }
    found.push(all, await side.count(table));
  }
  await side.close();
  return found;
}

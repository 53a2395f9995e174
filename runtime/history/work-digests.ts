/**
 * Digests of what no checkpoint covers: pending effects, deadlines, counters and names. They are kept with the record of
 * an orderly stop, outside of the store, since nothing may change them until the next start.
 *
 * Source: docs/decisions/0053-tamper-evident-history.md.
 */
import { createHash } from 'node:crypto';
import type { HeldName, ListedEffect, StoredTimer, WorkReader } from '../model/ports.ts';

/** SHA-256 by the name of what it covers, lower-case hex. The same on every engine, so that a copied store agrees. */
export interface WorkDigests {
  readonly effects: string;
  readonly timers: string;
  readonly counters: string;
  readonly names: string;
}

const PAGE_SIZE = 256;

/** @param isLate asked for each page @returns undefined once it was late */
export async function digestWork(
  store: WorkReader,
  isLate: () => boolean = () => false,
): Promise<WorkDigests | undefined> {
  const digest = async (entries: AsyncIterable<unknown> | Iterable<unknown>) => {
    const hash = createHash('sha256');
    for await (const entry of entries) hash.update(`${JSON.stringify(entry)}\n`);
    return hash.digest('hex');
  };
  const digests = {
    effects: await digest(effectsOf(store, isLate)),
    timers: await digest(timersOf(store, isLate)),
    counters: await digest(await countersOf(store)),
    names: await digest(namesOf(store, isLate)),
  };
  return isLate() ? undefined : digests;
}

async function* effectsOf(store: WorkReader, isLate: () => boolean): AsyncIterable<unknown> {
  for await (const effect of pagesOf<ListedEffect>((after) => store.effects(page(after?.key)), isLate)) {
    const { key, dueAt, partition = null, failures, lastError, effect: wanted } = effect;
    yield [key, dueAt, partition, failures, lastError, wanted];
  }
}

async function* timersOf(store: WorkReader, isLate: () => boolean): AsyncIterable<unknown> {
  for await (const { actor, name, due, event } of pagesOf<StoredTimer>(
    (after) => store.timers(page(after)),
    isLate,
  ))
    yield [actor.kind, actor.id, name, due, event];
}

async function* namesOf(store: WorkReader, isLate: () => boolean): AsyncIterable<unknown> {
  for await (const { name, holder } of pagesOf<HeldName>((after) => store.names(page(after?.name)), isLate))
    yield [name, holder.kind, holder.id];
}

/** A counter of 0 may be stored or not. */
async function countersOf(store: WorkReader): Promise<readonly unknown[]> {
  const counters = Object.entries(await store.counters('')).filter(([, count]) => count !== 0);
  return counters.sort(([left], [right]) => (left < right ? -1 : 1)).map(([name, count]) => [name, count]);
}

function page<After>(after: After | undefined): { readonly after?: After; readonly limit: number } {
  return { limit: PAGE_SIZE, ...(after !== undefined && { after }) };
}

async function* pagesOf<Entry>(
  read: (after: Entry | undefined) => Promise<readonly Entry[]>,
  isLate: () => boolean,
): AsyncIterable<Entry> {
  let last: Entry | undefined;
  while (!isLate()) {
    const entries = await read(last);
    yield* entries;
    if (entries.length < PAGE_SIZE) return;
    last = entries.at(-1);
  }
}

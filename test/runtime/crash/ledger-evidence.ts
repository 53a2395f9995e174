/** Looks into a store of ledgers for broken promises: what was acknowledged and is not there, what does not fit together. */
import type { ActorAddress, ActorStore } from '@sealwright/runtime';
import { dropsWork, LEDGERS, type LedgerContext, tallyOf } from './ledger.ts';

export type LedgerPromise = 'lost' | 'torn' | 'doubled';

export interface Breach {
  readonly promise: LedgerPromise;
  readonly text: string;
}

export interface Evidence {
  /** The highest revision acknowledged per actor. */
  readonly promised: ReadonlyMap<string, number>;
  /** Journal lines read so far per actor, so that each is read once; moved on. @default all are read */
  readonly read?: Map<string, number>;
  /** Number of effects of an actor that the receiver has seen. @default not compared */
  readonly done?: (id: string) => number;
}

/** Notes a line of `kill-worker`, `ack|ran <actor> <revision>`; false for anything but a whole `ack`. */
export function addPromise(promised: Map<string, number>, line: string): boolean {
  const [, word, id, revision] = /^(ack|ran) (\w+) (\d+)$/.exec(line) ?? [];
  if (id === undefined) return false;
  promised.set(id, Math.max(promised.get(id) ?? 0, Number(revision)));
  return word === 'ack';
}

export async function lookAtLedgers(
  store: ActorStore,
  evidence: Evidence,
): Promise<{ readonly breaches: readonly Breach[]; readonly counters: { readonly [name: string]: number } }> {
  const breaches: Breach[] = [];
  const expect = (promise: LedgerPromise, isKept: boolean, text: string) => {
    if (!isKept) breaches.push({ promise, text });
  };
  const sums: { [name: string]: number } = {};
  const places: string[] = [];
  const deadlines = new Map<string, number>();
  for (const { actor } of await store.dueTimers(Number.MAX_SAFE_INTEGER, 100_000))
    deadlines.set(actor.id, (deadlines.get(actor.id) ?? 0) + 1);
  for (const address of LEDGERS) {
    const { id } = address;
    const actor = await store.load(address);
    const promised = evidence.promised.get(id) ?? 0;
    expect('lost', (actor?.revision ?? 0) >= promised, `${id} lost an acknowledged step`);
    if (actor === undefined) continue;
    places.push(`${address.kind}/${actor.state}/${id}`);
    const context = actor.context as unknown as LedgerContext;
    for (const [name, value] of Object.entries(tallyOf(context))) sums[name] = (sums[name] ?? 0) + value;
    const stored = await storedWork(store, address);
    const open = [...context.open].sort(byNumber);
    expect('torn', String(stored) === String(open), `${id} has ${stored} stored and ${open} open`);
    const { asked, done, failed, dropped } = context;
    expect('torn', done + failed + dropped + open.length === asked, `${id} lost or made up work`);
    expect(
      'torn',
      await hasWholeJournal(store, address, actor.journalLength, evidence.read),
      `${id}: torn journal`,
    );
    const [row] = await store.rows({ view: 'ledger', prefix: [id], limit: 1 });
    expect('torn', JSON.stringify(row?.value) === JSON.stringify(tallyOf(context)), `${id}: another row`);
    expect('torn', (deadlines.get(id) ?? 0) === Object.keys(actor.timers).length, `${id}: other deadlines`);
    if (evidence.done === undefined) continue;
    const seen = evidence.done(id);
    expect('lost', seen >= done, `${id}: ${done} pieces came back, ${seen} were done`);
    // What was dropped may have been done.
    const most = done + open.length + (dropsWork(address) ? dropped : 0);
    expect('doubled', seen <= most, `${id}: ${seen} pieces were done of ${most}`);
  }
  const rows = await store.rows({ view: 'actors', limit: 100_000 });
  expect('torn', String(rows.map(({ key }) => key.join('/'))) === String(places.sort()), 'another census');
  const counters = await store.counters('');
  const counted = Object.entries(counters).filter(([name]) => name.startsWith('actors/'));
  const recounted = countBy(places.map((place) => place.split('/').slice(0, 2).join('/1/')));
  expect('torn', String(counted.sort()) === String(recounted), 'the state index counts something else');
  for (const [name, sum] of Object.entries(sums))
    expect('torn', (counters[name] ?? 0) === sum, `the counter ${name} says something else`);
  expect(
    'doubled',
    (sums['strange'] ?? 0) === 0,
    `${sums['strange']} outcomes were taken of work that was not open`,
  );
  return { breaches, counters };
}

/** Frequency with which each text is there, in the order of the texts. */
function countBy(texts: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(`actors/${text}`, (counts.get(`actors/${text}`) ?? 0) + 1);
  return [...counts].sort();
}

/** Numbers of the stored effects whose outcome somebody waits for. */
async function storedWork(store: ActorStore, address: ActorAddress): Promise<readonly number[]> {
  const pending = await store.pendingEffects(address);
  const work = pending.filter(({ effect }) => effect.do !== 'tell');
  return work.map(({ effect }) => Number(effect['n'])).sort(byNumber);
}

function byNumber(left: number, right: number): number {
  return left - right;
}

async function hasWholeJournal(
  store: ActorStore,
  address: ActorAddress,
  length: number,
  read: Map<string, number> | undefined,
): Promise<boolean> {
  const after = read?.get(address.id) ?? 0;
  read?.set(address.id, length);
  const lines = await store.journal(address, { after });
  return lines.every(({ id }, at) => id === after + at + 1) && after + lines.length === length;
}

/**
 * Pages of the actors of one kind, each a range of an index, in the order of ids, so that an actor that changes its
 * state between two pages is on at most one of them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HostReport } from '../host/actor-host.ts';
import { isEffectKey, isKey } from '../model/keys.ts';
import type { ActorStore, EffectKey, Json, Millis, StoredActor, StoredEffect } from '../model/ports.ts';
import { STATE_INDEX_VIEW, STOPPED_VIEW } from '../step/derive.ts';
import { redactedText } from './redact.ts';

export interface EffectReport {
  readonly key: EffectKey;
  readonly do: string;
  readonly dueAt: Millis;
  readonly failures: number;
  readonly lastError: string | null;
}

export interface ActorSummary {
  readonly kind: string;
  readonly id: string;
  readonly state: string;
  readonly revision: number;
  /** Messages in progress or waiting. */
  readonly mailbox: number;
  readonly stopped: StoredActor['stopped'];
  /** For the filter `stuck`: the effect that failed. */
  readonly trouble: EffectReport | null;
  /** Time of the last line of its history, null without one; only in a list of the oldest. */
  readonly since?: Millis | null;
}

export interface ActorQuery {
  readonly kind: string;
  readonly state?: string | undefined;
  /** Only actors with a failed effect that is retried. */
  readonly stuck?: boolean | undefined;
  /** Only stopped actors. */
  readonly stopped?: boolean | undefined;
  /** Only actors whose id begins with this text. */
  readonly idPrefix?: string | undefined;
  /**
   * Only actors that have this text, without regard to case, in their id or in a member of their context that names
   * them. One page reads at most `MAX_SEARCHED` actors.
   */
  readonly text?: string | undefined;
  /**
   * Those whose history was longest without a line first, of `MAX_SORTED` that fit; such a list has one page.
   * @default in the order of their ids
   */
  readonly oldest?: boolean | undefined;
  /** The cursor of the previous page. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface ActorPage {
  /** May be fewer than requested, or none, although more follow: the other filters are applied afterwards. */
  readonly items: readonly ActorSummary[];
  /** Cursor of the next page; undefined at the end. */
  readonly next: string | undefined;
  /** In a list of the oldest: false when more actors fit than are sorted. */
  readonly complete?: boolean;
  /** In a search by text: actors that were read for this page. */
  readonly examined?: number;
}

type PagedStore = Pick<ActorStore, 'load' | 'actors' | 'rows' | 'failedEffects' | 'journal'>;

/** Maximum number of actors that are sorted by age: about a second on a store on disk. */
const MAX_SORTED = 20_000;
/** Maximum number of actors that a page of a search reads: a quarter of a second on a store on disk. */
const MAX_SEARCHED = 5000;
/** Actors that are read at once while they are sorted or searched. */
const READ_AT_ONCE = 500;
/** Members of contexts that name an actor. */
const NAMING_MEMBERS = ['name', 'fileName', 'externalId', 'identifier'];
/** A page may be empty although more follow, so their number is limited, too. */
const MAX_PAGES = 2 * (MAX_SORTED / READ_AT_ONCE);

/** Ids of a range of an index, in ascending order. */
interface Found {
  readonly actors: readonly (StoredActor | undefined)[];
  /** By id, for the filter `stuck`. */
  readonly troubles?: ReadonlyMap<string, StoredEffect>;
  /** The last id of the range; undefined when no more follow. */
  readonly last: string | undefined;
}

/** The greatest revision: sorts after all effects of an actor. */
const LAST = Number.MAX_SAFE_INTEGER;

/** @param query of a known kind */
export async function actorPage(
  store: PagedStore,
  reports: () => Promise<readonly HostReport[]>,
  query: ActorQuery,
): Promise<ActorPage> {
  const find = query.oldest ? findOldest : query.text === undefined ? findFitting : search;
  const { actors, troubles, since, next, complete, examined } = await find(store, query);
  const depths = actors.length === 0 ? NO_DEPTHS : mailboxDepths(await reports());
  const items = actors.map((actor) => {
    const trouble = troubles?.get(actor.address.id);
    const summary = { ...summaryOf(actor, depths), trouble: trouble ? effectReport(trouble) : null };
    return since === undefined ? summary : { ...summary, since: since.get(actor) ?? null };
  });
  return {
    items,
    next,
    ...(complete !== undefined && { complete }),
    ...(find === search && { examined }),
  };
}

interface Fitting extends Pick<Found, 'troubles'> {
  readonly actors: readonly StoredActor[];
  readonly next: string | undefined;
  /** Times of the last lines of the histories. */
  readonly since?: ReadonlyMap<StoredActor, Millis | null>;
  readonly complete?: boolean;
  /** Number of actors that were read. */
  readonly examined: number;
}

/** Reads pages until enough actors have the text, or too many were read; the next page goes on there. */
async function search(store: PagedStore, query: ActorQuery): Promise<Fitting> {
  const found: StoredActor[] = [];
  const troubles = new Map<string, StoredEffect>();
  let after = query.after;
  let examined = 0;
  for (let pages = 0; pages < MAX_PAGES && examined < MAX_SEARCHED; pages += 1) {
    const page = await findFitting(store, { ...query, after, limit: READ_AT_ONCE });
    examined += page.examined;
    for (const [id, trouble] of page.troubles ?? []) troubles.set(id, trouble);
    found.push(...page.actors);
    const last = found.at(query.limit - 1);
    if (last !== undefined && (found.length > query.limit || page.next !== undefined)) {
      const actors = found.slice(0, query.limit);
      return { actors, troubles, next: writeCursor(last.address.id), examined };
    }
    after = page.next;
    if (after === undefined) break;
    await nextTurn();
  }
  return { actors: found, troubles, next: after, examined };
}

/** Reads all actors that fit in pages, and keeps those whose last line is oldest, at most two pages in memory. */
async function findOldest(store: PagedStore, query: ActorQuery): Promise<Fitting> {
  let kept: { readonly actor: StoredActor; readonly at: Millis | null; readonly trouble?: StoredEffect }[] =
    [];
  let after: string | undefined;
  let sorted = 0;
  for (let pages = 0; pages < MAX_PAGES && sorted < MAX_SORTED; pages += 1) {
    const page = await findFitting(store, { ...query, after, limit: READ_AT_ONCE });
    const dated = await Promise.all(
      page.actors.map(async (actor) => {
        const trouble = page.troubles?.get(actor.address.id);
        return { actor, at: await lastLineAt(store, actor), ...(trouble && { trouble }) };
      }),
    );
    sorted += dated.length;
    kept = [...kept, ...dated]
      .sort((one, other) => (one.at ?? Infinity) - (other.at ?? Infinity))
      .slice(0, query.limit);
    after = page.next;
    if (after === undefined) break;
    // Reads of a store on disk do not wait; other work of the thread comes in between.
    await nextTurn();
  }
  return {
    actors: kept.map(({ actor }) => actor),
    troubles: new Map(kept.flatMap(({ actor, trouble }) => (trouble ? [[actor.address.id, trouble]] : []))),
    since: new Map(kept.map(({ actor, at }) => [actor, at])),
    next: undefined,
    complete: after === undefined,
    examined: sorted,
  };
}

/** Null for an actor without a history. */
async function lastLineAt(
  store: PagedStore,
  { address, journalLength }: StoredActor,
): Promise<Millis | null> {
  if (journalLength === 0) return null;
  const [line] = await store.journal(address, { after: journalLength - 1, limit: 1 });
  return line?.at ?? null;
}

async function findFitting(store: PagedStore, query: ActorQuery): Promise<Fitting> {
  const { state, stopped, idPrefix = '', text } = query;
  const wanted = text?.toLowerCase();
  const after = readCursor(query.after) ?? startOf(idPrefix);
  const { actors, troubles, last } = await find(store, query, after);
  const fitting = actors
    .filter((actor) => actor !== undefined)
    .filter((actor) => (state === undefined || actor.state === state) && (!stopped || actor.stopped))
    .filter(({ address }) => address.id.startsWith(idPrefix))
    .filter((actor) => wanted === undefined || hasText(actor, wanted));
  return {
    actors: fitting,
    examined: actors.length,
    ...(troubles !== undefined && { troubles }),
    // Ids are in ascending order: after the first one beyond the prefix, none fits.
    next:
      last !== undefined && (last < idPrefix || last.startsWith(idPrefix)) ? writeCursor(last) : undefined,
  };
}

/** @param wanted in lower case */
function hasText({ address, context }: StoredActor, wanted: string): boolean {
  const names = typeof context === 'object' && context !== null && !Array.isArray(context) ? context : {};
  return [address.id, ...NAMING_MEMBERS.map((member) => (names as { [member: string]: Json })[member])].some(
    (value) => typeof value === 'string' && value.toLowerCase().includes(wanted),
  );
}

/** The greatest id below all ids with this prefix, as far as ids exist; undefined for an empty prefix. */
function startOf(prefix: string): string | undefined {
  const last = prefix.codePointAt(prefix.length - 1);
  if (last === undefined || last <= 0x20) return undefined;
  return `${prefix.slice(0, -1)}${String.fromCodePoint(last - 1)}~`;
}

function find(store: PagedStore, query: ActorQuery, after: string | undefined): Promise<Found> {
  const { kind, state, stuck, stopped, limit } = query;
  if (stopped) return listed(store, kind, { view: STOPPED_VIEW, prefix: [kind], after, limit });
  if (stuck) return stoppedActors(store, kind, after, limit);
  if (state !== undefined)
    return listed(store, kind, { view: STATE_INDEX_VIEW, prefix: [kind, state], after, limit });
  return all(store, kind, after, limit);
}

async function all(
  store: PagedStore,
  kind: string,
  after: string | undefined,
  limit: number,
): Promise<Found> {
  const actors = await store.actors({ kind, ...(after !== undefined && { after }), limit: limit + 1 });
  const page = actors.slice(0, limit);
  return { actors: page, last: actors.length > limit ? page.at(-1)?.address.id : undefined };
}

/** Reads ids from a view whose keys are `prefix` and the id. */
async function listed(
  store: PagedStore,
  kind: string,
  {
    view,
    prefix,
    after,
    limit,
  }: {
    readonly view: string;
    readonly prefix: readonly string[];
    readonly after: string | undefined;
    readonly limit: number;
  },
): Promise<Found> {
  if (!isKey(prefix)) return { actors: [], last: undefined };
  const rows = await store.rows({
    view,
    prefix,
    limit: limit + 1,
    ...(after !== undefined && { after: [...prefix, after] }),
  });
  const ids = rows.slice(0, limit).map(({ key }) => String(key.at(-1)));
  const actors = await Promise.all(ids.map((id) => store.load({ kind, id })));
  return { actors, last: rows.length > limit ? ids.at(-1) : undefined };
}

/** Returns each actor with the first of its failed effects; the next page starts after all of its effects. */
async function stoppedActors(
  store: PagedStore,
  kind: string,
  after: string | undefined,
  limit: number,
): Promise<Found> {
  const begin: EffectKey = after === undefined ? `${kind}//0/0` : `${kind}/${after}/${LAST}/${LAST}`;
  if (!isEffectKey(begin)) return { actors: [], last: undefined };
  const effects = await store.failedEffects({ after: begin, limit: limit + 1 });
  const troubles = new Map<string, StoredEffect>();
  for (const effect of effects.slice(0, limit)) {
    const { actor } = effect;
    if (actor.kind === kind && !troubles.has(actor.id)) troubles.set(actor.id, effect);
  }
  const ids = [...troubles.keys()];
  const actors = await Promise.all(ids.map((id) => store.load({ kind, id })));
  const goesOn = effects.length > limit && effects.at(limit)?.actor.kind === kind;
  return { actors, troubles, last: goesOn ? ids.at(-1) : undefined };
}

const NO_DEPTHS: ReadonlyMap<string, number> = new Map();

/** Messages in progress or waiting, by kind and id. */
export function mailboxDepths(reports: readonly HostReport[]): ReadonlyMap<string, number> {
  return new Map(reports.flatMap(({ mailboxes }) => mailboxes));
}

export function summaryOf(actor: StoredActor, depths: ReadonlyMap<string, number>): ActorSummary {
  const { address, state, revision, stopped } = actor;
  const { kind, id } = address;
  return {
    kind,
    id,
    state,
    revision,
    mailbox: depths.get(`${kind}/${id}`) ?? 0,
    stopped: stopped && { ...stopped, error: redactedText(stopped.error) },
    trouble: null,
  };
}

export function effectReport({ key, effect, dueAt, failures, lastError }: StoredEffect): EffectReport {
  return { key, do: effect.do, dueAt, failures, lastError: lastError && redactedText(lastError) };
}

function writeCursor(id: string): string {
  return Buffer.from(JSON.stringify([id])).toString('base64url');
}

/** Returns the id after which the page starts; undefined for no cursor and for an invalid one. */
function readCursor(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    const key: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (!Array.isArray(key) || !isKey(key)) return undefined;
    const [id] = key;
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

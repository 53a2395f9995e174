/**
 * Pages of the actors of one kind, each a range of an index. All are in the order of ids, so that an actor that moves on
 * while somebody turns the pages is on one of them at most, whatever becomes of it meanwhile.
 */
import { CENSUS_VIEW, STOPPED_VIEW } from './census.ts';
import type { HostReport } from './host.ts';
import type { ActorStore, EffectKey, Millis, StoredActor, StoredEffect } from './ports.ts';
import { redactedText } from './redact.ts';
import { isEffectKey, isKey } from './store/keys.ts';

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
  /** Messages in work or waiting. */
  readonly mailbox: number;
  readonly stopped: StoredActor['stopped'];
  /** For actors found as stuck: the effect that failed. */
  readonly trouble: EffectReport | null;
}

export interface ActorQuery {
  readonly kind: string;
  readonly state?: string | undefined;
  /** Only those with an effect that failed and is tried again. */
  readonly stuck?: boolean | undefined;
  /** Only those supervision has given up. */
  readonly stopped?: boolean | undefined;
  /** As the page before gave it. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface ActorPage {
  /** May be fewer than asked for, or none, where more follow: those that fit no further filter are left out. */
  readonly items: readonly ActorSummary[];
  /** Where the next page begins; undefined at the end. */
  readonly next: string | undefined;
}

type PagedStore = Pick<ActorStore, 'load' | 'actors' | 'rows' | 'troubledEffects'>;

/** What a range of an index names, in the order of ids. */
interface Found {
  readonly actors: readonly (StoredActor | undefined)[];
  /** By id, for those found as stuck. */
  readonly troubles?: ReadonlyMap<string, StoredEffect>;
  /** The last id of the range; undefined when nothing lies behind it. */
  readonly last: string | undefined;
}

/** The newest revision there may be: behind all effects of an actor. */
const LAST = Number.MAX_SAFE_INTEGER;

/** @param query its kind is known */
export async function actorPage(
  store: PagedStore,
  reports: () => Promise<readonly HostReport[]>,
  query: ActorQuery,
): Promise<ActorPage> {
  const after = readCursor(query.after);
  const { actors, troubles, last } = await find(store, query, after);
  const { state, stopped } = query;
  const fitting = actors
    .filter((actor) => actor !== undefined)
    .filter((actor) => (state === undefined || actor.state === state) && (!stopped || actor.stopped));
  const depths = fitting.length === 0 ? NO_DEPTHS : mailboxDepths(await reports());
  return {
    items: fitting.map((actor) => {
      const trouble = troubles?.get(actor.address.id);
      return { ...summaryOf(actor, depths), trouble: trouble ? effectReport(trouble) : null };
    }),
    next: last && writeCursor(last),
  };
}

function find(store: PagedStore, query: ActorQuery, after: string | undefined): Promise<Found> {
  const { kind, state, stuck, stopped, limit } = query;
  if (stopped) return listed(store, kind, STOPPED_VIEW, [kind], after, limit);
  if (stuck) return troubled(store, kind, after, limit);
  if (state !== undefined) return listed(store, kind, CENSUS_VIEW, [kind, state], after, limit);
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

/** From a view whose keys are `prefix` and the id. */
async function listed(
  store: PagedStore,
  kind: string,
  view: string,
  prefix: readonly string[],
  after: string | undefined,
  limit: number,
): Promise<Found> {
  if (!isKey(prefix)) return { actors: [], last: undefined };
  const rows = await store.rows({
    ...{ view, prefix, limit: limit + 1 },
    ...(after !== undefined && { after: [...prefix, after] }),
  });
  const ids = rows.slice(0, limit).map(({ key }) => String(key.at(-1)));
  const actors = await Promise.all(ids.map((id) => store.load({ kind, id })));
  return { actors, last: rows.length > limit ? ids.at(-1) : undefined };
}

/** An actor comes with the first of its effects that failed; the next page begins behind all that it has. */
async function troubled(
  store: PagedStore,
  kind: string,
  after: string | undefined,
  limit: number,
): Promise<Found> {
  const begin: EffectKey = after === undefined ? `${kind}//0/0` : `${kind}/${after}/${LAST}/${LAST}`;
  if (!isEffectKey(begin)) return { actors: [], last: undefined };
  const effects = await store.troubledEffects({ after: begin, limit: limit + 1 });
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

/** Messages in work or waiting, by kind and id. */
export function mailboxDepths(reports: readonly HostReport[]): ReadonlyMap<string, number> {
  return new Map(reports.flatMap(({ mailboxes }) => mailboxes));
}

export function summaryOf(actor: StoredActor, depths: ReadonlyMap<string, number>): ActorSummary {
  const { address, state, revision, stopped } = actor;
  const { kind, id } = address;
  return {
    ...{ kind, id, state, revision },
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

/** The id behind which the page begins; undefined for no cursor and for text that is none. */
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

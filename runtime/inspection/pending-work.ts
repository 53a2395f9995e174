/** Lists deadlines and pending effects of all actors, and on all nodes, in pages of bounded work. */
import { SET_ASIDE } from '../model/backoff.ts';
import type { ActorDefinition } from '../model/definition.ts';
import { Fatal } from '../model/failures.ts';
import { isEffectKey, isKey } from '../model/keys.ts';
import type { ActorAddress, ActorStore, Json, ListedEffect, Millis } from '../model/ports.ts';
import { inputOf } from '../model/tracing.ts';
import { type EffectReport, effectReport } from './actor-pages.ts';
import { redacted } from './redact.ts';

/** Entries that one page reads at most, also where few of them are wanted. */
const MAX_READ = 1000;

/** One page of a list. It may be shorter than asked for, or empty, while others follow. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** `after` of the next page; absent on the last one. */
  readonly next?: string;
}

export interface PageQuery {
  /** `next` of the page before. @default from the first */
  readonly after?: string;
  /** From 1 to 1000. @default 100 */
  readonly limit?: number;
}

export interface TimerQuery extends PageQuery {
  /** Only deadlines of actors of this kind. */
  readonly kind?: string;
  /** Only deadlines that are due by this time. */
  readonly before?: Millis;
}

/** A deadline that an actor waits for. */
export interface PendingTimer {
  readonly actor: ActorAddress;
  readonly name: string;
  readonly due: Millis;
}

/**
 * State of an effect: `running` on a node, `waiting` for its first attempt, `failed` and waiting for the next one, or
 * `set-aside` until it is asked for (`Runtime.retry`).
 */
export type EffectState = 'waiting' | 'running' | 'failed' | 'set-aside';

export interface EffectQuery extends PageQuery {
  /** Only effects of actors of this kind. */
  readonly kind?: string;
  /** Only effects of this name. */
  readonly do?: string;
  readonly state?: EffectState;
}

/** An effect that has not ended. */
export interface PendingEffect extends EffectReport {
  readonly actor: ActorAddress;
  readonly state: EffectState;
  /** `do` and the input, without secrets. */
  readonly effect: Json;
}

/** Throws `runtime.options`. */
export async function timersPage(
  store: Pick<ActorStore, 'timers'>,
  { kind, before = Number.POSITIVE_INFINITY, ...query }: TimerQuery,
): Promise<Page<PendingTimer>> {
  const limit = checkedLimit(query);
  const after = query.after === undefined ? undefined : readPosition(query.after);
  const most = kind === undefined ? limit : MAX_READ;
  const read = await store.timers({ ...(after && { after }), limit: most });
  const inTime = read.filter(({ due }) => due <= before);
  const wanted = inTime.filter(({ actor }) => kind === undefined || actor.kind === kind);
  const items = wanted.slice(0, limit).map(({ actor, name, due }) => ({ actor, name, due }));
  // The last one of a full page, or else the last one that was read: those between them are not wanted.
  const last = wanted.length > limit ? items.at(-1) : read.at(-1);
  const isLast = wanted.length <= limit && (inTime.length < read.length || read.length < most);
  return isLast || last === undefined ? { items } : { items, next: writePosition(last) };
}

/** Throws `runtime.options`. */
export async function effectsPage(
  store: Pick<ActorStore, 'effects'>,
  definitions: ReadonlyMap<string, ActorDefinition>,
  { kind, do: name, state, ...query }: EffectQuery,
): Promise<Page<PendingEffect>> {
  const limit = checkedLimit(query);
  const { after } = query;
  if (after !== undefined && !isEffectKey(after)) throw malformedCursor(after);
  if (kind !== undefined && !isKey([kind])) return { items: [] };
  const isFiltered = state !== undefined || name !== undefined;
  const most = isFiltered ? MAX_READ : limit;
  const read = await store.effects({
    ...(kind !== undefined && { kind }),
    ...(after !== undefined && { after }),
    limit: most,
  });
  const wanted = read.filter(
    (effect) =>
      (name === undefined || effect.effect.do === name) && (state === undefined || stateOf(effect) === state),
  );
  const found = wanted.slice(0, limit);
  const items = found.map((effect) => ({
    ...effectReport(effect),
    actor: effect.actor,
    state: stateOf(effect),
    effect: redacted(
      { do: effect.effect.do, ...inputOf(effect.effect) },
      definitions.get(effect.actor.kind)?.secrets,
    ),
  }));
  const last = wanted.length > limit ? found.at(-1) : read.at(-1);
  const isLast = wanted.length <= limit && read.length < most;
  return isLast || last === undefined ? { items } : { items, next: last.key };
}

function stateOf({ failures, lastError, isLeased }: ListedEffect): EffectState {
  if (lastError?.startsWith(SET_ASIDE)) return 'set-aside';
  if (isLeased) return 'running';
  return failures > 0 ? 'failed' : 'waiting';
}

/** Throws `runtime.options`. */
export function checkedLimit({ limit = 100 }: PageQuery): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_READ) return limit;
  throw new Fatal('runtime.options', `\`limit\` is ${limit}, not a whole number from 1 to ${MAX_READ}.`);
}

function malformedCursor(after: string): Fatal {
  return new Fatal('runtime.options', `\`after\` is "${after}", not the \`next\` of a page of this list.`);
}

function writePosition({ due, actor, name }: PendingTimer): string {
  return JSON.stringify([due, actor.kind, actor.id, name]);
}

function readPosition(text: string): PendingTimer {
  try {
    const [due, kind, id, name] = JSON.parse(text) as readonly [unknown, unknown, unknown, unknown];
    if (
      typeof due === 'number' &&
      typeof kind === 'string' &&
      typeof id === 'string' &&
      typeof name === 'string'
    )
      return { due, actor: { kind, id }, name };
  } catch {
    // Refused below.
  }
  throw malformedCursor(text);
}

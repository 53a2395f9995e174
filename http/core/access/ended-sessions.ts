/**
 * Revocation list of sessions that ended by logout. Their tokens would otherwise stay valid wherever a copy exists.
 *
 * Source: docs/batch-values.md §10: everything else about a session is in its token.
 */

import type { Clock, Log } from '@sealwright/runtime';
import { z } from 'zod';
import type { SessionKeyStore } from './session-keys.ts';

export interface EndedSessions {
  has(id: string): boolean;
  /**
   * Durable when it returns; throws when it cannot be. @param until milliseconds since the epoch, the expiry of its
   * tokens
   */
  add(id: string, until: number): void;
  /** As `add`, for the sessions of a person that began up to `at`, milliseconds since the epoch. */
  addPerson(key: string, at: number, until: number): void;
  /** Latest `at` of a person, or of a provider's session; minus infinity = none. */
  endOf(key: string): number;
}

/**
 * Maximum number of entries; beyond it, those that expire first are dropped. Only holders of the API key can create
 * sessions.
 */
const MAX_KEPT = 10_000;

const listShape = z.strictObject({
  version: z.literal(1),
  sessions: z.array(z.strictObject({ id: z.string().max(64), until: z.iso.datetime() })).max(MAX_KEPT),
});

/** An entry about a person: its key and the time, in the form of an id, which earlier releases read too. */
const PERSON = /^p\.([\w-]{1,40})\.([0-9a-z]{1,12})$/;

function personEnds(ended: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const id of ended.keys()) {
    const [, key = '', at = ''] = PERSON.exec(id) ?? [];
    if (key !== '') ends.set(key, Math.max(ends.get(key) ?? 0, Number.parseInt(at, 36)));
  }
  return ends;
}

/** Reads the stored list; an unreadable list is ignored with a warning. */
export function openEndedSessions(
  store: SessionKeyStore,
  { clock, log }: { readonly clock: Pick<Clock, 'now'>; readonly log: Log },
): EndedSessions {
  let text = store.load();
  let ended: ReadonlyMap<string, number> = readList(text, log);
  let people = personEnds(ended);
  const bounded = (entries: readonly (readonly [string, number])[]): ReadonlyMap<string, number> =>
    new Map(
      entries
        .filter(([, end]) => end > clock.now())
        .sort(([, left], [, right]) => left - right)
        .slice(-MAX_KEPT),
    );
  const save = (next: ReadonlyMap<string, number>) => {
    const changed = listText(next);
    store.save(changed);
    text = changed;
    ended = next;
    people = personEnds(next);
  };
  /** Other nodes end sessions too. Of two nodes that save at once, the one that was overwritten adds its own again. */
  const refresh = () => {
    const stored = store.isShared ? store.load() : text;
    if (stored === text) return;
    text = stored;
    const others = readList(text, log);
    ended = bounded([...new Map([...ended, ...others])]);
    people = personEnds(ended);
    if ([...ended.keys()].every((id) => others.has(id))) return;
    try {
      save(ended);
    } catch (error) {
      log.warn('Ended sessions could not be saved; only this node knows them.', { Error: String(error) });
    }
  };
  const add = (id: string, until: number) => {
    refresh();
    save(bounded([...ended, [id, until]]));
  };
  return {
    has(id) {
      refresh();
      return ended.has(id);
    },
    add,
    addPerson(key, at, until) {
      add(`p.${key}.${at.toString(36)}`, until);
    },
    endOf(key) {
      refresh();
      return people.get(key) ?? Number.NEGATIVE_INFINITY;
    },
  };
}

function readList(text: string | undefined, log: Log): Map<string, number> {
  if (text === undefined) return new Map();
  try {
    const { sessions } = listShape.parse(JSON.parse(text));
    return new Map(sessions.map(({ id, until }) => [id, Date.parse(until)]));
  } catch {
    log.warn('The list of ended sessions could not be read; sessions that were logged out last their time.');
    return new Map();
  }
}

function listText(sessions: ReadonlyMap<string, number>): string {
  return JSON.stringify({
    version: 1,
    sessions: [...sessions].map(([id, until]) => ({ id, until: new Date(until).toISOString() })),
  });
}

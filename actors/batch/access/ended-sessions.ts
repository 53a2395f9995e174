/**
 * Sessions of operators that have ended on any node before their tokens expire: actors, and a copy in memory, as with
 * `AccessKeys`. Their tokens would otherwise stay valid wherever a copy exists.
 *
 * Source: docs/decisions/0009-sessions-and-callers.md.
 */
import { contextOf, defineActor, type Step } from '@sealwright/runtime';
import { endedSessionMachine, SESSION_EXPIRED } from '../../../machines/batch/ended-session.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { allActors } from './all-actors.ts';

/** Actors that end by themselves when they expire. */
export const expiring = {
  machine: endedSessionMachine,
  version: 1,
  ends: ({ state }: { readonly state: string }) => state === SESSION_EXPIRED,
};

export const ENDED_SESSION = defineActor('ended-session', expiring);

/** Kept in memory; beyond it, the first to have ended are forgotten. Only who may log in can end sessions. */
const MAX_SESSIONS = 100_000;

/** An entry about a person: its key and the time, in the form of an id of a session. */
const PERSON = /^p\.([\w-]{1,40})\.([0-9a-z]{1,12})$/;

export class EndedSessions {
  readonly #ended = new Set<string>();
  /** Latest end of all sessions, by the key of the person. */
  readonly #people = new Map<string, Millis>();

  constructor(private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock'>) {}

  /** @param fromFile those of `keys/ended-sessions.json` of an earlier version */
  async open(fromFile: readonly { readonly id: string; readonly until: Millis }[]): Promise<void> {
    for await (const { address } of allActors(this.runtime.store, ENDED_SESSION.kind)) this.#keep(address.id);
    const now = this.runtime.clock.now();
    await Promise.all(fromFile.map(({ id, until }) => (until > now ? this.add(id, now, until) : undefined)));
  }

  /** Sees each committed step of all nodes. */
  observe({ actor, ends }: Step): void {
    if (contextOf(ENDED_SESSION, actor) === undefined) return;
    if (ends) this.#forget(actor.address.id);
    else this.#keep(actor.address.id);
  }

  has(id: string): boolean {
    return this.#ended.has(id);
  }

  /** Durable when it resolves. @param until expiry of its tokens */
  async add(id: string, endedAt: Millis, until: Millis): Promise<void> {
    await this.runtime.actors.create(ENDED_SESSION, id, { endedAt, until });
  }

  /** As `add`, for the sessions of a person that began up to `endedAt`. */
  addPerson(key: string, endedAt: Millis, until: Millis): Promise<void> {
    return this.add(`p.${key}.${endedAt.toString(36)}`, endedAt, until);
  }

  /** Time up to which the sessions of a person, or of a provider's session, have ended; minus infinity = none. */
  endOf(key: string): Millis {
    return this.#people.get(key) ?? Number.NEGATIVE_INFINITY;
  }

  #keep(id: string): void {
    this.#ended.add(id);
    const person = PERSON.exec(id);
    if (person !== null) {
      const [, key = '', at = ''] = person;
      this.#people.set(key, Math.max(this.endOf(key), Number.parseInt(at, 36)));
    }
    const [oldest] = this.#ended;
    if (this.#ended.size > MAX_SESSIONS && oldest !== undefined) this.#forget(oldest);
  }

  #forget(id: string): void {
    this.#ended.delete(id);
    const [, key = '', at = ''] = PERSON.exec(id) ?? [];
    if (key !== '' && this.endOf(key) === Number.parseInt(at, 36)) this.#people.delete(key);
  }
}

/**
 * The named API keys of all nodes: actors, and a copy in memory that each committed step updates. A request is checked
 * after the steps of other nodes are read, so what one node revokes is refused by all at the next request.
 *
 * Source: docs/decisions/0277-scopes-and-roles-of-operators.md.
 */
import { accepted, contextOf, defineActor, type Step } from '@sealwright/runtime';
import { KEY_BOUNDS } from '../../../contracts/batch/keys.ts';
import {
  type AccessKeyContext,
  type AccessSecret,
  accessKeyMachine,
  type NewAccessKeyRecord,
} from '../../../machines/batch/access-key.ts';
import type { Millis } from '../../../machines/ids.ts';
import { Refusal } from '../../../machines/refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { allActors } from './all-actors.ts';

const isOver = ({ isTakenOver, revokedAt }: AccessKeyContext) => revokedAt !== null && !isTakenOver;

export const ACCESS_KEY = defineActor('access-key', {
  machine: accessKeyMachine,
  version: 1,
  names: ({ context: { name, revokedAt } }) => (revokedAt === null ? [`access-key:${name}`] : []),
  ends: ({ context }) => isOver(context),
});

/** Steps between two notes of the last use of a key, milliseconds: saves a step per request. */
const USE_RECORDING_MS = 600_000;

export type StoredAccessKey = Omit<NewAccessKeyRecord, 'isTakenOver'> & { readonly id: string };

/** A key as `keys/named-keys.json` had it. */
export type FileAccessKey = Omit<StoredAccessKey, 'lastUsedAt'>;

export class AccessKeys {
  /** Those that are not revoked. */
  readonly #byId = new Map<string, StoredAccessKey>();
  /** Seen since the start; what is read from the store later is older. */
  readonly #seen = new Set<string>();
  readonly #usedAt = new Map<string, Millis>();

  constructor(private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'log'>) {}

  /**
   * Reads the keys, then stores those of a file of an earlier version that no node has stored yet.
   * @param fromFile of `keys/named-keys.json` of this node
   */
  async open(fromFile: readonly FileAccessKey[]): Promise<void> {
    for await (const actor of allActors(this.runtime.store, ACCESS_KEY.kind)) {
      const context = contextOf(ACCESS_KEY, actor);
      const { id } = actor.address;
      if (context !== undefined && !this.#seen.has(id)) this.#keep(id, context);
    }
    for (const { id, ...key } of fromFile) {
      const made = await this.runtime.actors.create(ACCESS_KEY, id, {
        ...key,
        lastUsedAt: null,
        isTakenOver: true,
      });
      if (!made.accepted && made.reason === 'taken')
        this.runtime.log.warn('A named API key of a file is not taken over: another key has its name.', {
          Name: key.name,
        });
    }
  }

  /** Sees each committed step of all nodes. */
  observe({ actor }: Step): void {
    const context = contextOf(ACCESS_KEY, actor);
    if (context === undefined) return;
    this.#seen.add(actor.address.id);
    this.#keep(actor.address.id, context);
  }

  get(id: string): StoredAccessKey | undefined {
    return this.#byId.get(id);
  }

  all(): readonly StoredAccessKey[] {
    return [...this.#byId.values()];
  }

  /** Durable when it resolves. Refusals: `key.exists`, `key.limit-reached`. */
  async create({ id, ...key }: FileAccessKey): Promise<StoredAccessKey> {
    if (this.#byId.size >= KEY_BOUNDS.keys)
      throw new Refusal('key.limit-reached', `There are ${KEY_BOUNDS.keys} keys.`);
    const { context } = await accepted(
      this.runtime.actors.create(ACCESS_KEY, id, { ...key, lastUsedAt: null, isTakenOver: false }),
      () => new Refusal('key.exists', `A key is called ${key.name} already.`),
    );
    return { ...context, id };
  }

  /** Durable when it resolves. Refusals: `key.not-found`. */
  async rotate(
    { id, name }: StoredAccessKey,
    secret: AccessSecret,
    earlierUntil: Millis,
  ): Promise<StoredAccessKey> {
    const sent = this.runtime.actors.send(ACCESS_KEY, id, { type: 'ROTATE', secret, earlierUntil });
    const { context } = await accepted(sent, () => noSuchKey(name));
    return { ...context, id };
  }

  /** Durable when it resolves. Refusals: `key.not-found`. */
  async revoke({ id, name }: StoredAccessKey): Promise<void> {
    const sent = this.runtime.actors.send(ACCESS_KEY, id, { type: 'REVOKE' });
    await accepted(sent, () => noSuchKey(name));
  }

  /** Runs in the background; a lost note is harmless. */
  noteUse({ id, lastUsedAt }: StoredAccessKey, at: Millis): void {
    const known = Math.max(
      lastUsedAt ?? Number.NEGATIVE_INFINITY,
      this.#usedAt.get(id) ?? Number.NEGATIVE_INFINITY,
    );
    if (at - known < USE_RECORDING_MS) return;
    this.#usedAt.set(id, at);
    this.runtime.actors.send(ACCESS_KEY, id, { type: 'USED', usedAt: at }).catch(() => {});
  }

  #keep(id: string, context: AccessKeyContext): void {
    if (context.revokedAt === null) {
      this.#byId.set(id, { ...context, id });
      return;
    }
    this.#byId.delete(id);
    this.#usedAt.delete(id);
  }
}

function noSuchKey(name: string): Refusal {
  return new Refusal('key.not-found', `No key is called ${JSON.stringify(name)}.`);
}

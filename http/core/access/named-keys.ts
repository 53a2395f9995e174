/**
 * Named API keys of the batch service, as requests use them.
 *
 * Source: docs/decisions/0277-scopes-and-roles-of-operators.md.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Clock, Ids } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import type { Batch, StoredAccessKey } from '../../../actors/index.ts';
import { type AccessKey, KEY_BOUNDS, type NewAccessKey } from '../../../contracts/batch/keys.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { createRateLimiter, type RateLimiter } from './rate-limit.ts';

/** A key whose secret a request has sent. */
export type UsedKey = Pick<
  StoredAccessKey,
  'id' | 'name' | 'scopes' | 'profiles' | 'folders' | 'expiresAt' | 'rateLimit'
>;

export interface NamedKeys {
  /** The key of a secret, and notes its use; undefined for an unknown, expired or revoked one. */
  use(secret: string): UsedKey | undefined;
  /** By name. */
  list(): readonly AccessKey[];
  /** Refusals: `key.exists`, `key.limit-reached`. @param given.expiresAt in the future */
  create(given: NewAccessKey, by: string): Promise<{ readonly key: AccessKey; readonly secret: string }>;
  /** Adds a secret; the earlier one ends at `earlierUntil`. Refusals: `key.not-found`. */
  rotate(name: string, earlierUntil: number): Promise<{ readonly key: AccessKey; readonly secret: string }>;
  /** Refusals: `key.not-found`. */
  revoke(name: string): Promise<void>;
  /** Refusals: `key.not-found`. */
  get(name: string): AccessKey;
}

const SECRET = /^swk_([0-9a-f]{16})_([\w-]{43})$/;

export function openNamedKeys(
  keys: Batch['access']['keys'],
  { clock, ids }: { clock: Pick<Clock, 'now'>; ids: Pick<Ids, 'bytes'> },
): NamedKeys {
  const newSecret = (id: string) => {
    const secret = `swk_${id}_${ids.bytes(32).toString('base64url')}`;
    return { secret, stored: { sha256: digest(secret), createdAt: clock.now(), expiresAt: null } };
  };
  const find = (name: string): StoredAccessKey => {
    const found = keys.all().find((key) => key.name === name);
    if (found === undefined) throw new Refusal('key.not-found', `No key is called ${JSON.stringify(name)}.`);
    return found;
  };
  const view = (key: StoredAccessKey): AccessKey => {
    const { name, scopes, profiles, folders, expiresAt, rateLimit, createdAt, createdBy, lastUsedAt } = key;
    return {
      name,
      expiresAt,
      rateLimit,
      createdAt,
      createdBy,
      lastUsedAt,
      scopes: [...scopes],
      profiles: profiles && [...profiles],
      folders: folders && [...folders],
      secrets: key.secrets
        .filter((secret) => isCurrent(secret, clock.now()))
        .map(({ createdAt, expiresAt }) => ({ createdAt, expiresAt })),
    };
  };
  return {
    use(secret) {
      const [, id = ''] = SECRET.exec(secret) ?? [];
      const key = keys.get(id);
      const now = clock.now();
      if (key === undefined || !matches(key, secret, now) || !isCurrent(key, now)) return undefined;
      keys.noteUse(key, now);
      return key;
    },
    list: () =>
      keys
        .all()
        .toSorted((left, right) => (left.name < right.name ? -1 : 1))
        .map(view),
    get: (name) => view(find(name)),
    async create({ name, scopes, profiles = null, folders = null, expiresAt = null, rateLimit = null }, by) {
      const id = ids.bytes(8).toString('hex');
      const { secret, stored } = newSecret(id);
      const key = await keys.create({
        id,
        name,
        scopes,
        profiles,
        folders,
        expiresAt,
        rateLimit,
        createdAt: clock.now(),
        createdBy: by,
        secrets: [stored],
      });
      return { key: view(key), secret };
    },
    async rotate(name, earlierUntil) {
      const key = find(name);
      const { secret, stored } = newSecret(key.id);
      return { key: view(await keys.rotate(key, stored, earlierUntil)), secret };
    },
    revoke: async (name) => keys.revoke(find(name)),
  };
}

/** Counts a request of a key against its own limit; false: the key has none. Refusals: `rate-limited`. */
export function createKeyLimits(clock: Pick<Clock, 'elapsed' | 'after'>): (key: UsedKey) => boolean {
  // Keys that share a limit share its limiter, which counts each by its id.
  const limiters = new LRUCache<string, RateLimiter>({ max: KEY_BOUNDS.keys });
  return ({ id, rateLimit }) => {
    if (rateLimit === null) return false;
    const name = `${rateLimit.permits}/${rateLimit.windowSeconds}`;
    const limiter = limiters.get(name) ?? createRateLimiter(rateLimit, clock);
    limiters.set(name, limiter);
    limiter.acquire(id);
    return true;
  };
}

function isCurrent({ expiresAt }: { expiresAt: number | null }, now: number): boolean {
  return expiresAt === null || now < expiresAt;
}

/** In constant time, always with each secret of the key. */
function matches({ secrets }: StoredAccessKey, secret: string, now: number): boolean {
  const given = hash('sha256', secret, 'buffer');
  let isEqual = false;
  for (const known of secrets)
    if (timingSafeEqual(given, Buffer.from(known.sha256, 'hex')) && isCurrent(known, now)) isEqual = true;
  return isEqual;
}

function digest(secret: string): string {
  return hash('sha256', secret);
}

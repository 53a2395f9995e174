/**
 * Named API keys of the batch service. Their file has the SHA-256 of each secret: secrets are 256 random bits, so that
 * no slow hash is needed.
 *
 * Source: docs/decisions/0277-scopes-and-roles-of-operators.md.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Clock, Ids, Log } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { ACCESS_SCOPES } from '../../../contracts/batch/access.ts';
import { type AccessKey, KEY_BOUNDS, type NewAccessKey } from '../../../contracts/batch/keys.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { createRateLimiter, type RateLimiter } from './rate-limit.ts';
import type { SessionKeyStore } from './session-keys.ts';

/** The program alone writes this, so that a text beyond these bounds is damaged. */
const keyShape = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{16}$/),
  name: z.string().max(KEY_BOUNDS.name),
  scopes: z.array(z.enum(ACCESS_SCOPES)).max(ACCESS_SCOPES.length),
  profiles: z.array(z.string()).max(KEY_BOUNDS.list).nullable(),
  folders: z.array(z.string()).max(KEY_BOUNDS.list).nullable(),
  expiresAt: z.int().nullable(),
  rateLimit: z.strictObject({ permits: z.int(), windowSeconds: z.int() }).nullable(),
  createdAt: z.int(),
  createdBy: z.string(),
  /** Newest first. */
  secrets: z
    .array(
      z.strictObject({ sha256: z.string().length(64), createdAt: z.int(), expiresAt: z.int().nullable() }),
    )
    .min(1)
    .max(2),
});
type StoredKey = z.infer<typeof keyShape>;
const fileShape = z.strictObject({ version: z.literal(1), keys: z.array(keyShape).max(KEY_BOUNDS.keys) });
const usesShape = z.strictObject({ version: z.literal(1), uses: z.record(z.string(), z.int()) });

/** A key whose secret a request has sent. */
export type UsedKey = Pick<
  StoredKey,
  'id' | 'name' | 'scopes' | 'profiles' | 'folders' | 'expiresAt' | 'rateLimit'
>;

export interface NamedKeys {
  /** The key of a secret, and notes its use; undefined for an unknown, expired or revoked one. */
  use(secret: string): UsedKey | undefined;
  /** By name. */
  list(): readonly AccessKey[];
  /** Refusals: `key.exists`, `key.limit-reached`. @param given.expiresAt in the future */
  create(given: NewAccessKey, by: string): { readonly key: AccessKey; readonly secret: string };
  /** Adds a secret; the earlier one ends at `earlierUntil`. Refusals: `key.not-found`. */
  rotate(name: string, earlierUntil: number): { readonly key: AccessKey; readonly secret: string };
  /** Refusals: `key.not-found`. */
  revoke(name: string): void;
  /** Refusals: `key.not-found`. */
  get(name: string): AccessKey;
  /** Stores the last uses. */
  close(): void;
}

export interface NamedKeyStores {
  readonly keys: SessionKeyStore;
  /** Apart from the keys, so that a lost update of two nodes brings no revoked key back. */
  readonly uses: SessionKeyStore;
}

/** Time between two saves of last uses, milliseconds. */
const SAVE_USES_MS = 60_000;
const SECRET = /^swk_([0-9a-f]{16})_([\w-]{43})$/;

export function openNamedKeys(
  { keys: keyStore, uses: useStore }: NamedKeyStores,
  {
    clock,
    ids,
    log,
  }: { readonly clock: Pick<Clock, 'now'>; readonly ids: Pick<Ids, 'bytes'>; readonly log: Log },
): NamedKeys {
  let text: string | undefined;
  let byId: ReadonlyMap<string, StoredKey> = new Map();
  let isReadable = true;
  const read = (): void => {
    isReadable = true;
    byId = new Map();
    if (text === undefined) return;
    try {
      const { keys } = fileShape.parse(JSON.parse(text));
      byId = new Map(keys.map((key) => [key.id, key]));
    } catch {
      isReadable = false;
      log.error('The file of named API keys cannot be read. None is accepted until it is restored.');
    }
  };
  text = keyStore.load();
  read();
  const refresh = (): void => {
    const stored = keyStore.isShared ? keyStore.load() : text;
    if (stored === text) return;
    text = stored;
    read();
  };
  const save = (keys: readonly StoredKey[]): void => {
    if (!isReadable) throw new Error('The file of named API keys cannot be read, so it is not replaced.');
    const changed = JSON.stringify({ version: 1, keys });
    keyStore.save(changed);
    text = changed;
    byId = new Map(keys.map((key) => [key.id, key]));
  };

  let uses = readUses(useStore.load());
  let isUseUnsaved = false;
  let usesSavedAt = Number.NEGATIVE_INFINITY;
  const saveUses = (): void => {
    usesSavedAt = clock.now();
    isUseUnsaved = false;
    const stored = useStore.isShared ? readUses(useStore.load()) : new Map<string, number>();
    for (const [id, at] of stored) uses.set(id, Math.max(at, uses.get(id) ?? at));
    uses = new Map([...uses].filter(([id]) => byId.has(id)));
    try {
      useStore.save(JSON.stringify({ version: 1, uses: Object.fromEntries(uses) }));
    } catch (error) {
      log.warn('The last uses of API keys could not be saved.', { Error: String(error) });
    }
  };

  const newSecret = (id: string) => {
    const secret = `swk_${id}_${ids.bytes(32).toString('base64url')}`;
    return { secret, stored: { sha256: digest(secret), createdAt: clock.now(), expiresAt: null } };
  };
  const find = (name: string): StoredKey => {
    refresh();
    const found = [...byId.values()].find((key) => key.name === name);
    if (found === undefined) throw new Refusal('key.not-found', `No key is called ${JSON.stringify(name)}.`);
    return found;
  };
  const view = (key: StoredKey): AccessKey => {
    const { id, name, scopes, profiles, folders, expiresAt, rateLimit, createdAt, createdBy, secrets } = key;
    return {
      ...{ name, scopes, profiles, folders, expiresAt, rateLimit, createdAt, createdBy },
      lastUsedAt: uses.get(id) ?? null,
      secrets: secrets
        .filter((secret) => isCurrent(secret, clock.now()))
        .map(({ createdAt, expiresAt }) => ({ createdAt, expiresAt })),
    };
  };

  return {
    use(secret) {
      const [, id = ''] = SECRET.exec(secret) ?? [];
      refresh();
      const key = byId.get(id);
      const now = clock.now();
      if (key === undefined || !matches(key, secret, now) || !isCurrent(key, now)) return undefined;
      uses.set(id, now);
      isUseUnsaved = true;
      if (now - usesSavedAt >= SAVE_USES_MS) saveUses();
      return key;
    },
    list() {
      refresh();
      return [...byId.values()].sort((left, right) => (left.name < right.name ? -1 : 1)).map(view);
    },
    get: (name) => view(find(name)),
    create({ name, scopes, profiles, folders, expiresAt, rateLimit }, by) {
      refresh();
      const all = [...byId.values()];
      if (all.some((key) => key.name === name))
        throw new Refusal('key.exists', `A key is called ${name} already.`);
      if (all.length >= KEY_BOUNDS.keys)
        throw new Refusal('key.limit-reached', `There are ${KEY_BOUNDS.keys} keys.`);
      const id = ids.bytes(8).toString('hex');
      const { secret, stored } = newSecret(id);
      const key: StoredKey = {
        ...{ id, name, scopes: [...scopes], expiresAt: expiresAt ?? null, rateLimit: rateLimit ?? null },
        profiles: profiles ? [...profiles] : null,
        folders: folders ? [...folders] : null,
        ...{ createdAt: clock.now(), createdBy: by, secrets: [stored] },
      };
      save([...all, key]);
      return { key: view(key), secret };
    },
    rotate(name, earlierUntil) {
      const key = find(name);
      const { secret, stored } = newSecret(key.id);
      const [earlier] = key.secrets;
      const kept = earlier && earlierUntil > clock.now() ? [{ ...earlier, expiresAt: earlierUntil }] : [];
      const changed = { ...key, secrets: [stored, ...kept] };
      save([...byId.values()].map((one) => (one.id === key.id ? changed : one)));
      return { key: view(changed), secret };
    },
    revoke(name) {
      const { id } = find(name);
      save([...byId.values()].filter((key) => key.id !== id));
    },
    close() {
      if (isUseUnsaved) saveUses();
    },
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

function isCurrent({ expiresAt }: { readonly expiresAt: number | null }, now: number): boolean {
  return expiresAt === null || now < expiresAt;
}

/** In constant time, always with each secret of the key. */
function matches({ secrets }: StoredKey, secret: string, now: number): boolean {
  const given = hash('sha256', secret, 'buffer');
  let isEqual = false;
  for (const known of secrets)
    if (timingSafeEqual(given, Buffer.from(known.sha256, 'hex')) && isCurrent(known, now)) isEqual = true;
  return isEqual;
}

function digest(secret: string): string {
  return hash('sha256', secret);
}

function readUses(text: string | undefined): Map<string, number> {
  if (text === undefined) return new Map();
  try {
    return new Map(Object.entries(usesShape.parse(JSON.parse(text)).uses));
  } catch {
    // They are for people; the next save replaces them.
    return new Map();
  }
}

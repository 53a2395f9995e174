/**
 * The keys that seal sessions: one in use, and older ones until the last cookie they sealed has expired.
 *
 * Source: batch-gaps §10, "Key ring".
 */
import { z } from 'zod';
import type { Clock, Ids, Log } from '../runtime/index.ts';

/** Where the ring is kept. */
export interface SessionKeyStore {
  /** What was saved last; undefined when nothing was. */
  load(): string | undefined;
  /** Durable when it returns; throws when it cannot be. */
  save(text: string): void;
}

export interface SessionKey {
  /** Eight hexadecimal digits; stands in every token. */
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Buffer;
}

export interface SessionKeyRing {
  /** The key for new tokens; a new one every 90 days. */
  current(): SessionKey;
  /** The key of an old token; undefined once it is forgotten. */
  find(id: string): SessionKey | undefined;
}

const DAY = 86_400_000;
const ROTATE_EVERY = 90 * DAY;
/** The longest session that can be configured; a key that has a successor is forgotten after as long. */
const LONGEST_SESSION = DAY;
/** Pause before a rotation that could not be saved is tried again. */
const TRY_AGAIN_AFTER = 3_600_000;

const ringShape = z.strictObject({
  version: z.literal(1),
  keys: z
    .array(
      z.strictObject({
        id: z.string().regex(/^[0-9a-f]{8}$/),
        key: z.string().regex(/^[\w-]{43}$/),
        createdAt: z.iso.datetime(),
      }),
    )
    .min(1),
});

interface RingKey extends SessionKey {
  readonly createdAt: number;
}

/**
 * Reads the ring, and makes and saves one when there is none. A ring that cannot be read is replaced with a
 * warning: nothing is lost but the sessions.
 */
export function openSessionKeyRing(
  store: SessionKeyStore,
  parts: { readonly clock: Pick<Clock, 'now'>; readonly ids: Pick<Ids, 'bytes'>; readonly log: Log },
): SessionKeyRing {
  const { clock, ids, log } = parts;
  let tryAgainAt = Number.NEGATIVE_INFINITY;
  const fresh = (): RingKey => ({
    id: ids.bytes(4).toString('hex'),
    secret: ids.bytes(32),
    createdAt: clock.now(),
  });
  // Newest first.
  let keys = parseRing(store.load(), log);
  if (keys.length === 0) {
    keys = [fresh()];
    store.save(ringText(keys));
  }

  const rotate = (now: number): void => {
    const next = [fresh(), ...keys].filter((_, index, all) => {
      const successor = all[index - 1];
      return successor === undefined || now - successor.createdAt < LONGEST_SESSION;
    });
    try {
      store.save(ringText(next));
      keys = next;
      log.info('Sessions are sealed with a new key from now on.');
    } catch (error) {
      // The old key is as good as it was; not being able to write is told where it hurts more.
      tryAgainAt = now + TRY_AGAIN_AFTER;
      log.warn('A new session key could not be saved; the old one stays in use.', { Error: String(error) });
    }
  };

  const newest = (): RingKey => {
    const [first] = keys;
    if (first === undefined) throw new Error('A key ring is never empty.');
    return first;
  };

  return {
    current() {
      const now = clock.now();
      if (now - newest().createdAt >= ROTATE_EVERY && now >= tryAgainAt) rotate(now);
      return newest();
    },
    find: (id) => keys.find((key) => key.id === id),
  };
}

/** A place in memory: sessions then end with the process. */
export function memorySessionKeys(): SessionKeyStore {
  let kept: string | undefined;
  return {
    load: () => kept,
    save(text) {
      kept = text;
    },
  };
}

function parseRing(text: string | undefined, log: Log): RingKey[] {
  if (text === undefined) return [];
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    found = undefined;
  }
  const ring = ringShape.safeParse(found);
  if (!ring.success) {
    log.warn('The session keys could not be read and are made anew; everybody has to log in again.');
    return [];
  }
  return ring.data.keys
    .map(({ id, key, createdAt }) => ({
      id,
      secret: Buffer.from(key, 'base64url'),
      createdAt: Date.parse(createdAt),
    }))
    .sort((left, right) => right.createdAt - left.createdAt);
}

function ringText(keys: readonly RingKey[]): string {
  return JSON.stringify({
    version: 1,
    keys: keys.map(({ id, secret, createdAt }) => ({
      id,
      key: secret.toString('base64url'),
      createdAt: new Date(createdAt).toISOString(),
    })),
  });
}

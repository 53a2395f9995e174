/**
 * Encryption keys of sessions: the current one, and older ones until their last token has expired.
 *
 * Source: docs/batch-values.md §10.
 */

import { hkdfSync } from 'node:crypto';
import type { Clock, Ids, Log } from '@sealwright/runtime';
import { z } from 'zod';
import { DAY_MS } from '../../../contracts/times.ts';

/** Storage of the key ring. */
export interface SessionKeyStore {
  /** The last saved value; undefined when there is none. */
  load(): string | undefined;
  /** Durable when it returns; throws when it cannot be. */
  save(text: string): void;
}

interface SessionKey {
  /** Eight hexadecimal digits; part of every token. */
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Buffer;
}

export interface SessionKeyRing {
  /** The key for new tokens; rotated every 90 days. */
  current(): SessionKey;
  /** The key of an existing token; undefined once it is dropped. */
  find(id: string): SessionKey | undefined;
}

const ROTATION_MS = 90 * DAY_MS;
/** The maximum session lifetime; a replaced key is dropped after this time. */
const MAX_SESSION_MS = DAY_MS;
/** By which the clock of another node may be ahead: at a rotation, its tokens have the next key already. */
const CLOCK_DIFFERENCE_MS = 60_000;
/** Delay before a failed save of a rotation is retried. */
const RETRY_MS = 3_600_000;

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
 * Reads the ring, or creates and saves one. An unreadable ring is replaced with a warning: only the sessions are
 * lost.
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
      return successor === undefined || now - successor.createdAt < MAX_SESSION_MS;
    });
    try {
      store.save(ringText(next));
      keys = next;
      log.info('Sessions are sealed with a new key from now on.');
    } catch (error) {
      // The old key stays valid; other writes report the storage failure.
      tryAgainAt = now + RETRY_MS;
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
      if (now - newest().createdAt >= ROTATION_MS && now >= tryAgainAt) rotate(now);
      return newest();
    },
    find: (id) => keys.find((key) => key.id === id),
  };
}

/**
 * The ring of several nodes: all derive its keys from a secret that they have in common, so that none is sent, written
 * or lost with a disk.
 * @param secret 32 bytes
 * @param stored ring of an earlier version, for the sessions of that
 */
export function deriveSessionKeyRing(
  secret: Buffer,
  stored: string | undefined,
  { clock, log }: { clock: Pick<Clock, 'now'>; log: Log },
): SessionKeyRing {
  const earlier = parseRing(stored, log);
  const derived = new Map<number, SessionKey>();
  const keyOf = (period: number): SessionKey => {
    const known = derived.get(period);
    if (known !== undefined) return known;
    const bytes = Buffer.from(hkdfSync('sha256', secret, '', `sealwright session ${period}`, 36));
    const key = { id: bytes.toString('hex', 0, 4), secret: bytes.subarray(4) };
    derived.clear();
    derived.set(period, key);
    return key;
  };
  return {
    current: () => keyOf(Math.floor(clock.now() / ROTATION_MS)),
    find(id) {
      const now = clock.now();
      const times = [now, now - MAX_SESSION_MS, now + CLOCK_DIFFERENCE_MS];
      const periods = new Set(times.map((at) => Math.floor(at / ROTATION_MS)));
      for (const period of periods) if (keyOf(period).id === id) return keyOf(period);
      return earlier.find((key) => key.id === id);
    },
  };
}

/** Storage in memory: sessions end with the process. */
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

/**
 * Sessions of one token key, and its PIN, in memory that all threads of the process share.
 *
 * Sessions and login belong to the process, not to a thread (PKCS#11 §2.6.2), so the limit applies across threads:
 * each session has a lock, and a thread that finds all taken waits. Within a thread signing is synchronous, so a
 * thread uses one session at a time. A PIN that the token has refused is refused here from then on, in every thread.
 *
 * | words                    |                                                             |
 * |--------------------------|-------------------------------------------------------------|
 * | pool                     | number of the pool, so that threads can tell pools apart    |
 * | refusal                  | 0, or why the PIN is no longer tried                        |
 * | releases                 | counts up at each release; what waiting threads look at     |
 * | stamps                   | the newest stamp; a lock holds the stamp of who took it     |
 * | login                    | lock of the login                                           |
 * | sessions, pin            | how many there are; length of the PIN in bytes              |
 * | for each session         | lock, bytes of a handle (0: not open), asks for PIN, unused, |
 * |                          | handles of session and key in two words each                |
 *
 * After the words the PIN in UTF-8.
 */
import { CryptoError } from '../../core/types.ts';
import type { Handle } from './module.ts';

const WORD = { pool: 0, refusal: 1, releases: 2, stamps: 3, login: 4, sessions: 5, pin: 6 } as const;
const HEADER = 8;
const PER_SESSION = 8;
const SESSION = { lock: 0, handleLength: 1, asksForPin: 2, session: 4, key: 6 } as const;

/** Most sessions: tokens support fewer parallel signatures, and there are fewer threads. */
const MAX_SESSIONS = 64;

/** Timeout of a lock, milliseconds; a signature or a login takes less, so a longer holder has ended or hangs. */
const SESSION_TIMEOUT_MS = 30_000;

const REFUSALS = ['none', 'wrong', 'locked'] as const;
/** Reason why a PIN is not tried: the token reported it wrong, or reports a lock, now or after the next failure. */
export type PinRefusal = Exclude<(typeof REFUSALS)[number], 'none'>;

/** An open session and the key's object in it. */
export interface OpenSession {
  readonly session: Handle;
  readonly key: Handle;
  /** CKA_ALWAYS_AUTHENTICATE: every signature needs the PIN again. */
  readonly asksForPin: boolean;
}

/** One session while a thread holds its lock. */
export interface SessionSlot {
  /** True when the last holder did not release it; an operation may be unfinished. */
  readonly abandoned: boolean;
  /** Session of the previous holder, perhaps another thread. */
  read(): OpenSession | undefined;
  write(open: OpenSession | undefined): void;
}

let pools = 0;

/** Creates a pool. @param pin kept in the shared memory only @throws {CryptoError} `request.invalid` */
export function createSessionPool(pin: string, maxSessions: number): SessionPool {
  if (!Number.isInteger(maxSessions) || maxSessions < 1 || maxSessions > MAX_SESSIONS) {
    throw new CryptoError('request.invalid', `A token key has 1 to ${MAX_SESSIONS} sessions.`);
  }
  const secret = Buffer.from(pin, 'utf8');
  const start = 4 * (HEADER + maxSessions * PER_SESSION);
  const memory = new SharedArrayBuffer(start + secret.length);
  const words = new Int32Array(memory, 0, HEADER);
  words[WORD.pool] = ++pools;
  words[WORD.sessions] = maxSessions;
  words[WORD.pin] = secret.length;
  new Uint8Array(memory, start).set(secret);
  return new SessionPool(memory);
}

export class SessionPool {
  readonly memory: SharedArrayBuffer;
  readonly #counters: Int32Array;
  readonly #slots: readonly number[];

  /** @param memory of a pool, created here or in another thread */
  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    const sessions = new Int32Array(memory, 0, HEADER)[WORD.sessions] ?? 0;
    this.#counters = new Int32Array(memory, 0, HEADER + sessions * PER_SESSION);
    this.#slots = Array.from({ length: sessions }, (_, index) => HEADER + index * PER_SESSION);
  }

  /** Identifies the pool within the thread that created it. */
  get number(): number {
    return this.#word(WORD.pool);
  }

  /** Runs `work` with exclusive use of a session. */
  use<T>(work: (slot: SessionSlot) => T): T {
    const { at, stamp, abandoned } = this.#acquire(this.#slots);
    try {
      return work(this.#slotAt(at, abandoned));
    } finally {
      this.#release(at, stamp);
    }
  }

  /** Runs `work` once for each idle session. */
  useIdle(work: (slot: SessionSlot) => void): void {
    for (const at of this.#slots) {
      const stamp = this.#newStamp();
      if (Atomics.compareExchange(this.#counters, at + SESSION.lock, 0, stamp) !== 0) continue;
      try {
        work(this.#slotAt(at, false));
      } finally {
        this.#release(at, stamp);
      }
    }
  }

  /** Runs `work` once for each session, locked or not: only when no other thread can use one. */
  useAll(work: (slot: SessionSlot) => void): void {
    for (const at of this.#slots) work(this.#slotAt(at, false));
  }

  /**
   * Runs `login` with the PIN, one thread at a time, and never again after the token refused the PIN.
   * @param login returns the reason why the PIN is refused; undefined on success
   * @throws {CryptoError} `key.password`
   */
  login(login: (pin: string) => PinRefusal | undefined): void {
    const { at, stamp } = this.#acquire([WORD.login]);
    try {
      const known = REFUSALS[this.#word(WORD.refusal)] ?? 'wrong';
      const refusal = known === 'none' ? login(this.#pin()) : known;
      if (refusal === undefined) return;
      Atomics.store(this.#counters, WORD.refusal, REFUSALS.indexOf(refusal));
      throw new CryptoError(
        'key.password',
        refusal === 'wrong'
          ? 'The token refuses the PIN. It is not tried again, because tokens lock after a few wrong tries.'
          : 'The PIN of the token is locked, has expired or has one try left, which is not used up here.',
      );
    } finally {
      this.#release(at, stamp);
    }
  }

  #acquire(locks: readonly number[]): {
    readonly at: number;
    readonly stamp: number;
    readonly abandoned: boolean;
  } {
    const words = this.#counters;
    const stamp = this.#newStamp();
    for (;;) {
      const releases = Atomics.load(words, WORD.releases);
      for (const at of locks) {
        if (Atomics.compareExchange(words, at, 0, stamp) === 0) return { at, stamp, abandoned: false };
      }
      const holders = locks.map((at) => Atomics.load(words, at));
      if (Atomics.wait(words, WORD.releases, releases, SESSION_TIMEOUT_MS) !== 'timed-out') continue;
      for (const [index, at] of locks.entries()) {
        const holder = holders[index] ?? 0;
        if (Atomics.compareExchange(words, at, holder, stamp) === holder) {
          return { at, stamp, abandoned: holder !== 0 };
        }
      }
    }
  }

  /** Releases a lock; a holder whose lock was taken over releases nothing. */
  #release(at: number, stamp: number): void {
    Atomics.compareExchange(this.#counters, at, stamp, 0);
    Atomics.add(this.#counters, WORD.releases, 1);
    Atomics.notify(this.#counters, WORD.releases);
  }

  /** Never 0, the value of a free lock. */
  #newStamp(): number {
    return (Atomics.add(this.#counters, WORD.stamps, 1) & 0x3fffffff) + 1;
  }

  #word(at: number): number {
    return Atomics.load(this.#counters, at);
  }

  #pin(): string {
    const length = this.#word(WORD.pin);
    return Buffer.from(this.memory, this.memory.byteLength - length, length).toString('utf8');
  }

  #slotAt(at: number, abandoned: boolean): SessionSlot {
    const words = this.#counters;
    const handle = (word: number) => Buffer.from(this.memory, 4 * (at + word), 8);
    return {
      abandoned,
      read: () => {
        const length = this.#word(at + SESSION.handleLength);
        if (length === 0) return undefined;
        // Copies: native code needs memory of this thread only.
        return {
          session: Buffer.from(handle(SESSION.session).subarray(0, length)),
          key: Buffer.from(handle(SESSION.key).subarray(0, length)),
          asksForPin: this.#word(at + SESSION.asksForPin) === 1,
        };
      },
      write: (open) => {
        if (open !== undefined) {
          handle(SESSION.session).set(open.session);
          handle(SESSION.key).set(open.key);
          Atomics.store(words, at + SESSION.asksForPin, open.asksForPin ? 1 : 0);
        }
        Atomics.store(words, at + SESSION.handleLength, open?.session.length ?? 0);
      },
    };
  }
}

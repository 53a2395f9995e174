/**
 * Counts the calls inside a PKCS#11 module, across the threads of the process.
 *
 * Many modules detect a token that was removed and inserted only after they were finalized and initialized again.
 * That ends every session of the process and must not happen during any other call (PKCS#11 §5.4). So all calls are
 * made inside the gate, and a restart happens when no call is running and no session is open.
 */
const WORD = { inside: 0, restarting: 1, sessions: 2 } as const;
const WORDS = 4;

/** Time after which a running call prevents a restart, milliseconds. */
const LOCK_TIMEOUT_MS = 5_000;

const gates = new Map<string, SharedArrayBuffer>();

/** Returns the gate of a module, for the thread that loads signers; other threads receive its memory. */
export function gateOf(modulePath: string): ModuleGate {
  const memory = gates.get(modulePath) ?? new SharedArrayBuffer(4 * WORDS);
  gates.set(modulePath, memory);
  return new ModuleGate(memory);
}

export class ModuleGate {
  readonly memory: SharedArrayBuffer;
  readonly #counters: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#counters = new Int32Array(memory);
  }

  /** Runs `calls` into the module. Not reentrant. */
  enter<T>(calls: () => T): T {
    this.#enter();
    try {
      return calls();
    } finally {
      Atomics.sub(this.#counters, WORD.inside, 1);
      Atomics.notify(this.#counters, WORD.inside);
    }
  }

  /** Counts sessions that stay open after `enter`. */
  countSession(change: 1 | -1): void {
    Atomics.add(this.#counters, WORD.sessions, change);
  }

  /**
   * Runs `restart` when no call and no session is active; not from inside `enter`.
   * @param closeOwnSessions runs first, outside of any call: closes the caller's own sessions
   * @returns true when a restart has happened, here or in another thread meanwhile
   */
  restart(closeOwnSessions: () => void, restart: () => void): boolean {
    const words = this.#counters;
    if (Atomics.compareExchange(words, WORD.restarting, 0, 1) !== 0) {
      Atomics.wait(words, WORD.restarting, 1);
      return true;
    }
    try {
      if (!this.#emptied()) return false;
      closeOwnSessions();
      if (Atomics.load(words, WORD.sessions) > 0) return false;
      restart();
      return true;
    } finally {
      Atomics.store(words, WORD.restarting, 0);
      Atomics.notify(words, WORD.restarting);
    }
  }

  #enter(): void {
    const words = this.#counters;
    for (;;) {
      Atomics.wait(words, WORD.restarting, 1);
      Atomics.add(words, WORD.inside, 1);
      if (Atomics.load(words, WORD.restarting) === 0) return;
      Atomics.sub(words, WORD.inside, 1);
      Atomics.notify(words, WORD.inside);
    }
  }

  #emptied(): boolean {
    for (;;) {
      const inside = Atomics.load(this.#counters, WORD.inside);
      if (inside === 0) return true;
      if (Atomics.wait(this.#counters, WORD.inside, inside, LOCK_TIMEOUT_MS) === 'timed-out') return false;
    }
  }
}

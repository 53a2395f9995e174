/**
 * Who is inside a PKCS#11 module, across the threads of the process.
 *
 * Many modules see a token that was pulled and put back only after they were finalized and initialized again, and
 * that ends every session of the process and must not happen during any other call (PKCS#11 §5.4). So all calls are
 * made inside the gate, and a restart happens when nobody is inside and no session is open.
 */
const WORD = { inside: 0, restarting: 1, sessions: 2 } as const;
const WORDS = 4;

/** A call into the module that takes longer holds a restart off, in milliseconds. */
const PATIENCE = 5_000;

const gates = new Map<string, SharedArrayBuffer>();

/** The gate of a module, for the thread that loads signers; others are given its memory. */
export function gateOf(modulePath: string): ModuleGate {
  const memory = gates.get(modulePath) ?? new SharedArrayBuffer(4 * WORDS);
  gates.set(modulePath, memory);
  return new ModuleGate(memory);
}

export class ModuleGate {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#words = new Int32Array(memory);
  }

  /** Runs `calls` into the module. Not to be nested. */
  pass<T>(calls: () => T): T {
    this.#enter();
    try {
      return calls();
    } finally {
      Atomics.sub(this.#words, WORD.inside, 1);
      Atomics.notify(this.#words, WORD.inside);
    }
  }

  /** Counts sessions that outlast a pass. */
  countSession(change: 1 | -1): void {
    Atomics.add(this.#words, WORD.sessions, change);
  }

  /**
   * Runs `restart` when it disturbs nobody; not from within a pass.
   * @param giveUp runs first, with nobody inside: drops the caller's own sessions
   * @returns whether a restart has happened, here or in another thread meanwhile
   */
  restart(giveUp: () => void, restart: () => void): boolean {
    const words = this.#words;
    if (Atomics.compareExchange(words, WORD.restarting, 0, 1) !== 0) {
      Atomics.wait(words, WORD.restarting, 1);
      return true;
    }
    try {
      if (!this.#emptied()) return false;
      giveUp();
      if (Atomics.load(words, WORD.sessions) > 0) return false;
      restart();
      return true;
    } finally {
      Atomics.store(words, WORD.restarting, 0);
      Atomics.notify(words, WORD.restarting);
    }
  }

  #enter(): void {
    const words = this.#words;
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
      const inside = Atomics.load(this.#words, WORD.inside);
      if (inside === 0) return true;
      if (Atomics.wait(this.#words, WORD.inside, inside, PATIENCE) === 'timed-out') return false;
    }
  }
}

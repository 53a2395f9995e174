/** Functions of a PKCS#11 module for signing (OASIS PKCS#11 2.40 §5), and the loading of modules. */
import { createRequire } from 'node:module';
import { CryptoError } from '../../core/types.ts';

/** A CK_ULONG that identifies a slot, a session or an object, in native byte order. */
export type Handle = Buffer;

export interface TokenInfo {
  /** Padded with spaces, as all texts of a token. */
  readonly label: string;
  readonly serialNumber: string;
  readonly flags: number;
}

export interface Attribute {
  readonly type: number;
  readonly value?: number | boolean | Buffer;
}

export interface Mechanism {
  readonly mechanism: number;
  readonly parameter?: {
    readonly type: number;
    readonly hashAlg: number;
    readonly mgf: number;
    readonly saltLen: number;
  };
}

/** Interface of the optional package. Every function throws when the module returns anything but CKR_OK. */
export interface TokenModule {
  load(path: string): void;
  C_Initialize(options: { readonly flags: number }): void;
  C_Finalize(): void;
  C_GetSlotList(withToken: boolean): Handle[];
  C_GetTokenInfo(slot: Handle): TokenInfo;
  C_OpenSession(slot: Handle, flags: number): Handle;
  C_CloseSession(session: Handle): void;
  C_Login(session: Handle, user: number, pin?: string): void;
  C_FindObjectsInit(session: Handle, template: readonly Attribute[]): void;
  C_FindObjects(session: Handle, most: number): Handle[];
  C_FindObjectsFinal(session: Handle): void;
  C_GetAttributeValue(
    session: Handle,
    object: Handle,
    wanted: readonly Attribute[],
  ): readonly { readonly value: Buffer }[];
  C_SignInit(session: Handle, mechanism: Mechanism, key: Handle): void;
  /** Returns the filled part of `space`. */
  C_Sign(session: Handle, data: Buffer, space: Buffer): Buffer;
}

/** Return values with a handling of their own. */
export const CKR = {
  dataLengthRange: 0x21,
  keyTypeInconsistent: 0x63,
  keyFunctionNotPermitted: 0x68,
  mechanismInvalid: 0x70,
  mechanismParameterInvalid: 0x71,
  pinIncorrect: 0xa0,
  pinInvalid: 0xa1,
  pinLengthRange: 0xa2,
  pinExpired: 0xa3,
  pinLocked: 0xa4,
  userAlreadyLoggedIn: 0x100,
  alreadyInitialized: 0x191,
} as const;

/** CKF_OS_LOCKING_OK: several threads may call the module at once. */
const OS_LOCKING = 0x02;

const loaded = new Map<string, TokenModule>();

/**
 * Returns the module at `path`, initialized. Each thread loads it; the process initializes it once.
 * @throws {CryptoError} `key.unavailable` without the optional package or the module
 */
export function tokenModule(path: string): TokenModule {
  const module = loaded.get(path) ?? load(path);
  loaded.set(path, module);
  initialize(module, path);
  return module;
}

/** Ends all sessions and makes the module search for tokens again. @throws {CryptoError} `key.unavailable` */
export function restartModule(path: string): void {
  const module = tokenModule(path);
  try {
    module.C_Finalize();
  } catch {
    // The module was not initialized, which is the desired state.
  }
  initialize(module, path);
}

function initialize(module: TokenModule, path: string): void {
  try {
    module.C_Initialize({ flags: OS_LOCKING });
  } catch (error) {
    if (returnValueOf(error) === CKR.alreadyInitialized) return;
    throw unavailable(`The PKCS#11 module ${path} can't be started`, error);
  }
}

function load(path: string): TokenModule {
  let Module: new () => TokenModule;
  try {
    const load = createRequire(import.meta.url);
    ({ PKCS11: Module } = load('pkcs11js') as { readonly PKCS11: new () => TokenModule });
  } catch {
    throw new CryptoError(
      'key.unavailable',
      'Keys on tokens need the optional package pkcs11js, and it is not installed here. Installing it takes a C++ compiler, make and Python: "npm rebuild pkcs11js", or "npm install" once they are there.',
    );
  }
  const module = new Module();
  try {
    module.load(path);
  } catch (error) {
    throw unavailable(`The PKCS#11 module ${path} can't be loaded`, error);
  }
  return module;
}

/** Returns the CK_RV of a failed call; undefined for any other failure. */
export function returnValueOf(error: unknown): number | undefined {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code === 'number' && code !== 0) return code;
  // Some functions of the package throw only a text: name of the return value, a colon and its number.
  const [, digits] = /CKR_\w+:(\d+)/.exec(String(message)) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Converts a failure of the token or its module to an error for people; a CryptoError stays unchanged. */
export function unavailable(what: string, error: unknown): CryptoError {
  if (error instanceof CryptoError) return error;
  const [reason = ''] = String((error as Error).message).split('\n');
  return new CryptoError('key.unavailable', `${what}: ${reason}.`);
}

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

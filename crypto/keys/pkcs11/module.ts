/** The functions of a PKCS#11 module that signing needs (OASIS PKCS#11 2.40 §5), and how a module is loaded. */
import { createRequire } from 'node:module';
import { CryptoError } from '../../types.ts';

/** A CK_ULONG that names a slot, a session or an object, in the machine's byte order. */
export type Handle = Buffer;

export interface TokenInfo {
  /** Padded with blanks, as all texts of a token. */
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

/** As the optional package gives it. Every function throws when the module answers with anything but CKR_OK. */
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
  /** The part of `space` that was filled. */
  C_Sign(session: Handle, data: Buffer, space: Buffer): Buffer;
}

/** Return values that lead to something else than "the token does not answer". */
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

/** CKF_OS_LOCKING_OK: the module may be called by several threads at once. */
const OS_LOCKING = 0x02;

const loaded = new Map<string, TokenModule>();

/**
 * The module at `path`, ready for calls. Each thread loads it for itself; the process initializes it once.
 * @throws {CryptoError} `key.unavailable` without the optional package or the module
 */
export function tokenModule(path: string): TokenModule {
  const module = loaded.get(path) ?? load(path);
  loaded.set(path, module);
  initialize(module, path);
  return module;
}

/** Ends every session there is, and makes the module look afresh for its tokens. @throws {CryptoError} `key.unavailable` */
export function restartModule(path: string): void {
  const module = tokenModule(path);
  try {
    module.C_Finalize();
  } catch {
    // The module is as it was, and that is what counts.
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

/** CK_RV of a failed call; undefined for any other failure. */
export function returnValueOf(error: unknown): number | undefined {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code === 'number' && code !== 0) return code;
  // Some functions of the package let the bare text through: the value's name, a colon and its number.
  const [, digits] = /CKR_\w+:(\d+)/.exec(String(message)) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** A failure of the token or its module as it is told to people; a refusal of our own stays what it is. */
export function unavailable(what: string, error: unknown): CryptoError {
  if (error instanceof CryptoError) return error;
  const [reason = ''] = String((error as Error).message).split('\n');
  return new CryptoError('key.unavailable', `${what}: ${reason}.`);
}

/** Finds tokens, certificates and keys, and logs in. */
import { CryptoError } from '../../core/types.ts';
import {
  type Attribute,
  CKR,
  type Handle,
  returnValueOf,
  type TokenInfo,
  type TokenModule,
  unavailable,
} from './module.ts';
import type { PinRefusal, SessionPool } from './session-pool.ts';

const CKF = {
  loginRequired: 0x4,
  protectedPath: 0x100,
  initialized: 0x400,
  finalTry: 0x20000,
  locked: 0x40000,
} as const;
/** CKF_SERIAL_SESSION, read-only: tokens are never modified. */
const READ_ONLY = 0x4;
const CKU = { user: 1, contextSpecific: 2 } as const;
const CKA = { class: 0x0, value: 0x11, id: 0x102 } as const;
const CERTIFICATE = 1;

/** Most objects read on one token; a real one has a few dozen. */
const MAX_OBJECTS = 1024;

export interface Token {
  readonly slot: Handle;
  readonly label: string;
  readonly serialNumber: string;
  readonly flags: number;
}

/** Returns the initialized tokens. A slot whose token does not answer is ignored. */
export function presentTokens(module: TokenModule): Token[] {
  return slotsOf(module).flatMap((slot) => {
    let info: TokenInfo;
    try {
      info = module.C_GetTokenInfo(slot);
    } catch {
      return [];
    }
    if ((info.flags & CKF.initialized) === 0) return [];
    return [{ slot, label: info.label.trim(), serialNumber: info.serialNumber.trim(), flags: info.flags }];
  });
}

function slotsOf(module: TokenModule): Handle[] {
  try {
    return module.C_GetSlotList(true);
  } catch (error) {
    throw unavailable("The PKCS#11 module can't tell its tokens", error);
  }
}

/** Runs `work` in a session of its own and closes it. */
export function inSession<T>(module: TokenModule, token: Token, work: (session: Handle) => T): T {
  const session = openSession(module, token);
  try {
    return work(session);
  } finally {
    closeSession(module, session);
  }
}

export function openSession(module: TokenModule, { slot }: Token): Handle {
  return module.C_OpenSession(slot, READ_ONLY);
}

/** Closes a session; a failure is ignored, since the session is already closed. */
export function closeSession(module: TokenModule, session: Handle): void {
  try {
    module.C_CloseSession(session);
  } catch {}
}

/** Logs the user in. @throws {CryptoError} `key.password`; `key.unavailable` when the token has no login */
export function logIn(module: TokenModule, token: Token, session: Handle, pool: SessionPool): void {
  if ((token.flags & CKF.loginRequired) === 0) return;
  pool.login((pin) => tryPin(module, token, { session, user: CKU.user, pin }));
}

/** Logs in for keys with CKA_ALWAYS_AUTHENTICATE; between C_SignInit and C_Sign (PKCS#11 §5.6, C_Login). */
export function logInAgain(module: TokenModule, token: Token, session: Handle, pool: SessionPool): void {
  pool.login((pin) => tryPin(module, token, { session, user: CKU.contextSpecific, pin }));
}

function tryPin(
  module: TokenModule,
  token: Token,
  { session, user, pin }: { readonly session: Handle; readonly user: number; readonly pin: string },
): PinRefusal | undefined {
  const flags = module.C_GetTokenInfo(token.slot).flags;
  if ((flags & (CKF.finalTry | CKF.locked)) !== 0) return 'locked';
  try {
    // A token with a PIN pad asks the user itself.
    if (pin === '' && (flags & CKF.protectedPath) !== 0) module.C_Login(session, user);
    else module.C_Login(session, user, pin);
    return undefined;
  } catch (error) {
    switch (returnValueOf(error)) {
      case CKR.userAlreadyLoggedIn:
        return undefined;
      case CKR.pinIncorrect:
      case CKR.pinInvalid:
      case CKR.pinLengthRange:
        return 'wrong';
      case CKR.pinLocked:
      case CKR.pinExpired:
        return 'locked';
      default:
        throw error;
    }
  }
}

export function findObjects(module: TokenModule, session: Handle, template: readonly Attribute[]): Handle[] {
  module.C_FindObjectsInit(session, template);
  try {
    const found: Handle[] = [];
    while (found.length < MAX_OBJECTS) {
      const some = module.C_FindObjects(session, 64);
      if (some.length === 0) break;
      found.push(...some);
    }
    return found;
  } finally {
    module.C_FindObjectsFinal(session);
  }
}

/** Undefined when the object lacks the attribute, or does not reveal it. */
export function attributeOf(
  module: TokenModule,
  session: Handle,
  object: Handle,
  type: number,
): Buffer | undefined {
  try {
    return module.C_GetAttributeValue(session, object, [{ type }])[0]?.value;
  } catch {
    return undefined;
  }
}

export interface TokenCertificate {
  readonly der: Buffer;
  /** CKA_ID, shared with the private key; empty when absent. */
  readonly id: Buffer;
}

/** Returns all certificates of a token that are visible to this session. */
export function certificatesOf(module: TokenModule, session: Handle): TokenCertificate[] {
  return findObjects(module, session, [{ type: CKA.class, value: CERTIFICATE }]).flatMap((object) => {
    const der = attributeOf(module, session, object, CKA.value);
    if (der === undefined || der.length === 0) return [];
    return [{ der, id: attributeOf(module, session, object, CKA.id) ?? Buffer.alloc(0) }];
  });
}

/** Finds the same token again, in any slot. @throws {CryptoError} `key.unavailable` */
export function tokenNamed(
  module: TokenModule,
  { label, serialNumber }: Pick<Token, 'label' | 'serialNumber'>,
): Token {
  const token = presentTokens(module).find((one) => one.label === label && one.serialNumber === serialNumber);
  if (token !== undefined) return token;
  throw new CryptoError('key.unavailable', `The token "${label}" (${serialNumber}) is not there.`);
}

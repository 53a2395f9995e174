/** Private keys on a PKCS#11 token, which never leave it. */
import type { KeyObject } from 'node:crypto';
import { CryptoError, type SignatureAlgorithm, type SigningKey } from '../../types.ts';
import { assertFits, kindOf } from '../local-key.ts';
import { valueFault } from '../value-check.ts';
import { KEY_TYPES, orderFor, type TokenOrder } from './mechanisms.ts';
import {
  CKR,
  type Handle,
  restartModule,
  returnValueOf,
  type TokenModule,
  tokenModule,
  unavailable,
} from './module.ts';
import { ModuleGate } from './module-gate.ts';
import { type OpenSession, SessionPool, type SessionSlot } from './session-pool.ts';
import {
  attributeOf,
  closeSession,
  findObjects,
  logIn,
  logInAgain,
  openSession,
  type Token,
  tokenNamed,
} from './token.ts';

/** Where a key is, as plain data that threads can be given. Not to be written anywhere: the PIN is in `sessions`. */
export interface TokenPlace {
  readonly modulePath: string;
  /** Label and serial number as the token tells them, without padding. */
  readonly label: string;
  readonly serialNumber: string;
  /** CKA_ID of the certificate and its key; empty when the certificate has none. */
  readonly keyId: Uint8Array;
  /** Memory of the session pool and of the module's gate, which all threads share. */
  readonly sessions: SharedArrayBuffer;
  readonly gate: SharedArrayBuffer;
}

/** A signing key that stays on its token. */
export interface TokenKey extends SigningKey {
  readonly where: 'token';
  readonly place: TokenPlace;
  /**
   * Gets a session ready, or does nothing when one is.
   * @throws {CryptoError} `key.unavailable`, `key.password`, `key.not-found` (no private key), `key.mismatch`
   */
  open(): void;
  /** Gives the sessions that are not in use back to the token; the next signature opens one again. */
  close(): void;
}

const CKA = { class: 0x0, keyType: 0x100, id: 0x102, alwaysAuthenticate: 0x202 } as const;
const PRIVATE_KEY = 3;

/** Holds every value: 512 bytes for RSA-4096. */
const VALUE_SPACE = 1024;

/** The request does not suit the key; another session would say the same. */
const UNSUITED: ReadonlySet<number | undefined> = new Set([
  CKR.dataLengthRange,
  CKR.keyTypeInconsistent,
  CKR.keyFunctionNotPermitted,
  CKR.mechanismInvalid,
  CKR.mechanismParameterInvalid,
]);

/**
 * @param publicKey of the certificate: tells the key's kind, and proves each session's key to be the right one
 * @throws {CryptoError} `key.unsupported`
 */
export function tokenKey(place: TokenPlace, publicKey: KeyObject): TokenKey {
  const kind = kindOf(publicKey);
  const pool = new SessionPool(place.sessions);
  const gate = new ModuleGate(place.gate);
  const opener: Opener = { place, pool, gate, publicKey, ...kind };
  return {
    ...kind,
    where: 'token',
    place,
    sign(data, algorithm) {
      assertFits(kind.type, algorithm);
      const order = orderFor(data, algorithm);
      return pool.use((slot) => outlasting(opener, () => signOver(opener, slot, order)));
    },
    open() {
      pool.use((slot) => outlasting(opener, () => slot.read() ?? openIn(opener, slot)));
    },
    close() {
      pool.useIdle((slot) => gate.pass(() => drop(opener, slot)));
    },
  };
}

interface Opener {
  readonly place: TokenPlace;
  readonly pool: SessionPool;
  readonly gate: ModuleGate;
  readonly publicKey: KeyObject;
  readonly type: SigningKey['type'];
  readonly bits: number;
}

/** Does `work`, and when the token is not to be had, once more after the module was restarted. */
function outlasting<T>(opener: Opener, work: () => T): T {
  const { place, pool, gate } = opener;
  try {
    return gate.pass(work);
  } catch (error) {
    if (!(error instanceof CryptoError) || error.code !== 'key.unavailable') throw error;
    const dropAll = () => pool.useAll((slot) => drop(opener, slot));
    if (!gate.restart(dropAll, () => restartModule(place.modulePath))) throw error;
    return gate.pass(work);
  }
}

/**
 * With the session that is there, and when that fails with a fresh one: tokens are pulled, sleep, time out and lose
 * their login. A value made twice harms nobody.
 */
function signOver(opener: Opener, slot: SessionSlot, order: TokenOrder): Buffer {
  if (slot.abandoned) forget(opener, slot);
  const open = slot.read();
  if (open !== undefined) {
    try {
      return signIn(opener, open, order);
    } catch (error) {
      drop(opener, slot);
      refuseUnsuited(error);
      if (error instanceof CryptoError && error.code === 'key.password') throw error;
    }
  }
  const fresh = openIn(opener, slot);
  try {
    return signIn(opener, fresh, order);
  } catch (error) {
    drop(opener, slot);
    refuseUnsuited(error);
    throw unavailable(`The token "${opener.place.label}" does not sign`, error);
  }
}

function refuseUnsuited(error: unknown): void {
  if (!UNSUITED.has(returnValueOf(error))) return;
  const { message } = error as Error;
  throw new CryptoError('key.unsupported', `The key on the token makes no such signature: ${message}.`);
}

function signIn(
  { place, pool }: Opener,
  { session, key, asksForPin }: OpenSession,
  { mechanism, data, value }: TokenOrder,
): Buffer {
  const module = loadedModule(place);
  module.C_SignInit(session, mechanism, key);
  if (asksForPin) logInAgain(module, tokenNamed(module, place), session, pool);
  return value(module.C_Sign(session, data, Buffer.alloc(VALUE_SPACE)));
}

const modules = new WeakMap<TokenPlace, TokenModule>();

/** As `tokenModule`, without asking the module again whether it is initialized: that is for opening a session. */
function loadedModule(place: TokenPlace): TokenModule {
  const module = modules.get(place) ?? tokenModule(place.modulePath);
  modules.set(place, module);
  return module;
}

function openIn(opener: Opener, slot: SessionSlot): OpenSession {
  const open = opened(opener);
  slot.write(open);
  opener.gate.countSession(1);
  return open;
}

function drop(opener: Opener, slot: SessionSlot): void {
  const open = slot.read();
  if (open === undefined) return;
  forget(opener, slot);
  closeSession(loadedModule(opener.place), open.session);
}

function forget({ gate }: Opener, slot: SessionSlot): void {
  if (slot.read() === undefined) return;
  slot.write(undefined);
  gate.countSession(-1);
}

/** A session that is logged in and has proven to sign with the certificate's key. */
function opened(opener: Opener): OpenSession {
  const { place, pool } = opener;
  const module = tokenModule(place.modulePath);
  const token = tokenNamed(module, place);
  let session: Handle | undefined;
  try {
    session = openSession(module, token);
    logIn(module, token, session, pool);
    return provenKey(opener, module, session, token);
  } catch (error) {
    if (session !== undefined) closeSession(module, session);
    throw unavailable(`The token "${place.label}" does not answer`, error);
  }
}

function provenKey(opener: Opener, module: TokenModule, session: Handle, token: Token): OpenSession {
  const candidates = privateKeys(opener, module, session);
  for (const key of candidates) {
    const asked = attributeOf(module, session, key, CKA.alwaysAuthenticate);
    const open: OpenSession = { session, key, asksForPin: asked?.[0] === 1 };
    if (provesItself(opener, open)) return open;
  }
  throw candidates.length === 0
    ? new CryptoError('key.not-found', `The token "${token.label}" has no private key for the certificate.`)
    : new CryptoError('key.mismatch', 'The private key on the token does not belong to the certificate.');
}

/** By the certificate's identifier; where none is set, all keys of its kind. */
function privateKeys({ place, type }: Opener, module: TokenModule, session: Handle): Handle[] {
  const ofClass = { type: CKA.class, value: PRIVATE_KEY };
  if (place.keyId.length > 0) {
    return findObjects(module, session, [ofClass, { type: CKA.id, value: Buffer.from(place.keyId) }]);
  }
  return findObjects(module, session, [ofClass, { type: CKA.keyType, value: KEY_TYPES[type] }]);
}

const PROOF = Buffer.from('Does this key belong to the certificate?');
/** RSA keys may be limited to one padding. */
const PROOFS: { readonly [type in SigningKey['type']]: readonly SignatureAlgorithm[] } = {
  rsa: [
    { scheme: 'rsa-pkcs1', digest: 'sha256' },
    { scheme: 'rsa-pss', digest: 'sha256' },
  ],
  ec: [{ scheme: 'ecdsa', digest: 'sha256' }],
  ed25519: [{ scheme: 'ed25519', digest: 'sha512' }],
};

function provesItself(opener: Opener, open: OpenSession): boolean {
  for (const algorithm of PROOFS[opener.type]) {
    try {
      const value = signIn(opener, open, orderFor(PROOF, algorithm));
      const method = { scheme: algorithm.scheme, hash: algorithm.digest };
      return valueFault(method, opener.publicKey, PROOF, value) === undefined;
    } catch (error) {
      if (!UNSUITED.has(returnValueOf(error))) throw error;
    }
  }
  return false;
}

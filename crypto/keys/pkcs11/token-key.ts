/** Private keys on a PKCS#11 token; the token never exports them. */
import { createHash, type KeyObject } from 'node:crypto';
import { octetString, oid, sequence, tlv } from '../../asn1/write.ts';
import {
  CryptoError,
  type DigestName,
  type KeyType,
  type SignatureAlgorithm,
  type SigningKey,
} from '../../core/types.ts';
import { assertFits, kindOf } from '../../x509/key-types.ts';
import { derValue, valueFault } from '../../x509/signature-values.ts';
import {
  CKR,
  type Handle,
  type Mechanism,
  ModuleGate,
  restartModule,
  returnValueOf,
  type TokenModule,
  tokenModule,
  unavailable,
} from './module.ts';
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

/** Location of a token key, as data for other threads. Never written to disk: `sessions` contains the PIN. */
export interface TokenPlace {
  readonly modulePath: string;
  /** Label and serial number of the token, without padding. */
  readonly label: string;
  readonly serialNumber: string;
  /** CKA_ID of the certificate and its key; empty when the certificate has none. */
  readonly keyId: Uint8Array;
  /** Memory of the session pool and of the module gate, shared by all threads. */
  readonly sessions: SharedArrayBuffer;
  readonly gate: SharedArrayBuffer;
}

/** A signing key on a token. */
export interface TokenKey extends SigningKey {
  readonly where: 'token';
  readonly place: TokenPlace;
  /**
   * Opens a session if none is open.
   * @throws {CryptoError} `key.unavailable`, `key.password`, `key.not-found` (no private key), `key.mismatch`
   */
  open(): void;
  /** Closes the idle sessions; the next signature opens one again. */
  close(): void;
}

const CKA = { class: 0x0, keyType: 0x100, id: 0x102, alwaysAuthenticate: 0x202 } as const;
const PRIVATE_KEY = 3;

/** Output buffer for any signature value, in bytes: RSA-4096 has 512. */
const MAX_SIGNATURE_BYTES = 1024;

/** Return values that reject the request for this key; another session would return the same. */
const KEY_ERRORS: ReadonlySet<number | undefined> = new Set([
  CKR.dataLengthRange,
  CKR.keyTypeInconsistent,
  CKR.keyFunctionNotPermitted,
  CKR.mechanismInvalid,
  CKR.mechanismParameterInvalid,
]);

/**
 * Creates a signing key for a token.
 * @param publicKey of the certificate: gives the key type, and verifies the key of each session
 * @throws {CryptoError} `key.unsupported`
 */
export function tokenKey(place: TokenPlace, publicKey: KeyObject): TokenKey {
  const kind = kindOf(publicKey);
  const pool = new SessionPool(place.sessions);
  const gate = new ModuleGate(place.gate);
  const opener: KeyOpener = { place, pool, gate, publicKey, ...kind };
  return {
    ...kind,
    where: 'token',
    place,
    sign(data, algorithm) {
      assertFits(kind.type, algorithm);
      const order = mechanismFor(data, algorithm);
      return pool.use((slot) => withRelogin(opener, () => signOver(opener, slot, order)));
    },
    open() {
      pool.use((slot) => withRelogin(opener, () => slot.read() ?? openIn(opener, slot)));
    },
    close() {
      pool.useIdle((slot) => gate.enter(() => drop(opener, slot)));
    },
  };
}

interface KeyOpener {
  readonly place: TokenPlace;
  readonly pool: SessionPool;
  readonly gate: ModuleGate;
  readonly publicKey: KeyObject;
  readonly type: SigningKey['type'];
  readonly bits: number;
}

/** Runs `work`, and once more after a restart of the module when the token is unavailable. */
function withRelogin<T>(opener: KeyOpener, work: () => T): T {
  const { place, pool, gate } = opener;
  try {
    return gate.enter(work);
  } catch (error) {
    if (!(error instanceof CryptoError) || error.code !== 'key.unavailable') throw error;
    const dropAll = () => pool.useAll((slot) => drop(opener, slot));
    if (!gate.restart(dropAll, () => restartModule(place.modulePath))) throw error;
    return gate.enter(work);
  }
}

/**
 * Signs with the open session, and with a new one when that fails: tokens are removed, sleep, time out and lose
 * their login. A second signature value does no harm.
 */
function signOver(opener: KeyOpener, slot: SessionSlot, order: TokenMechanism): Buffer {
  if (slot.abandoned) closeSessionOf(opener, slot);
  const open = slot.read();
  if (open !== undefined) {
    try {
      return signIn(opener, open, order);
    } catch (error) {
      drop(opener, slot);
      assertSuitable(error);
      if (error instanceof CryptoError && error.code === 'key.password') throw error;
    }
  }
  const fresh = openIn(opener, slot);
  try {
    return signIn(opener, fresh, order);
  } catch (error) {
    drop(opener, slot);
    assertSuitable(error);
    throw unavailable(`The token "${opener.place.label}" does not sign`, error);
  }
}

function assertSuitable(error: unknown): void {
  if (!KEY_ERRORS.has(returnValueOf(error))) return;
  const { message } = error as Error;
  throw new CryptoError('key.unsupported', `The key on the token makes no such signature: ${message}.`);
}

function signIn(
  { place, pool }: KeyOpener,
  { session, key, asksForPin }: OpenSession,
  { mechanism, data, value }: TokenMechanism,
): Buffer {
  const module = loadedModule(place);
  module.C_SignInit(session, mechanism, key);
  if (asksForPin) logInAgain(module, tokenNamed(module, place), session, pool);
  return value(module.C_Sign(session, data, Buffer.alloc(MAX_SIGNATURE_BYTES)));
}

const modules = new WeakMap<TokenPlace, TokenModule>();

/** Returns the loaded module without initializing it; opening a session does that. */
function loadedModule(place: TokenPlace): TokenModule {
  const module = modules.get(place) ?? tokenModule(place.modulePath);
  modules.set(place, module);
  return module;
}

function openIn(opener: KeyOpener, slot: SessionSlot): OpenSession {
  const open = opened(opener);
  slot.write(open);
  opener.gate.countSession(1);
  return open;
}

function drop(opener: KeyOpener, slot: SessionSlot): void {
  const open = slot.read();
  if (open === undefined) return;
  closeSessionOf(opener, slot);
  closeSession(loadedModule(opener.place), open.session);
}

function closeSessionOf({ gate }: KeyOpener, slot: SessionSlot): void {
  if (slot.read() === undefined) return;
  slot.write(undefined);
  gate.countSession(-1);
}

/** Opens a session, logs in and verifies that it signs with the certificate's key. */
function opened(opener: KeyOpener): OpenSession {
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

function provenKey(opener: KeyOpener, module: TokenModule, session: Handle, token: Token): OpenSession {
  const candidates = privateKeys(opener, module, session);
  for (const key of candidates) {
    const asked = attributeOf(module, session, key, CKA.alwaysAuthenticate);
    const open: OpenSession = { session, key, asksForPin: asked?.[0] === 1 };
    if (isProvenKey(opener, open)) return open;
  }
  throw candidates.length === 0
    ? new CryptoError('key.not-found', `The token "${token.label}" has no private key for the certificate.`)
    : new CryptoError('key.mismatch', 'The private key on the token does not belong to the certificate.');
}

/** Finds private keys by the certificate's CKA_ID; without one, all keys of the type. */
function privateKeys({ place, type }: KeyOpener, module: TokenModule, session: Handle): Handle[] {
  const ofClass = { type: CKA.class, value: PRIVATE_KEY };
  if (place.keyId.length > 0) {
    return findObjects(module, session, [ofClass, { type: CKA.id, value: Buffer.from(place.keyId) }]);
  }
  return findObjects(module, session, [ofClass, { type: CKA.keyType, value: KEY_TYPES[type] }]);
}

const PROBE_DATA = Buffer.from('Does this key belong to the certificate?');
/** RSA keys may permit only one padding. */
const PROBE_ALGORITHMS: { readonly [type in SigningKey['type']]: readonly SignatureAlgorithm[] } = {
  rsa: [
    { scheme: 'rsa-pkcs1', digest: 'sha256' },
    { scheme: 'rsa-pss', digest: 'sha256' },
  ],
  'rsa-pss': [
    { scheme: 'rsa-pss', digest: 'sha256' },
    { scheme: 'rsa-pss', digest: 'sha384' },
    { scheme: 'rsa-pss', digest: 'sha512' },
  ],
  ec: [{ scheme: 'ecdsa', digest: 'sha256' }],
  ed25519: [{ scheme: 'ed25519', digest: 'sha512' }],
};

function isProvenKey(opener: KeyOpener, open: OpenSession): boolean {
  for (const algorithm of PROBE_ALGORITHMS[opener.type]) {
    try {
      const value = signIn(opener, open, mechanismFor(PROBE_DATA, algorithm));
      const method = { scheme: algorithm.scheme, hash: algorithm.digest };
      if (valueFault(method, opener.publicKey, PROBE_DATA, value) === undefined) return true;
    } catch (error) {
      if (!KEY_ERRORS.has(returnValueOf(error))) throw error;
    }
  }
  return false;
}

/** Maps signature algorithms to PKCS#11 mechanisms (2.40 §2.1, §2.3; 3.0 §2.3.14 for EdDSA). */
const CKM = { rsaPkcs: 0x1, rsaPss: 0xd, ecdsa: 0x1041, eddsa: 0x1057 } as const;
const PSS_PARAMETERS = 5;

/** CKK_ values. */
const KEY_TYPES: { readonly [type in KeyType]: number } = {
  rsa: 0x0,
  'rsa-pss': 0x0,
  ec: 0x3,
  ed25519: 0x40,
};

interface Digest {
  /** AlgorithmIdentifier with NULL parameters, for DigestInfo (RFC 8017 §9.2). */
  readonly identifier: Buffer;
  /** CKM_ value of the hash, CKG_ value of the mask generation function with it. */
  readonly hash: number;
  readonly mask: number;
  readonly length: number;
}

const NULL = tlv(0x05);
const DIGESTS: { readonly [name in DigestName]: Digest } = {
  sha256: {
    identifier: sequence(oid('2.16.840.1.101.3.4.2.1'), NULL),
    hash: 0x250,
    mask: 0x2,
    length: 32,
  },
  sha384: {
    identifier: sequence(oid('2.16.840.1.101.3.4.2.2'), NULL),
    hash: 0x260,
    mask: 0x3,
    length: 48,
  },
  sha512: {
    identifier: sequence(oid('2.16.840.1.101.3.4.2.3'), NULL),
    hash: 0x270,
    mask: 0x4,
    length: 64,
  },
};

/** Input of C_Sign, and the conversion of its result. */
interface TokenMechanism {
  readonly mechanism: Mechanism;
  readonly data: Buffer;
  /** Converts the token's value to the form of `SigningKey.sign`. */
  value(answer: Buffer): Buffer;
}

/**
 * Prepares a signature: hashes here and sends a digest to the token, except for Ed25519, which hashes internally.
 *     DigestInfo ::= SEQUENCE { digestAlgorithm AlgorithmIdentifier, digest OCTET STRING }
 */
function mechanismFor(data: Uint8Array, { scheme, digest }: SignatureAlgorithm): TokenMechanism {
  if (scheme === 'ed25519') {
    return { mechanism: { mechanism: CKM.eddsa }, data: Buffer.from(data), value: Buffer.from };
  }
  const hash = createHash(digest).update(data).digest();
  const { identifier, hash: hashAlg, mask: mgf, length: saltLen } = DIGESTS[digest];
  switch (scheme) {
    case 'ecdsa':
      return { mechanism: { mechanism: CKM.ecdsa }, data: hash, value: derValue };
    case 'rsa-pss':
      return {
        mechanism: {
          mechanism: CKM.rsaPss,
          parameter: { type: PSS_PARAMETERS, hashAlg, mgf, saltLen },
        },
        data: hash,
        value: Buffer.from,
      };
    case 'rsa-pkcs1':
      return {
        mechanism: { mechanism: CKM.rsaPkcs },
        data: sequence(identifier, octetString(hash)),
        value: Buffer.from,
      };
  }
}

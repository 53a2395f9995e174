/** Loads a signing key with its certificates and checks once that they can sign. */
import {
  createDecipheriv,
  createHmac,
  createPrivateKey,
  hash as digest,
  type KeyObject,
  pbkdf2Sync,
  scryptSync,
  X509Certificate,
} from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Asn1Error, enter, octets, readElement, TAG } from '../asn1/read.ts';
import { certificatesInBundle } from '../cms/parse.ts';
import { machineTime } from '../core/system-time.ts';
import { CryptoError, type InputFile } from '../core/types.ts';
import { PasswordSource, type Pkcs12Primitives } from '../pkcs12/password-derivation.ts';
import { decryptWithPassword } from '../pkcs12/password-encryption.ts';
import { Pkcs12Error, readPkcs12 } from '../pkcs12/pkcs12-reader.ts';
import {
  type Certificate,
  normalThumbprint,
  pemText,
  readableCertificates,
  thumbprintOf,
} from '../x509/certificate.ts';
import { type LoadedSigner, maySign, severalWarning, signerOf } from './loaded-signer.ts';
import { gateOf, restartModule, type TokenModule, tokenModule, unavailable } from './pkcs11/module.ts';
import { createSessionPool, type SessionPool } from './pkcs11/session-pool.ts';
import {
  certificatesOf,
  inSession,
  logIn,
  presentTokens,
  type Token,
  type TokenCertificate,
} from './pkcs11/token.ts';
import { type TokenKey, tokenKey } from './pkcs11/token-key.ts';
import { localKey } from './transfer.ts';

/** Finds the key and the certificates of a token by module and thumbprint. */
export interface TokenSource {
  readonly source: 'Pkcs11';
  /** The shared library of the token's vendor. */
  readonly modulePath: string;
  /** User PIN. Empty for tokens with a PIN pad. */
  readonly pin: string;
  /** SHA-1 of the signer's certificate in hex, colons and spaces allowed. */
  readonly thumbprint: string;
  /** Restricts the search to the token with this label; needed when certificates are visible only after a login. */
  readonly tokenLabel?: string;
  /** Most open sessions of the process with the key, 1 to 64. @default 1: signatures one after another */
  readonly maxSessions?: number;
}

interface FoundKey {
  readonly key: TokenKey;
  readonly certificate: Certificate;
  /** DER of all certificates on the token. */
  readonly certificates: readonly Buffer[];
}

/** Finds the key; sends the PIN once, to the token with the certificate. @throws {CryptoError} see `loadSigner` */
function findTokenKey(source: TokenSource): FoundKey {
  const pool = createSessionPool(source.pin, source.maxSessions ?? 1);
  const { modulePath } = source;
  const gate = gateOf(modulePath);
  // Tokens inserted after the start of the module may be visible only after a restart.
  gate.restart(
    () => {},
    () => restartModule(modulePath),
  );
  const { token, certificates, own } = gate.enter(() =>
    findCertificate(tokenModule(modulePath), source, pool),
  );
  const [certificate] = readableCertificates(own.der);
  if (certificate === undefined) {
    throw new CryptoError('certificate.malformed', "The certificate on the token can't be read.");
  }
  const key = tokenKey(
    {
      modulePath,
      label: token.label,
      serialNumber: token.serialNumber,
      keyId: own.id,
      sessions: pool.memory,
      gate: gate.memory,
    },
    certificate.publicKey,
  );
  key.open();
  return { key, certificate, certificates: certificates.map(({ der }) => der) };
}

interface FoundCertificate {
  readonly token: Token;
  readonly certificates: readonly TokenCertificate[];
  readonly own: TokenCertificate;
}

function findCertificate(module: TokenModule, source: TokenSource, pool: SessionPool): FoundCertificate {
  const { tokenLabel } = source;
  const wanted = normalThumbprint(source.thumbprint);
  const tokens = presentTokens(module).filter(
    ({ label }) => tokenLabel === undefined || label === tokenLabel,
  );
  if (tokens.length === 0) {
    const named = tokenLabel === undefined ? '' : ` labelled "${tokenLabel}"`;
    throw new CryptoError('key.unavailable', `No token${named} is there.`);
  }
  let failure: CryptoError | undefined;
  const look = (token: Token, loggedIn: boolean): FoundCertificate | undefined => {
    try {
      return inSession(module, token, (session) => {
        if (loggedIn) logIn(module, token, session, pool);
        const certificates = certificatesOf(module, session);
        const own = certificates.find(({ der }) => thumbprintOf(der) === wanted);
        return own && { token, certificates, own };
      });
    } catch (error) {
      // Another token may have it.
      failure = unavailable(`The token "${token.label}" does not answer`, error);
      return undefined;
    }
  };
  for (const token of tokens) {
    const found = look(token, false);
    if (found !== undefined) return found;
  }
  // Certificates may be private objects. With several tokens, the PIN can't be assigned to one.
  const [only, ...others] = tokens;
  const found = only && others.length === 0 ? look(only, true) : undefined;
  if (found !== undefined) return found;
  if (failure !== undefined) throw failure;
  const labels = tokens.map(({ label }) => `"${label}"`).join(', ');
  throw new CryptoError(
    'key.not-found',
    `No certificate with the thumbprint ${wanted} is to be seen on ${labels}.`,
  );
}

interface PemSource {
  readonly source: 'Pem';
  /**
   * File, or bytes, with the signer's certificate and any of its chain, in any order; PEM, P7B, or one certificate in
   * DER.
   */
  readonly certificatePath: InputFile;
  /** File, or bytes, with the key: PEM or DER. */
  readonly keyPath: InputFile;
  readonly password?: string | undefined;
}

interface PfxSource {
  readonly source: 'Pfx';
  /** The container: a file, or its bytes. */
  readonly path: InputFile;
  /** @default '' */
  readonly password?: string | undefined;
  /** SHA-1 of the signer's certificate in hex, colons and spaces allowed; needed when there are several keys. */
  readonly thumbprint?: string;
}

/** Location of a key. Source: RFC 7292; RFC 5958; RFC 7468; PKCS#11 2.40. */
export type KeySource = PemSource | PfxSource | TokenSource;

/**
 * Loads a signer. The validity period of the certificate is not checked: see `validityFault`.
 * @param now chooses among several certificates of one key
 * @throws {CryptoError} `key.unreadable` (file or format), `key.password`, `key.not-found` (no key, or none with the
 * thumbprint), `key.ambiguous` (several keys), `key.mismatch` (no certificate matches), `key.unsupported`,
 * `key.unavailable` (token or module), `certificate.malformed`, `request.invalid` (a file is not named)
 */
export async function loadSigner(source: KeySource, now: () => number = machineTime): Promise<LoadedSigner> {
  if (source.source === 'Pkcs11') {
    const { key, certificate, certificates } = findTokenKey(source);
    return signerOf(key, certificate, certificates.flatMap(readableCertificates));
  }
  const { keys, certificates } = source.source === 'Pfx' ? await fromPfx(source) : await fromPem(source);
  // An unreadable, unrelated certificate does not prevent the use of the others.
  const parsed = certificates.flatMap(readableCertificates);
  if (parsed.length === 0) {
    throw new CryptoError('certificate.malformed', 'No certificate that can be read was found.');
  }
  const pairs = keys.flatMap((key) => pairsOf(key, parsed));
  const { thumbprint } = source.source === 'Pfx' ? source : {};
  const rank = (certificate: Certificate) => rankOf(certificate, now(), source.source === 'Pem');
  const pair = thumbprint === undefined ? choose(pairs, keys, rank) : named(pairs, thumbprint);
  const signer = signerOf(localKey(pair.key), pair.certificate, parsed);
  const others = pairs.filter(({ certificate }) => certificate !== pair.certificate);
  if (thumbprint !== undefined || others.length === 0) return signer;
  return { ...signer, warnings: [...signer.warnings, severalWarning(pair.certificate, others.length + 1)] };
}

interface KeyMaterial {
  readonly keys: readonly KeyObject[];
  readonly certificates: readonly Buffer[];
}

async function fromPem(source: PemSource): Promise<KeyMaterial> {
  const [certificates, key] = await Promise.all([
    contentsOf(source.certificatePath),
    contentsOf(source.keyPath),
  ]);
  return {
    keys: [await readPrivateKey(pemText(key), source.password)],
    certificates: certificatesInBundle(certificates),
  };
}

async function fromPfx(source: PfxSource): Promise<KeyMaterial> {
  return openPfx(await contentsOf(source.path), source.password ?? '');
}

async function contentsOf(path: InputFile | undefined): Promise<Buffer> {
  // Callers without types leave members out.
  if (path === undefined)
    throw new CryptoError(
      'request.invalid',
      'The source names no file: give a path or bytes for each of its files.',
    );
  if (typeof path !== 'string') return Buffer.from(path.buffer, path.byteOffset, path.length);
  try {
    return await readFile(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new CryptoError('key.unreadable', `${path} can't be read: ${code}.`);
  }
}

interface Pair {
  readonly key: KeyObject;
  readonly certificate: Certificate;
}

/** A key has several certificates when it was kept at a renewal, or after a self-signed one. */
function pairsOf(key: KeyObject, certificates: readonly Certificate[]): Pair[] {
  return [...new Set(certificates)].flatMap((certificate) =>
    new X509Certificate(certificate.der).checkPrivateKey(key) ? [{ key, certificate }] : [],
  );
}

function named(pairs: readonly Pair[], thumbprint: string): Pair {
  const wanted = normalThumbprint(thumbprint);
  const found = pairs.find(({ certificate }) => thumbprintOf(certificate.der) === wanted);
  if (found !== undefined) return found;
  throw new CryptoError('key.not-found', `No key has a certificate with the thumbprint ${wanted}.`);
}

/** Node leaves an error behind when it compares keys of two types; the next key that is read would fail with it. */
function isSame(one: KeyObject, other: KeyObject): boolean {
  return one.asymmetricKeyType === other.asymmetricKeyType && one.equals(other);
}

/**
 * The certificate of the only key: one that may sign, is valid now, is of an authority, and is valid for longest. Of a
 * file that somebody put together in an order, the first valid one stays.
 */
function rankOf(certificate: Certificate, now: number, isOrdered: boolean): readonly number[] {
  const { notBefore, notAfter, subjectKey, issuerKey } = certificate;
  const isValid = now >= notBefore && now <= notAfter;
  return [
    maySign(certificate) ? 1 : 0,
    isValid ? 1 : 0,
    subjectKey === issuerKey ? 0 : 1,
    isValid && isOrdered ? 0 : notAfter,
  ];
}

function choose(
  pairs: readonly Pair[],
  keys: readonly KeyObject[],
  rank: (certificate: Certificate) => readonly number[],
): Pair {
  if (keys.length === 0) throw new CryptoError('key.not-found', 'There is no private key inside.');
  const [first, ...others] = pairs;
  if (first === undefined)
    throw new CryptoError('key.mismatch', 'No certificate belongs to the private key.');
  const different = keys.filter((key, index) => !keys.slice(0, index).some((other) => isSame(other, key)));
  if (different.length > 1 && others.some(({ key }) => !isSame(key, first.key))) {
    throw new CryptoError('key.ambiguous', `There are ${different.length} keys; name one by its thumbprint.`);
  }
  return others.reduce((best, pair) => {
    const ranks = rank(best.certificate);
    const differing = rank(pair.certificate).map((value, at) => value - (ranks[at] ?? 0));
    return (differing.find((difference) => difference !== 0) ?? 0) > 0 ? pair : best;
  }, first);
}

/** Opens PKCS#12 containers (RFC 7292) with the reader of `crypto/pkcs12/`. Certificates are returned byte for byte. */
interface Pfx {
  readonly keys: readonly KeyObject[];
  /** DER, in the order of the container. */
  readonly certificates: readonly Buffer[];
}

/**
 * Opens a container. The integrity value, if present, decides whether the password is right; otherwise the
 * decryption does.
 * @throws {CryptoError} `key.password`, `key.unreadable`
 */
export async function openPfx(bytes: Buffer, password: string): Promise<Pfx> {
  try {
    const { keys, certificates } = await readPkcs12(withoutBase64(bytes), password, NODE_PRIMITIVES);
    return {
      keys: keys.map(({ der }) => createPrivateKey({ key: view(der), format: 'der', type: 'pkcs8' })),
      certificates: certificates.map(({ der }) => view(der)),
    };
  } catch (error) {
    if (error instanceof Pkcs12Error && (error.fault === 'password' || error.fault === 'integrity')) {
      throw new CryptoError('key.password', 'The password does not open the container.');
    }
    const other = otherKindOf(bytes);
    if (other !== undefined)
      throw new CryptoError('key.unreadable', `This is no PKCS#12 container, but ${other}.`);
    const reason = error instanceof Pkcs12Error ? error.message : 'a part of it is damaged';
    throw new CryptoError('key.unreadable', `The PKCS#12 container can't be read: ${reason}.`);
  }
}

/** Returns what else is given in place of a container, and what to do; undefined when that is not known. */
function otherKindOf(bytes: Buffer): string | undefined {
  const magic = bytes.toString('hex', 0, 4);
  if (magic === 'feedfeed' || magic === 'cececece')
    return 'a key store of Java (JKS): keytool -importkeystore -deststoretype PKCS12 converts it';
  if (/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/.test(pemText(bytes)))
    return 'a PEM file with a key, which the source Pem reads';
  return certificatesInBundle(bytes).length > 0 ? 'certificates without a key' : undefined;
}

/** Containers that pass through variables and secret stores arrive as Base64, with or without PEM labels. */
function withoutBase64(bytes: Buffer): Buffer {
  if (bytes[0] === TAG.sequence) return bytes;
  const text = bytes.toString('latin1').replace(/-----(?:BEGIN|END) [A-Z0-9 #]{1,40}-----|\s+/g, '');
  return /^MI[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : bytes;
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/**
 * Reads a private key from PEM or DER: PKCS#8, encrypted PKCS#8, or the older forms of RSA and EC keys.
 * @param file one character for each byte, as `pemText` returns it
 * @throws {CryptoError} `key.password` when a password is missing or wrong, `key.unreadable`
 */
export async function readPrivateKey(file: string, password: string | undefined): Promise<KeyObject> {
  if (file.charCodeAt(0) === TAG.sequence) return readDer(Buffer.from(file, 'latin1'), password);
  const [, kind, base64] = KEY_BLOCK.exec(file) ?? [];
  if (base64 !== undefined && kind !== 'ENCRYPTED ') return readDer(Buffer.from(base64, 'base64'), undefined);
  const isEncrypted = base64 !== undefined || /^Proc-Type: 4,ENCRYPTED/m.test(file);
  if (!isEncrypted) throw new CryptoError('key.unreadable', 'The private key is not readable as PEM.');
  if (password === undefined) {
    throw new CryptoError('key.password', 'The private key is encrypted and no password is given.');
  }
  if (base64 !== undefined) return decryptPkcs8(Buffer.from(base64, 'base64'), password);
  if (!OLDER_CIPHERS.test(file)) throw unsupported('its encryption is not supported');
  try {
    return createPrivateKey({ key: file, format: 'pem', passphrase: password });
  } catch {
    throw wrongPassword();
  }
}

async function readDer(der: Buffer, password: string | undefined): Promise<KeyObject> {
  for (const type of ['pkcs8', 'pkcs1', 'sec1'] as const) {
    try {
      return createPrivateKey({ key: der, format: 'der', type });
    } catch {
      // The next form is tried.
    }
  }
  if (password !== undefined) return decryptPkcs8(der, password);
  throw new CryptoError('key.unreadable', 'The private key is in no known form of DER, or it is encrypted.');
}

/** The Base64 counts, not the lines: secrets that pass through variables and editors lose or indent them. */
const KEY_BLOCK =
  /-----BEGIN ([A-Z]+ )?PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END (?:[A-Z]+ )?PRIVATE KEY-----/;
/**
 * Ciphers of the traditional format, whose key is one round of a hash (RFC 1421 defines the header, not the
 * derivation).
 */
const OLDER_CIPHERS = /^DEK-Info: (DES-EDE3|AES-(128|192|256)|CAMELLIA-(128|192|256))-CBC,/m;

/**
 * Decrypts an EncryptedPrivateKeyInfo (RFC 5958 §3). Replaces OpenSSL's reader, which does not limit the cost of a
 * derivation, does not distinguish a wrong password from an unsupported cipher, and lacks ciphers of old files.
 *     EncryptedPrivateKeyInfo ::= SEQUENCE { encryptionAlgorithm AlgorithmIdentifier, encryptedData OCTET STRING }
 */
async function decryptPkcs8(der: Buffer, password: string): Promise<KeyObject> {
  let plain: Uint8Array | undefined;
  try {
    const fields = enter(readElement(der), TAG.sequence);
    const algorithm = fields.next(TAG.sequence);
    plain = await decryptWithPassword(algorithm, octets(fields.next()), passwordSource(password));
  } catch (error) {
    throw error instanceof Asn1Error ? unsupported(error.message) : wrongPassword();
  }
  if (plain === undefined) throw wrongPassword();
  try {
    return createPrivateKey({ key: Buffer.from(plain), format: 'der', type: 'pkcs8' });
  } catch {
    // One wrong password in a few hundred leaves padding that looks right.
    throw wrongPassword();
  }
}

function unsupported(reason: string): CryptoError {
  return new CryptoError('key.unreadable', `The private key can't be decrypted: ${reason}.`);
}

function wrongPassword(): CryptoError {
  return new CryptoError('key.password', 'The password does not open the private key.');
}

/** More than Node counts for the largest parameters that the reader passes on. */
const MAX_SCRYPT_MEMORY = 1 << 30;

export const NODE_PRIMITIVES: Pkcs12Primitives = {
  hashes: new Set(['sha1', 'sha224', 'sha256', 'sha384', 'sha512']),
  isCipher: () => true,
  quickRounds: Number.POSITIVE_INFINITY,
  repeatedHash: (hash, bytes, rounds) => {
    let result: Uint8Array = bytes;
    for (let round = 0; round < rounds; round++) result = digest(hash, result, 'buffer');
    return result;
  },
  hmac: (hash, key, bytes) => createHmac(hash, key).update(bytes).digest(),
  pbkdf2: ({ hash, password, salt, rounds, length }) => pbkdf2Sync(password, salt, rounds, length, hash),
  scrypt: ({ password, salt, length, ...costs }) =>
    scryptSync(password, salt, length, { ...costs, maxmem: MAX_SCRYPT_MEMORY }),
  decrypt: async (cipher, key, iv, encrypted) => {
    if (cipher === 'rc2') return decryptRc2(key, iv, encrypted);
    const decipher = createDecipheriv(cipher, key, iv);
    const head = decipher.update(encrypted);
    try {
      return Buffer.concat([head, decipher.final()]);
    } catch {
      return undefined;
    }
  },
};

/** Returns a password with the functions of Node. */
function passwordSource(password: string): PasswordSource {
  return new PasswordSource(password, NODE_PRIMITIVES);
}

/** Decrypts RC2, which OpenSSL's default provider lacks. Loads node-forge only for containers that need it. */
async function decryptRc2(
  key: Uint8Array,
  iv: Uint8Array,
  encrypted: Uint8Array,
): Promise<Uint8Array | undefined> {
  const { default: forge } = await import('node-forge');
  const rc2 = forge.rc2.createDecryptionCipher(latin1(key), key.length * 8);
  rc2.start(latin1(iv));
  rc2.update(forge.util.createBuffer(latin1(encrypted)));
  return rc2.finish() ? Buffer.from(rc2.output.getBytes(), 'latin1') : undefined;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

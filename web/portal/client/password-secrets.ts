/**
 * Password-based schemes of certificate files: PKCS#12 (RFC 7292, appendices B and C), PBES2 (RFC 8018 §6.2), and
 * MACs of both kinds (RFC 7292 §4; RFC 9579 for PBMAC1).
 */
import { children, content, type DerNode, type Forge, toBytes, toText } from './forge.ts';

/** A scheme that this page does not support. */
export class Unsupported extends Error {}

type Hash = 'sha1' | 'sha256' | 'sha384' | 'sha512';

const HASHES: { readonly [identifier: string]: Hash } = {
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};
const HMACS: { readonly [identifier: string]: Hash } = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};
const HASH_LENGTHS: { readonly [name in Hash]: number } = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };
const WEB_NAMES: { readonly [name in Hash]: string } = {
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
};

/** Lengths of the key and of the initialization vector, bytes. */
interface Scheme {
  readonly cipher: 'AES-CBC' | '3DES-CBC' | 'RC2';
  readonly key: number;
  readonly vector: number;
}

const OLD_SCHEMES: { readonly [identifier: string]: Scheme } = {
  '1.2.840.113549.1.12.1.3': { cipher: '3DES-CBC', key: 24, vector: 8 },
  '1.2.840.113549.1.12.1.4': { cipher: '3DES-CBC', key: 16, vector: 8 },
  '1.2.840.113549.1.12.1.5': { cipher: 'RC2', key: 16, vector: 8 },
  '1.2.840.113549.1.12.1.6': { cipher: 'RC2', key: 5, vector: 8 },
};
const NEW_SCHEMES: { readonly [identifier: string]: Scheme } = {
  '2.16.840.1.101.3.4.1.2': { cipher: 'AES-CBC', key: 16, vector: 16 },
  '2.16.840.1.101.3.4.1.22': { cipher: 'AES-CBC', key: 24, vector: 16 },
  '2.16.840.1.101.3.4.1.42': { cipher: 'AES-CBC', key: 32, vector: 16 },
  '1.2.840.113549.3.7': { cipher: '3DES-CBC', key: 24, vector: 8 },
};
const PBES2 = '1.2.840.113549.1.5.13';
const PBKDF2 = '1.2.840.113549.1.5.12';
const PBMAC1 = '1.2.840.113549.1.5.14';

/** Iteration counts above this would block a browser for minutes. */
const MAX_ITERATIONS = 10_000_000;
/** Iteration limit of the PKCS#12 derivation, which browsers leave to scripts. */
const FAST_ITERATIONS = 50_000;
const MAX_KEY_LENGTH = 1_024;

export class PasswordSecrets {
  readonly #forge: Forge;
  readonly #password: string;

  constructor(forge: Forge, password: string) {
    this.#forge = forge;
    this.#password = password;
  }

  /**
   * Decrypts content. Undefined when the padding shows a wrong key or damaged content. Throws `Unsupported`.
   * @param algorithm AlgorithmIdentifier
   */
  async decrypt(algorithm: DerNode | undefined, encrypted: string): Promise<string | undefined> {
    const { identifier, parameters } = this.#algorithm(algorithm);
    if (identifier === PBES2) {
      const [derivation, encryption] = children(parameters);
      const { identifier: cipher, parameters: vector } = this.#algorithm(encryption);
      const scheme = NEW_SCHEMES[cipher];
      if (scheme === undefined) throw new Unsupported();
      return this.#decipher(scheme, await this.#derived(derivation, scheme.key), content(vector), encrypted);
    }
    const scheme = OLD_SCHEMES[identifier];
    if (scheme === undefined) throw new Unsupported();
    const [salt, rounds] = children(parameters);
    const made = (purpose: 1 | 2, length: number) =>
      this.#oldKey(this.#password, content(salt), purpose, roundsOf(rounds), length, 'sha1');
    return this.#decipher(scheme, made(1, scheme.key), made(2, scheme.vector), encrypted);
  }

  /** True if the check of a MAC takes no more than about a second. @param mac MacData */
  isQuick(mac: DerNode): boolean {
    const [, , rounds] = children(mac);
    return rounds === undefined || whole(content(rounds)) <= FAST_ITERATIONS;
  }

  /** True if the MAC matches these bytes under this password. Throws `Unsupported`. @param mac MacData */
  async integrityHolds(mac: DerNode, bytes: string): Promise<boolean> {
    const [digestInfo, salt, rounds] = children(mac);
    const [algorithm, value] = children(digestInfo);
    const { identifier, parameters } = this.#algorithm(algorithm);
    const isValue = (hash: Hash, key: string) => this.#hmac(hash, key, bytes) === content(value);
    if (identifier === PBMAC1) {
      const [derivation, scheme] = children(parameters);
      const hash = HMACS[this.#algorithm(scheme).identifier];
      if (hash === undefined) throw new Unsupported();
      return isValue(hash, await this.#derived(derivation));
    }
    const hash = HASHES[identifier];
    if (hash === undefined) throw new Unsupported();
    const count = rounds === undefined ? 1 : roundsOf(rounds);
    // Programs encode an empty password in two ways: two zero bytes, or none.
    const passwords = this.#password === '' ? ['', null] : [this.#password];
    return passwords.some((password) =>
      isValue(hash, this.#oldKey(password, content(salt), 3, count, HASH_LENGTHS[hash], hash)),
    );
  }

  #algorithm(node: DerNode | undefined): {
    readonly identifier: string;
    readonly parameters: DerNode | undefined;
  } {
    const [identifier, parameters] = children(node);
    return { identifier: this.#forge.asn1.derToOid(content(identifier)), parameters };
  }

  /** @param length bytes; absent: the length in the parameters */
  async #derived(derivation: DerNode | undefined, length?: number): Promise<string> {
    const { identifier, parameters } = this.#algorithm(derivation);
    if (identifier !== PBKDF2) throw new Unsupported();
    const [salt, rounds, ...more] = children(parameters);
    const stated = more.find(({ constructed }) => !constructed);
    const prf = more.find(({ constructed }) => constructed);
    const hash = prf === undefined ? 'sha1' : HMACS[this.#algorithm(prf).identifier];
    const wanted = length ?? (stated === undefined ? 0 : whole(content(stated)));
    if (hash === undefined || wanted < 1 || wanted > MAX_KEY_LENGTH) throw new Unsupported();
    // RFC 8018 §3: such passwords are UTF-8.
    const secret = new TextEncoder().encode(this.#password);
    const count = roundsOf(rounds);
    // Web Crypto is absent on plain http; it is a hundred times as fast.
    const { subtle } = crypto;
    if (subtle !== undefined) {
      const key = await subtle.importKey('raw', secret, 'PBKDF2', false, ['deriveBits']);
      const how = {
        name: 'PBKDF2',
        salt: toBytes(content(salt)),
        iterations: count,
        hash: WEB_NAMES[hash],
      };
      return toText(new Uint8Array(await subtle.deriveBits(how, key, 8 * wanted)));
    }
    const { md, pkcs5 } = this.#forge;
    const digest = md[hash]?.create();
    if (digest === undefined) throw new Unsupported();
    return pkcs5.pbkdf2(toText(secret), content(salt), count, wanted, digest);
  }

  #oldKey(
    password: string | null,
    salt: string,
    purpose: 1 | 2 | 3,
    rounds: number,
    length: number,
    hash: Hash,
  ): string {
    const { pkcs12, util, md } = this.#forge;
    const salted = util.createBuffer(salt);
    return pkcs12.generateKey(password, salted, purpose, rounds, length, md[hash]?.create()).getBytes();
  }

  #decipher({ cipher: name }: Scheme, key: string, vector: string, encrypted: string): string | undefined {
    const { util, cipher, rc2 } = this.#forge;
    // Two-key triple DES uses the first key again.
    const whole = name === '3DES-CBC' && key.length === 16 ? key + key.slice(0, 8) : key;
    const buffer = util.createBuffer(whole);
    const decipher =
      name === 'RC2'
        ? rc2.createDecryptionCipher(buffer, 8 * key.length)
        : cipher.createDecipher(name, buffer);
    const first = util.createBuffer(vector);
    decipher.start(name === 'RC2' ? first : { iv: first });
    decipher.update(util.createBuffer(encrypted));
    return decipher.finish() ? decipher.output.getBytes() : undefined;
  }

  #hmac(hash: Hash, key: string, bytes: string): string {
    const hmac = this.#forge.hmac.create();
    hmac.start(hash, key);
    hmac.update(bytes);
    return hmac.digest().getBytes();
  }
}

function roundsOf(node: DerNode | undefined): number {
  const rounds = whole(content(node));
  if (rounds < 1 || rounds > MAX_ITERATIONS) throw new Unsupported();
  return rounds;
}

/** An integer of a few bytes. */
function whole(bytes: string): number {
  return bytes.length > 6
    ? Number.POSITIVE_INFINITY
    : toBytes(bytes).reduce((sum, byte) => sum * 256 + byte, 0);
}

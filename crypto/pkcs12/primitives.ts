/** Cryptographic functions that callers pass to the PKCS#12 reader: node:crypto on the server, node-forge and Web Crypto in a browser. */

export type HashName = 'sha1' | 'sha224' | 'sha256' | 'sha384' | 'sha512';

/** Name of a cipher in OpenSSL; `rc2` is CBC, its effective key length is that of the key. */
export type CipherName =
  | 'des-ede3-cbc'
  | 'rc2'
  | `${'aes' | 'aria' | 'camellia'}-${'128' | '192' | '256'}-cbc`;

export interface Pbkdf2Request {
  readonly hash: HashName;
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  readonly rounds: number;
  /** Bytes. */
  readonly length: number;
}

/** Costs of RFC 7914 §2; all of them are within the limits of the reader. */
export interface ScryptRequest {
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
  /** Bytes. */
  readonly length: number;
}

export interface Pkcs12Primitives {
  readonly hashes: ReadonlySet<HashName>;
  /** Supports a cipher of this name. */
  isCipher(name: CipherName): boolean;
  /**
   * Rounds of the derivation of RFC 7292 that take about a second. An integrity value that needs more is verified only
   * if nothing could be decrypted, and so nothing else proves the password.
   */
  readonly quickRounds: number;
  /** Applies the hash `rounds` times: to `bytes`, then to each result. */
  repeatedHash(hash: HashName, bytes: Uint8Array, rounds: number): Uint8Array;
  hmac(hash: HashName, key: Uint8Array, bytes: Uint8Array): Uint8Array;
  pbkdf2(request: Pbkdf2Request): Uint8Array | Promise<Uint8Array>;
  /** Absent where scrypt is not supported. @throws when the costs contradict each other */
  readonly scrypt?: (request: ScryptRequest) => Uint8Array;
  /** Decrypts and removes the padding; undefined when the padding is wrong, as after a wrong password. */
  decrypt(
    cipher: CipherName,
    key: Uint8Array,
    iv: Uint8Array,
    encrypted: Uint8Array,
  ): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

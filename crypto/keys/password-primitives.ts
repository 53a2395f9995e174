/** Cryptographic functions for the PKCS#12 reader of `crypto/pkcs12/`, from node:crypto. */
import { createDecipheriv, createHmac, hash as digest, pbkdf2Sync, scryptSync } from 'node:crypto';
import { PasswordSource } from '../pkcs12/password-derivation.ts';
import type { Pkcs12Primitives } from '../pkcs12/primitives.ts';

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
export function passwordSource(password: string): PasswordSource {
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

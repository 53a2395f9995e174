/** Cryptographic functions for the PKCS#12 reader in a browser: node-forge, and Web Crypto for PBKDF2. */
import type { CipherName, HashName, Pkcs12Primitives } from '@sealwright/signatures/pkcs12';
import { type Forge, type ForgeDigest, toBytes, toText } from './forge.ts';

const WEB_NAMES: { readonly [name in HashName]?: string } = {
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
};
/** Name of a cipher in the library; ARIA and Camellia are missing there. */
const FORGE_CIPHERS: { readonly [name in CipherName]?: string } = {
  'aes-128-cbc': 'AES-CBC',
  'aes-192-cbc': 'AES-CBC',
  'aes-256-cbc': 'AES-CBC',
  'des-ede3-cbc': '3DES-CBC',
  rc2: 'RC2',
};

export function forgePrimitives(forge: Forge): Pkcs12Primitives {
  return {
    hashes: new Set(['sha1', 'sha256', 'sha384', 'sha512']),
    isCipher: (name) => FORGE_CIPHERS[name] !== undefined,
    quickRounds: 50_000,
    repeatedHash: (hash, bytes, rounds) => {
      const digest = digestOf(forge, hash);
      let text = toText(bytes);
      for (let round = 0; round < rounds; round++) text = digest.start().update(text).digest().getBytes();
      return toBytes(text);
    },
    hmac: (hash, key, bytes) => {
      const hmac = forge.hmac.create();
      hmac.start(hash, toText(key));
      hmac.update(toText(bytes));
      return toBytes(hmac.digest().getBytes());
    },
    pbkdf2: async ({ hash, password, salt, rounds, length }) => {
      // Web Crypto is absent on plain http; it is a hundred times as fast.
      const { subtle } = crypto;
      if (subtle === undefined) {
        const digest = digestOf(forge, hash);
        return toBytes(forge.pkcs5.pbkdf2(toText(password), toText(salt), { rounds, length, hash: digest }));
      }
      const key = await subtle.importKey('raw', Uint8Array.from(password), 'PBKDF2', false, ['deriveBits']);
      const how = {
        name: 'PBKDF2',
        salt: Uint8Array.from(salt),
        iterations: rounds,
        hash: WEB_NAMES[hash] ?? '',
      };
      return new Uint8Array(await subtle.deriveBits(how, key, 8 * length));
    },
    decrypt: (name, key, iv, encrypted) => {
      const { util, cipher, rc2 } = forge;
      const buffer = util.createBuffer(toText(key));
      const first = util.createBuffer(toText(iv));
      const decipher =
        name === 'rc2'
          ? rc2.createDecryptionCipher(buffer, 8 * key.length)
          : cipher.createDecipher(FORGE_CIPHERS[name] ?? '', buffer);
      decipher.start(name === 'rc2' ? first : { iv: first });
      decipher.update(util.createBuffer(toText(encrypted)));
      return decipher.finish() ? toBytes(decipher.output.getBytes()) : undefined;
    },
  };
}

function digestOf(forge: Forge, hash: HashName): ForgeDigest {
  const digest = forge.md[hash]?.create();
  if (digest === undefined) throw new Error(`The library lacks ${hash}.`);
  return digest;
}

/** Types of the part of node-forge that reads certificate files. Its strings hold one byte per character. */

interface ForgeBytes {
  getBytes(): string;
}

export interface ForgeDigest {
  start(): ForgeDigest;
  update(bytes: string): ForgeDigest;
  digest(): ForgeBytes;
}

interface ForgeCipher {
  readonly output: ForgeBytes;
  start(options: unknown): void;
  update(bytes: ForgeBytes): void;
  /** False for invalid padding. */
  finish(): boolean;
}

export interface Forge {
  readonly asn1: { fromDer(der: string): unknown };
  readonly util: { createBuffer(bytes: string): ForgeBytes };
  readonly md: { readonly [name: string]: { create(): ForgeDigest } };
  readonly hmac: {
    create(): { start(hash: string, key: string): void; update(bytes: string): void; digest(): ForgeBytes };
  };
  readonly pkcs5: {
    pbkdf2(
      password: string,
      salt: string,
      options: { readonly rounds: number; readonly length: number; readonly hash: ForgeDigest },
    ): string;
  };
  readonly cipher: { createDecipher(name: string, key: ForgeBytes): ForgeCipher };
  readonly rc2: { createDecryptionCipher(key: ForgeBytes, bits: number): ForgeCipher };
  readonly pki: {
    privateKeyFromAsn1(node: unknown): unknown;
  };
  readonly ed25519: {
    /** @param options.privateKey 32 bytes */
    sign(options: {
      readonly message: string;
      readonly encoding: 'binary';
      readonly privateKey: string;
    }): Uint8Array;
  };
}

export function toText(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}

export function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

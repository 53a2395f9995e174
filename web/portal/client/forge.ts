/** Types of the part of node-forge that reads certificate files. Its strings hold one byte per character. */

/** A DER or BER node: `value` is the content of a primitive node or the children of a constructed one. */
export interface DerNode {
  readonly tagClass: number;
  readonly type: number;
  readonly constructed: boolean;
  readonly value: string | readonly DerNode[];
}

interface ForgeBytes {
  getBytes(): string;
}

interface ForgeDigest {
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
  readonly asn1: {
    fromDer(der: string, options?: { readonly parseAllBytes: boolean }): DerNode;
    toDer(node: DerNode): ForgeBytes;
    derToOid(content: string): string;
    readonly Type: { readonly OID: number };
  };
  readonly util: { createBuffer(bytes: string): ForgeBytes };
  readonly md: { readonly [name: string]: { create(): ForgeDigest } };
  readonly hmac: {
    create(): { start(hash: string, key: string): void; update(bytes: string): void; digest(): ForgeBytes };
  };
  readonly pkcs5: {
    pbkdf2(password: string, salt: string, rounds: number, length: number, hash: ForgeDigest): string;
  };
  readonly pkcs12: {
    /** RFC 7292 §B.2; null = no password. @param purpose 1 key, 2 initialization vector, 3 integrity */
    generateKey(
      password: string | null,
      salt: ForgeBytes,
      purpose: 1 | 2 | 3,
      rounds: number,
      length: number,
      hash?: ForgeDigest,
    ): ForgeBytes;
  };
  readonly cipher: { createDecipher(name: string, key: ForgeBytes): ForgeCipher };
  readonly rc2: { createDecryptionCipher(key: ForgeBytes, bits: number): ForgeCipher };
  readonly pki: {
    privateKeyFromAsn1(node: DerNode): unknown;
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

/** Children of a constructed node; empty for others. */
export function children(node: DerNode | undefined): readonly DerNode[] {
  return node === undefined || typeof node.value === 'string' ? [] : node.value;
}

/** Content of a primitive node; segments of a constructed string, joined. */
export function content(node: DerNode | undefined): string {
  if (node === undefined) return '';
  return typeof node.value === 'string' ? node.value : node.value.map(content).join('');
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

/** The part of node-forge that opening and using certificate files needs. Its strings hold one byte per character. */

/** A node of DER or BER: `value` is content, or what it holds. */
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
  /** False for padding that is none. */
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
    /** RFC 7292 §B.2; null = no password at all. @param purpose 1 key, 2 initial vector, 3 integrity */
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

/** What a constructed node holds; nothing for others. */
export function children(node: DerNode | undefined): readonly DerNode[] {
  return node === undefined || typeof node.value === 'string' ? [] : node.value;
}

/** Content of a primitive node; the pieces of one that was written in pieces, joined. */
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

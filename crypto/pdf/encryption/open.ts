/**
 * Opens an encrypted PDF, with or without a password: the standard security handler in all its versions (ISO 32000-2,
 * 7.6.4).
 *
 * Derives the file encryption key from a password: standard security handler, revisions 2 to 4 (ISO 32000-2, 7.6.4.3
 * and 7.6.4.4, algorithms 2 to 7).
 */

import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { CryptoError } from '../../core/types.ts';
import { PdfSyntaxError } from '../syntax/reading-errors.ts';
import { asString } from '../syntax/strings.ts';
import {
  asDict,
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  isNull,
  items,
  type PdfDict,
} from '../syntax/values.ts';
import { type CryptMethod, rc4 } from './crypt-method.ts';
import { Encryption, type FormPermissions } from './encryption.ts';

interface PasswordEntries {
  readonly revision: 2 | 3 | 4;
  /** /O and /U. */
  readonly owner: Buffer;
  readonly user: Buffer;
  /** /P, 32 bits. */
  readonly permissions: number;
  /** First part of the file identifier; empty without one. */
  readonly id: Buffer;
  readonly encryptMetadata: boolean;
  /** Possible key lengths, bytes, the most likely first; the password entries decide. */
  readonly lengths: readonly number[];
}

/** File encryption key; permissions don't apply to the owner. */
interface FileKey {
  readonly key: Buffer;
  readonly asOwner: boolean;
}

/** Padding of passwords to 32 bytes (algorithm 2); an empty password is padding only. */
const PASSWORD_PADDING = Buffer.from(
  '28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A',
  'hex',
);

/** Derives the key from a user or owner password; undefined for a wrong one. @param password @default empty */
function fileKey(entries: PasswordEntries, password = ''): FileKey | undefined {
  const padded = Buffer.concat([Buffer.from(password, 'latin1'), PASSWORD_PADDING]).subarray(0, 32);
  for (const length of entries.lengths) {
    const key = keyFor(entries, padded, length);
    if (matchesUserEntry(entries, key)) return { key, asOwner: false };
  }
  for (const length of entries.lengths) {
    const key = keyFor(entries, userPasswordOf(entries, length, padded), length);
    if (matchesUserEntry(entries, key)) return { key, asOwner: true };
  }
  return undefined;
}

const md5 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('md5');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** Algorithm 2. */
function keyFor(entries: PasswordEntries, password: Buffer, length: number): Buffer {
  const { revision, owner, permissions, id, encryptMetadata } = entries;
  const bits = Buffer.alloc(4);
  bits.writeInt32LE(permissions);
  const metadata = Buffer.alloc(revision >= 4 && !encryptMetadata ? 4 : 0, 0xff);
  let digest = md5(password, owner.subarray(0, 32), bits, id, metadata);
  if (revision >= 3) for (let round = 0; round < 50; round++) digest = md5(digest.subarray(0, length));
  return digest.subarray(0, length);
}

/** Compares a key with /U (algorithms 4 and 5). */
function matchesUserEntry({ revision, user, id }: PasswordEntries, key: Buffer): boolean {
  if (revision === 2) return rc4(key, PASSWORD_PADDING).equals(user.subarray(0, 32));
  let value = md5(PASSWORD_PADDING, id);
  for (let round = 0; round < 20; round++) value = rc4(rotatedKey(key, round), value);
  return value.equals(user.subarray(0, 16));
}

/** Decrypts the user password in /O (algorithm 7). */
function userPasswordOf({ revision, owner }: PasswordEntries, length: number, padded: Buffer): Buffer {
  let digest = md5(padded);
  if (revision >= 3) for (let round = 0; round < 50; round++) digest = md5(digest);
  const key = digest.subarray(0, length);
  let password: Buffer = owner.subarray(0, 32);
  for (let round = revision === 2 ? 0 : 19; round >= 0; round--)
    password = rc4(rotatedKey(key, round), password);
  return password;
}

function rotatedKey(key: Buffer, round: number): Buffer {
  return round === 0 ? key : (key.map((byte) => byte ^ round) as Buffer);
}

/**
 * Derives the file encryption key from a password: standard security handler, revisions 5 and 6
 * (ISO 32000-2, 7.6.4.3.3 and 7.6.4.3.4, algorithms 2.A, 2.B, 11 to 13; revision 5 is Adobe's supplement to
 * ISO 32000-1, extension level 3).
 */
interface Aes256PasswordEntries {
  readonly revision: 5 | 6;
  /** /O and /U: a hash of 32 bytes, eight bytes of validation salt, eight of key salt. */
  readonly owner: Buffer;
  readonly user: Buffer;
  /** /OE and /UE: the file encryption key, encrypted with each password, 32 bytes. */
  readonly ownerKey: Buffer;
  readonly userKey: Buffer;
}

const EMPTY = Buffer.alloc(0);

/** Most significant bytes of a password (algorithm 2.A). */
const MAX_PASSWORD = 127;

/** Derives the key from a user or owner password; undefined for a wrong one. @param password @default empty */
function aes256FileKey(entries: Aes256PasswordEntries, password = ''): FileKey | undefined {
  const bytes = Buffer.from(password.normalize('NFKC'), 'utf8').subarray(0, MAX_PASSWORD);
  const { revision, owner, user, ownerKey, userKey } = entries;
  for (const [value, wrapped, more, asOwner] of [
    [user, userKey, EMPTY, false],
    [owner, ownerKey, user.subarray(0, 48), true],
  ] as const) {
    const hash = passwordHash(revision, bytes, value.subarray(32, 40), more);
    if (!hash.equals(value.subarray(0, 32))) continue;
    const wrapping = passwordHash(revision, bytes, value.subarray(40, 48), more);
    const decipher = createDecipheriv('aes-256-cbc', wrapping, Buffer.alloc(16)).setAutoPadding(false);
    return { key: decipher.update(wrapped.subarray(0, 32)), asOwner };
  }
  return undefined;
}

/**
 * Decrypts the permissions in /Perms (algorithm 13); undefined when its check bytes are wrong.
 * @param perms 16 bytes
 */
function encryptedPermissions(key: Buffer, perms: Buffer): number | undefined {
  if (perms.length !== 16) return undefined;
  const clear = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false).update(perms);
  return clear.toString('latin1', 9, 12) === 'adb' ? clear.readInt32LE(0) : undefined;
}

/** Computes the hash of algorithm 2.B; revision 5 stops after the first step. */
function passwordHash(revision: 5 | 6, password: Buffer, salt: Buffer, more: Buffer): Buffer {
  let key = createHash('sha256').update(password).update(salt).update(more).digest();
  if (revision === 5) return key;
  for (let round = 0, last = 0; round < 64 || last > round - 32; round++) {
    const once = Buffer.concat([password, key, more]);
    const block = Buffer.alloc(once.length * 64, once);
    const cipher = createCipheriv('aes-128-cbc', key.subarray(0, 16), key.subarray(16, 32));
    const mixed = cipher.setAutoPadding(false).update(block);
    // 256 mod 3 = 1, so the number modulo 3 equals the sum of its bytes modulo 3.
    const rest = mixed.subarray(0, 16).reduce((sum, byte) => sum + byte, 0) % 3;
    key = createHash((['sha256', 'sha384', 'sha512'] as const)[rest] ?? 'sha256')
      .update(mixed)
      .digest();
    last = mixed.at(-1) ?? 0;
  }
  return key.subarray(0, 32);
}

/** Resolves a value without decryption. */
type ResolveUnencrypted = (slice: ByteSlice | undefined) => ByteSlice;

/**
 * Returns undefined when the trailer has no /Encrypt, or null for it, which is the same (7.3.9).
 * @param password of the user or the owner; an empty one is tried after it
 * @throws {CryptoError} `pdf.encrypted` when another password, or another handler, is needed
 * @throws PdfSyntaxError when the encryption dictionary can't be used
 */
export function openEncryption(
  trailer: PdfDict,
  resolve: ResolveUnencrypted,
  password = '',
): Encryption | undefined {
  const written = trailer.get('Encrypt');
  if (written === undefined || isNull(written)) return undefined;
  const found = resolve(written);
  const dict = asDict(found);
  if (dict === undefined)
    throw new PdfSyntaxError('The encryption dictionary is not where the trailer says.');
  const [id] = items(resolve(trailer.get('ID')));
  const handler = new Handler(dict, resolve, password);
  return handler.open(asString(id && resolve(id)) ?? Buffer.alloc(0), asReference(written)?.number);
}

/** Methods by the name of a crypt filter (table 25). */
const METHODS: Readonly<Record<string, CryptMethod>> = { V2: 'rc4', AESV2: 'aes-128', AESV3: 'aes-256' };

class Handler {
  readonly #dict: PdfDict;
  readonly #resolve: ResolveUnencrypted;
  readonly #password: string;
  constructor(dict: PdfDict, resolve: ResolveUnencrypted, password: string) {
    this.#dict = dict;
    this.#resolve = resolve;
    this.#password = password;
  }

  open(id: Buffer, dictNumber: number | undefined): Encryption {
    const filter = this.#name('Filter');
    if (filter !== 'Standard') throw otherHandler(filter);
    const version = this.#integer('V') ?? 0;
    const revision = this.#integer('R') ?? 0;
    if (
      ![1, 2, 4, 5].includes(version) ||
      revision < 2 ||
      revision > 6 ||
      (version === 5) !== revision >= 5
    ) {
      throw new CryptoError(
        'pdf.encrypted',
        `The PDF is encrypted in a way that is not known here (V ${version}, R ${revision}).`,
      );
    }
    const methods = this.#methods(version);
    const encryptMetadata = version < 4 || this.#value('EncryptMetadata') !== 'false';
    const keyBy =
      revision >= 5
        ? this.#aes256KeyByPassword(revision === 5 ? 5 : 6)
        : this.#legacyKeyByPassword({
            version,
            revision: revision === 2 ? 2 : revision === 3 ? 3 : 4,
            id,
            encryptMetadata,
          });
    const found = keyBy(this.#password) ?? (this.#password === '' ? undefined : keyBy(''));
    const key = found ?? noKeyError(methods, this.#password !== '');
    return new Encryption({
      ...methods,
      key: key.key,
      encryptMetadata,
      permissions: this.#formPermissions(key, revision),
      dictNumber,
    });
  }

  #aes256KeyByPassword(revision: 5 | 6): (password: string) => FileKey | undefined {
    const entries = { revision, ...this.#aes256Entries() };
    return (password) => aes256FileKey(entries, password);
  }

  #legacyKeyByPassword(known: {
    readonly version: number;
    readonly revision: 2 | 3 | 4;
    readonly id: Buffer;
    readonly encryptMetadata: boolean;
  }): (password: string) => FileKey | undefined {
    const entries = {
      revision: known.revision,
      owner: this.#string('O'),
      user: this.#string('U'),
      permissions: this.#permissions(),
      id: known.id,
      encryptMetadata: known.encryptMetadata,
      lengths: this.#lengths(known.version),
    };
    return (password) => fileKey(entries, password);
  }

  #aes256Entries() {
    const entries = {
      owner: this.#string('O'),
      user: this.#string('U'),
      ownerKey: this.#string('OE'),
      userKey: this.#string('UE'),
    };
    const { owner, user, ownerKey, userKey } = entries;
    if (Math.min(owner.length, user.length) < 48 || Math.min(ownerKey.length, userKey.length) < 32) {
      throw new PdfSyntaxError('The encryption dictionary is incomplete.');
    }
    return entries;
  }

  /** Before version 4 there is one method for all data. */
  #methods(version: number) {
    const filters = new Map<string, CryptMethod>([['Identity', 'identity']]);
    if (version < 4) return { strings: 'rc4', streams: 'rc4', embeddedFiles: 'rc4', filters } as const;
    const described = asDict(this.#resolve(this.#dict.get('CF')));
    for (const entry of described?.entries ?? []) {
      const filter = described && asDict(this.#resolve(described.valueAt(entry)));
      const method = METHODS[asName(this.#resolve(filter?.get('CFM'))) ?? ''];
      if (described && method !== undefined) filters.set(described.keyOf(entry), method);
    }
    const byName = (key: string, otherwise: CryptMethod): CryptMethod => {
      const name = this.#name(key);
      if (name === undefined) return otherwise;
      return filters.get(name) ?? 'identity';
    };
    const streams = byName('StmF', 'identity');
    return {
      strings: byName('StrF', 'identity'),
      streams,
      embeddedFiles: byName('EFF', streams),
      filters,
    };
  }

  /** Version 4 does not define whose /Length counts, and writers differ in bits and bytes. */
  #lengths(version: number): readonly number[] {
    if (version === 1) return [5];
    const declared = (this.#integer('Length') ?? 40) / 8;
    const likely = version === 2 ? [declared, 16, 5] : [16, declared, 5];
    return [...new Set(likely)].filter((length) => Number.isInteger(length) && length >= 5 && length <= 16);
  }

  /** Prefers the encrypted permissions to those in /P. */
  #formPermissions({ key, asOwner }: FileKey, revision: number): FormPermissions {
    if (asOwner) return { fillFields: true, createFields: true };
    const encrypted = revision >= 5 ? encryptedPermissions(key, this.#string('Perms')) : undefined;
    return formPermissions(encrypted ?? this.#permissions(), revision);
  }

  /** /P is a signed number of 32 bits; some writers omit the sign. */
  #permissions(): number {
    return (this.#integer('P') ?? 0) | 0;
  }

  #value(key: string): string {
    const { bytes, start, end } = this.#resolve(this.#dict.get(key));
    return bytes.toString('latin1', start, end);
  }

  #name(key: string): string | undefined {
    return asName(this.#resolve(this.#dict.get(key)));
  }

  #integer(key: string): number | undefined {
    return asInteger(this.#resolve(this.#dict.get(key)));
  }

  #string(key: string): Buffer {
    return asString(this.#resolve(this.#dict.get(key))) ?? Buffer.alloc(0);
  }
}

/**
 * Table 22: bit 6 permits adding annotations and filling in fields and, together with bit 4, creating fields; bit 9
 * permits filling in fields on its own. Revision 2 has no bit 9 and does not require bit 4.
 */
function formPermissions(bits: number, revision: number): FormPermissions {
  const has = (bit: number): boolean => (bits & (1 << (bit - 1))) !== 0;
  if (revision === 2) return { fillFields: has(6), createFields: has(6) };
  return { fillFields: has(6) || has(9), createFields: has(4) && has(6) };
}

function noKeyError(
  { strings, streams }: { strings: CryptMethod; streams: CryptMethod },
  withPassword: boolean,
): FileKey {
  // Only embedded files are encrypted: the document itself is readable.
  if (strings === 'identity' && streams === 'identity') return { key: Buffer.alloc(32), asOwner: false };
  throw new CryptoError(
    'pdf.encrypted',
    withPassword
      ? 'The PDF is encrypted and the given password does not open it.'
      : 'The PDF is encrypted and needs a password to be opened.',
  );
}

function otherHandler(filter: string | undefined): CryptoError {
  const why =
    filter === 'Adobe.PubSec'
      ? 'for the holders of certain certificates, and only their keys open it'
      : `by the security handler ${filter ?? '(none)'}, which is not known here`;
  return new CryptoError('pdf.encrypted', `The PDF is encrypted ${why}.`);
}

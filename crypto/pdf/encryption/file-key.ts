/**
 * Derives the file encryption key from a password: standard security handler, revisions 2 to 4
 * (ISO 32000-2, 7.6.4.3 and 7.6.4.4, algorithms 2 to 7).
 */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { rc4 } from './crypt-method.ts';

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
export interface FileKey {
  readonly key: Buffer;
  readonly asOwner: boolean;
}

/** Padding of passwords to 32 bytes (algorithm 2); an empty password is padding only. */
const PASSWORD_PADDING = Buffer.from(
  '28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A',
  'hex',
);

/** Derives the key from a user or owner password; undefined for a wrong one. @param password @default empty */
export function fileKey(entries: PasswordEntries, password = ''): FileKey | undefined {
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
export function aes256FileKey(entries: Aes256PasswordEntries, password = ''): FileKey | undefined {
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
export function encryptedPermissions(key: Buffer, perms: Buffer): number | undefined {
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

/**
 * Derives the file encryption key from a password: standard security handler, revisions 2 to 4
 * (ISO 32000-2, 7.6.4.3 and 7.6.4.4, algorithms 2 to 7).
 */
import { createHash } from 'node:crypto';
import { rc4 } from './rc4.ts';

export interface PasswordEntries {
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

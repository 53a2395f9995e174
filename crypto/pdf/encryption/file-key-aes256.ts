/**
 * Derives the file encryption key from a password: standard security handler, revisions 5 and 6
 * (ISO 32000-2, 7.6.4.3.3 and 7.6.4.3.4, algorithms 2.A, 2.B, 11 to 13; revision 5 is Adobe's supplement to
 * ISO 32000-1, extension level 3).
 */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { FileKey } from './file-key.ts';

export interface Aes256PasswordEntries {
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

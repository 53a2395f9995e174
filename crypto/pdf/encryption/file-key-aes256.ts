/**
 * The key of a file whose password is empty: standard security handler, revisions 5 and 6
 * (ISO 32000-2, 7.6.4.3.3 and 7.6.4.3.4, algorithms 2.A, 2.B, 11 to 13; revision 5 is Adobe's supplement to
 * ISO 32000-1, extension level 3).
 */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { FileKey } from './file-key.ts';

export interface NewPasswordEntries {
  readonly revision: 5 | 6;
  /** /O and /U: a hash of 32 bytes, eight that validate, eight for the key. */
  readonly owner: Buffer;
  readonly user: Buffer;
  /** /OE and /UE: the file's key under each password, 32 bytes. */
  readonly ownerKey: Buffer;
  readonly userKey: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** The key an empty user password gives, or an empty owner password; undefined when neither is right. */
export function newFileKey(entries: NewPasswordEntries): FileKey | undefined {
  const { revision, owner, user, ownerKey, userKey } = entries;
  for (const [value, wrapped, more, asOwner] of [
    [user, userKey, NOTHING, false],
    [owner, ownerKey, user.subarray(0, 48), true],
  ] as const) {
    const hash = passwordHash(revision, value.subarray(32, 40), more);
    if (!hash.equals(value.subarray(0, 32))) continue;
    const wrapping = passwordHash(revision, value.subarray(40, 48), more);
    const decipher = createDecipheriv('aes-256-cbc', wrapping, Buffer.alloc(16)).setAutoPadding(false);
    return { key: decipher.update(wrapped.subarray(0, 32)), asOwner };
  }
  return undefined;
}

/**
 * /P as the holder of the key wrote it, out of /Perms (algorithm 13); undefined when that holds something else.
 * @param perms 16 bytes
 */
export function sealedPermissions(key: Buffer, perms: Buffer): number | undefined {
  if (perms.length !== 16) return undefined;
  const clear = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false).update(perms);
  return clear.toString('latin1', 9, 12) === 'adb' ? clear.readInt32LE(0) : undefined;
}

/** Algorithm 2.B for an empty password; revision 5 stops after the first step. */
function passwordHash(revision: 5 | 6, salt: Buffer, more: Buffer): Buffer {
  let key = createHash('sha256').update(salt).update(more).digest();
  if (revision === 5) return key;
  for (let round = 0, last = 0; round < 64 || last > round - 32; round++) {
    const once = Buffer.concat([key, more]);
    const block = Buffer.alloc(once.length * 64, once);
    const cipher = createCipheriv('aes-128-cbc', key.subarray(0, 16), key.subarray(16, 32));
    const mixed = cipher.setAutoPadding(false).update(block);
    // 256 leaves 1 when divided by 3, so the sum of the bytes leaves what their number does.
    const rest = mixed.subarray(0, 16).reduce((sum, byte) => sum + byte, 0) % 3;
    key = createHash((['sha256', 'sha384', 'sha512'] as const)[rest] ?? 'sha256')
      .update(mixed)
      .digest();
    last = mixed.at(-1) ?? 0;
  }
  return key.subarray(0, 32);
}

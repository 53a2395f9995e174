/**
 * The key of a file whose password is empty: standard security handler, revisions 2 to 4
 * (ISO 32000-2, 7.6.4.3 and 7.6.4.4, algorithms 2 to 7).
 */
import { createHash } from 'node:crypto';
import { rc4 } from './rc4.ts';

export interface OldPasswordEntries {
  readonly revision: 2 | 3 | 4;
  /** /O and /U. */
  readonly owner: Buffer;
  readonly user: Buffer;
  /** /P, 32 bits. */
  readonly permissions: number;
  /** First part of the file identifier; empty when there is none. */
  readonly id: Buffer;
  readonly encryptMetadata: boolean;
  /** Lengths of the key that are possible, bytes, the likeliest first: the password entries tell which is right. */
  readonly lengths: readonly number[];
}

/** What opens a file, and whether as its owner, whom permissions don't bind. */
export interface FileKey {
  readonly key: Buffer;
  readonly asOwner: boolean;
}

/** What fills passwords up to 32 bytes; all of it for an empty one. */
const FILL = Buffer.from('28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A', 'hex');

/** The key an empty user password gives, or an empty owner password; undefined when neither is right. */
export function oldFileKey(entries: OldPasswordEntries): FileKey | undefined {
  for (const length of entries.lengths) {
    const key = keyFor(entries, FILL, length);
    if (fits(entries, key)) return { key, asOwner: false };
  }
  for (const length of entries.lengths) {
    const key = keyFor(entries, userPasswordOf(entries, length), length);
    if (fits(entries, key)) return { key, asOwner: true };
  }
  return undefined;
}

const md5 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('md5');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** Algorithm 2. */
function keyFor(entries: OldPasswordEntries, password: Buffer, length: number): Buffer {
  const { revision, owner, permissions, id, encryptMetadata } = entries;
  const bits = Buffer.alloc(4);
  bits.writeInt32LE(permissions);
  const metadata = Buffer.alloc(revision >= 4 && !encryptMetadata ? 4 : 0, 0xff);
  let digest = md5(password, owner.subarray(0, 32), bits, id, metadata);
  if (revision >= 3) for (let round = 0; round < 50; round++) digest = md5(digest.subarray(0, length));
  return digest.subarray(0, length);
}

/** Algorithms 4 and 5, compared with /U. */
function fits({ revision, user, id }: OldPasswordEntries, key: Buffer): boolean {
  if (revision === 2) return rc4(key, FILL).equals(user.subarray(0, 32));
  let value = md5(FILL, id);
  for (let round = 0; round < 20; round++) value = rc4(turned(key, round), value);
  return value.equals(user.subarray(0, 16));
}

/** Algorithm 7: what /O hides from those who don't know the owner password, here for an empty one. */
function userPasswordOf({ revision, owner }: OldPasswordEntries, length: number): Buffer {
  let digest = md5(FILL);
  if (revision >= 3) for (let round = 0; round < 50; round++) digest = md5(digest);
  const key = digest.subarray(0, length);
  let password: Buffer = owner.subarray(0, 32);
  for (let round = revision === 2 ? 0 : 19; round >= 0; round--) password = rc4(turned(key, round), password);
  return password;
}

function turned(key: Buffer, round: number): Buffer {
  return round === 0 ? key : (key.map((byte) => byte ^ round) as Buffer);
}

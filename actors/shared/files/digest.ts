/** SHA-256 of a file, read in chunks. Synchronous: pool threads only. */
import { createHash } from 'node:crypto';
import { closeSync, constants, openSync, readSync } from 'node:fs';

/**
 * One buffer for all files of a thread. A new one for each file counts as memory outside the heap, and V8 collected the
 * whole heap of a pool thread every 20 small files.
 */
const CHUNK = Buffer.allocUnsafeSlow(1 << 18);

/** Digest of the first `length` bytes, or of all when the file is shorter. */
export function prefixDigest(path: string, length: number): string {
  return digestOf(path, length);
}

/** Lower-case hex. Refuses a symbolic link (ELOOP); does not block on a named pipe. */
export function fileDigest(path: string): string {
  return digestOf(path, Number.POSITIVE_INFINITY);
}

/** Digests of files concatenated in one file. */
export function filesDigests(
  path: string,
  files: readonly { readonly name: string; readonly length: number }[],
): readonly { readonly name: string; readonly sha256: string; readonly length: number }[] {
  let start = 0;
  return files.map(({ name, length }) => {
    const sha256 = digestOf(path, length, start);
    start += length;
    return { name, sha256, length };
  });
}

function digestOf(path: string, length: number, start = 0): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const hash = createHash('sha256');
    for (let left = length; left > 0; ) {
      // Without a length, reads from the descriptor's position.
      const at = length === Number.POSITIVE_INFINITY ? null : start + length - left;
      const read = readSync(fd, CHUNK, 0, Math.min(CHUNK.length, left), at);
      if (read === 0) break;
      hash.update(CHUNK.subarray(0, read));
      left -= read;
    }
    return hash.digest('hex');
  } finally {
    closeSync(fd);
  }
}

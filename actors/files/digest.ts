/** SHA-256 of a file, read in pieces. Synchronous: pool threads only. */
import { createHash } from 'node:crypto';
import { closeSync, constants, openSync, readSync } from 'node:fs';

const PIECE = 1 << 20;

/** Of the first `length` bytes, as `fileDigest`; of fewer when the file is shorter. */
export function beginningDigest(path: string, length: number): string {
  return digestOf(path, length);
}

/** Lower-case hex. A symbolic link is refused (ELOOP), a named pipe is not waited for. */
export function fileDigest(path: string): string {
  return digestOf(path, Number.POSITIVE_INFINITY);
}

function digestOf(path: string, length: number): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafe(PIECE);
    for (let left = length; left > 0; ) {
      const read = readSync(fd, piece, 0, Math.min(PIECE, left), null);
      if (read === 0) break;
      hash.update(piece.subarray(0, read));
      left -= read;
    }
    return hash.digest('hex');
  } finally {
    closeSync(fd);
  }
}

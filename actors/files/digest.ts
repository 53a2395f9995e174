/** SHA-256 of a file, read in pieces. Synchronous: pool threads only. */
import { createHash } from 'node:crypto';
import { closeSync, constants, openSync, readSync } from 'node:fs';

const PIECE = 1 << 20;

/** Lower-case hex. A symbolic link is refused (ELOOP), a named pipe is not waited for. */
export function fileDigest(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafe(PIECE);
    for (let read = readSync(fd, piece); read > 0; read = readSync(fd, piece))
      hash.update(piece.subarray(0, read));
    return hash.digest('hex');
  } finally {
    closeSync(fd);
  }
}

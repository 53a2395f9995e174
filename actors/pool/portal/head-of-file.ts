/** The beginning of a file, by which its format is known. */
import { closeSync, openSync, readSync } from 'node:fs';

/** A PDF's header stands somewhere in its first kilobyte. */
const HEAD = 1024;

export function headOfFile(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(HEAD);
    return head.subarray(0, readSync(file, head, 0, HEAD, 0));
  } finally {
    closeSync(file);
  }
}

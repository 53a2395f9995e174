/** First bytes of a file, for format detection. */
import { closeSync, openSync, readSync } from 'node:fs';

/** The header of a PDF is within its first kilobyte. */
const HEADER_BYTES = 1024;

export function fileHeader(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(HEADER_BYTES);
    return head.subarray(0, readSync(file, head, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

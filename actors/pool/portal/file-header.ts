/** First bytes of a file, for format detection. */
import { closeSync, openSync, readSync } from 'node:fs';
import { HEADER_BYTES } from '@sealwright/signatures';

export function fileHeader(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(HEADER_BYTES);
    return head.subarray(0, readSync(file, head, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

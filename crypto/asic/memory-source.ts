import { type Source, WHOLE_LIMIT } from '../files/source.ts';

/** Bytes in memory, read as a file of that name. */
export function memorySource(path: string, bytes: Buffer): Source {
  return {
    path,
    size: bytes.length,
    mtimeMs: 0,
    inode: '',
    read: (offset, length) => bytes.subarray(Math.max(offset, 0), Math.max(offset, 0) + Math.max(length, 0)),
    *chunks(from = 0, to = bytes.length) {
      const end = Math.min(to, bytes.length);
      for (let at = from; at < end; at += WHOLE_LIMIT) {
        yield bytes.subarray(at, Math.min(at + WHOLE_LIMIT, end));
      }
    },
    assertUnchanged: () => {},
    close: () => {},
  };
}

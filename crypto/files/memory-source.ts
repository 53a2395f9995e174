import { IN_MEMORY_BYTES, type Source } from '../files/source.ts';

/** Creates a source over bytes in memory, under a file name. */
export function memorySource(path: string, bytes: Buffer): Source {
  return {
    path,
    size: bytes.length,
    mtimeMs: 0,
    inode: '',
    read: (offset, length) => bytes.subarray(Math.max(offset, 0), Math.max(offset, 0) + Math.max(length, 0)),
    *chunks(from = 0, to = bytes.length) {
      const end = Math.min(to, bytes.length);
      for (let at = from; at < end; at += IN_MEMORY_BYTES) {
        yield bytes.subarray(at, Math.min(at + IN_MEMORY_BYTES, end));
      }
    },
    assertUnchanged: () => {},
    close: () => {},
  };
}

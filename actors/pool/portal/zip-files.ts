/** Writes files into a ZIP file. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { ZipWriter } from '@sealwright/signatures';
import type { PortalResults, ZipTask } from '../portal-tasks.ts';

const PIECE_BYTES = 1024 * 1024;

/** Stores the members as they are: signed PDFs and signatures hardly shrink. */
export function zipFiles({ members, at, output }: ZipTask): PortalResults['portal.zip'] {
  const file = openSync(output, 'wx');
  try {
    const writer = new ZipWriter(
      {
        write(...parts) {
          for (const part of parts)
            for (let done = 0; done < part.length; ) done += writeSync(file, part, done);
        },
      },
      at,
    );
    for (const { name, path } of members) {
      let size = 0;
      let checksum = 0;
      for (const piece of piecesOf(path)) {
        size += piece.length;
        checksum = crc32(piece, checksum);
      }
      writer.add({ name, size, crc32: checksum }, piecesOf(path));
    }
    writer.finish();
    return { members: members.length };
  } finally {
    closeSync(file);
  }
}

/** Pieces in one buffer: each is valid until the next is read. */
function* piecesOf(path: string): Generator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const length = readSync(file, buffer, 0, buffer.length, null);
      if (length === 0) return;
      yield buffer.subarray(0, length);
    }
  } finally {
    closeSync(file);
  }
}

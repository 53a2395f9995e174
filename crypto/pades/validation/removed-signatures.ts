/**
 * Finds signatures that an earlier revision has and the newest one does not: somebody took them out, and nobody checks
 * what they covered. They are found by their byte range, as by readers without a parser.
 */
import type { Finding } from '../../core/finding.ts';
import type { ByteSource } from '../../pdf/index.ts';
import type { FoundSignature } from '../fields/signatures.ts';

const CHUNK_BYTES = 1 << 20;
/** Longest entry that is read, bytes. */
const ENTRY_BYTES = 256;
const KEY = '/ByteRange';
const RANGE = /^\/ByteRange\s*\[\s*0\s+(\d{1,15})\s+(\d{1,15})\s+(\d{1,15})\s*\]/;
/** Most offsets in the message. */
const MAX_LISTED = 5;

export function removedSignatures(source: ByteSource, found: readonly FoundSignature[]): readonly Finding[] {
  const known = new Set<number>();
  for (const { dict } of found) {
    const contents = dict.get('Contents');
    if (contents !== undefined) known.add(contents.at + contents.start);
  }
  const removed = new Set<number>();
  for (let at = 0; at < source.size; at += CHUNK_BYTES) {
    const bytes = source.read(at, Math.min(CHUNK_BYTES + ENTRY_BYTES, source.size - at));
    for (let index = bytes.indexOf(KEY); index >= 0; index = bytes.indexOf(KEY, index + 1)) {
      if (index >= CHUNK_BYTES) break;
      const [, start, end, rest] = RANGE.exec(bytes.toString('latin1', index, index + ENTRY_BYTES)) ?? [];
      if (known.has(Number(start))) continue;
      if (isPlaceholder(source, Number(start), Number(end), Number(rest))) removed.add(Number(start));
    }
  }
  if (removed.size === 0) return [];
  return [
    {
      status: 'warning',
      type: 'pdf.removed-signature',
      message:
        removed.size === 1
          ? 'An earlier revision has a signature that was taken out of the document: it is not checked.'
          : `Earlier revisions have ${removed.size} signatures that were taken out of the document: they are not checked.`,
      detail: `at offset ${[...removed].slice(0, MAX_LISTED).join(', ')}`,
    },
  ];
}

/** True where the byte range leaves out exactly one hexadecimal string, as that of a real signature does. */
function isPlaceholder(source: ByteSource, start: number, end: number, rest: number): boolean {
  if (!(start < end && end + rest <= source.size)) return false;
  return source.read(start, 1)[0] === 0x3c && source.read(end - 1, 1)[0] === 0x3e;
}

/**
 * Leaves of the history on PostgreSQL, where each row of a table costs a header and an entry of its index: those that
 * follow each other are one row under the key of the last of them, `#`, their number, `:` and the Base64 of their lines,
 * compressed. Leaves are put once, and never replaced or removed.
 *
 * Source: docs/decisions/0295-ended-actors-are-packed.md.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { LEAVES_VIEW } from '../../history/checkpoint.ts';
import { Fatal } from '../../model/failures.ts';

/** The view whose rows may be in blocks. */
export const BLOCKED_VIEW = LEAVES_VIEW;

/** Rows of a block: 1.5 KB with random ids, so that a page of 8 KB has five. */
export const BLOCK_ROWS = 22;

/** Longer ones become rows of their own. */
const MAX_LENGTH = 1000;

/** In SQL, how many rows a value has; null for one that was changed from outside. */
export const COUNT_IN_BLOCK = `CASE WHEN value LIKE '#%' THEN substring(value, '^#([0-9]{1,9}):')::bigint ELSE 1 END`;

type Parts = readonly (string | number)[];

/** Key, the view first, and JSON. */
export interface KeyedText {
  readonly key: Parts;
  readonly value: string;
}

/** Puts rows into blocks that follow each other; the others stay as they are. */
export function inBlocks(rows: readonly KeyedText[]): readonly KeyedText[] {
  const made: KeyedText[] = [];
  let open: KeyedText[] = [];
  const close = () => {
    const last = open.at(-1);
    if (last !== undefined)
      made.push(open.length === 1 ? last : { key: last.key, value: blockText(open.map((row) => row.value)) });
    open = [];
  };
  for (const row of rows) {
    const before = open.at(-1);
    if (before === undefined || open.length === BLOCK_ROWS || !follows(before.key, row.key)) close();
    if (row.key[0] === BLOCKED_VIEW && row.value.length <= MAX_LENGTH) open.push(row);
    else {
      close();
      made.push(row);
    }
  }
  close();
  return made;
}

/** The rows of a stored value. Throws `store.damaged`. */
export function rowsOfBlock(key: Parts, value: string): readonly KeyedText[] {
  if (!value.startsWith('#')) return [{ key, value }];
  const end = value.indexOf(':');
  const last = key.at(-1);
  let lines: readonly string[] = [];
  try {
    const maxOutputLength = 3 * BLOCK_ROWS * (MAX_LENGTH + 1);
    const bytes = Buffer.from(value.slice(end + 1), 'base64');
    lines = inflateRawSync(bytes, { maxOutputLength }).toString().split('\n');
  } catch {}
  // No block is empty: it would hide its rows.
  if (typeof last !== 'number' || lines.length === 0 || lines.length !== Number(value.slice(1, end)))
    throw new Fatal(
      'store.damaged',
      'The store holds a block of rows that cannot be read: it was changed from outside. Restore the last backup (docs/operations.md).',
    );
  const first = last - lines.length + 1;
  return lines.map((line, at) => ({ key: [...key.slice(0, -1), first + at], value: line }));
}

function blockText(lines: readonly string[]): string {
  return `#${lines.length}:${deflateRawSync(lines.join('\n'), { level: 9 }).toString('base64')}`;
}

function follows(before: Parts, key: Parts): boolean {
  const last = before.at(-1);
  const next = key.at(-1);
  return (
    typeof last === 'number' &&
    Number.isSafeInteger(last) &&
    next === last + 1 &&
    key.length === before.length &&
    before.slice(0, -1).every((part, at) => part === key[at])
  );
}

/**
 * Reads pages of a database file, as the newest transaction has left them, while a read transaction keeps them from being
 * used again.
 *
 * Source: `mdb.c` of lmdb 3.5.6, struct MDB_page.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { bufferToKeyValue, type RootDatabase } from 'lmdb';
import { HEADER, isNamed, NODE_BYTES, newestHead, type Tree, tree, u64 } from './lmdb-check.ts';
import { type Key, partsOf } from './lmdb-tables.ts';

declare module 'lmdb' {
  /** Exported, but not among the declared names. */
  function bufferToKeyValue(bytes: Uint8Array): (string | number)[];
}

/** Calls `read` with the pages of the newest transaction. The store must stay open until it resolves. */
export async function withPages<Found>(
  root: RootDatabase<string, Key>,
  folder: string,
  read: (pages: Pages) => Promise<Found>,
): Promise<Found> {
  // No page that it sees, or a newer one does, is used again before its end.
  const reading = root.useReadTransaction();
  const file = openSync(join(folder, 'data.mdb'), 'r');
  try {
    return await read(new Pages(file));
  } finally {
    closeSync(file);
    reading.done();
  }
}

export class Pages {
  readonly size: number;
  readonly #file: number;
  readonly #main: Tree;

  constructor(file: number) {
    const { pageSize, main } = newestHead(file);
    this.size = pageSize;
    this.#file = file;
    this.#main = main;
  }

  read(number: number): Buffer {
    const page = Buffer.allocUnsafe(this.size);
    if (readSync(this.#file, page, 0, this.size, number * this.size) < this.size)
      throw new RangeError(`Page ${number} is missing.`);
    return page;
  }

  /** Number of the newest transaction that has changed anything. */
  get transaction(): number {
    return transactionOf(this.read(this.#main.root));
  }

  /** Undefined for a database that was never written. */
  treeNamed(name: string, { root, depth } = this.#main): Tree | undefined {
    const page = this.read(root);
    for (const node of nodesOf(page)) {
      if (depth > 1) {
        const found = this.treeNamed(name, { root: page.readUIntLE(node, 6), depth: depth - 1 });
        if (found !== undefined) return found;
      } else if (isNamed(name, keyBytes(page, node)))
        return tree(page, node + NODE_BYTES + page.readUInt16LE(node + 6));
    }
    return undefined;
  }
}

/** Number of the transaction that wrote a page. */
export function transactionOf(page: Buffer): number {
  return u64(page, 8);
}

/** Offsets of the entries of a page. */
export function nodesOf(page: Buffer): readonly number[] {
  const nodes: number[] = [];
  const lower = page.readUInt16LE(20);
  for (let at = HEADER; at < HEADER + lower; at += 2) nodes.push(HEADER + page.readUInt16LE(at));
  return nodes;
}

function keyBytes(page: Buffer, node: number): Buffer {
  return page.subarray(node + NODE_BYTES, node + NODE_BYTES + page.readUInt16LE(node + 6));
}

export function keyAt(page: Buffer, node: number): Key {
  return partsOf(bufferToKeyValue(keyBytes(page, node)));
}

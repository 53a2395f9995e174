/**
 * Merkle tree hashes and audit paths. Hashes are lower-case hex SHA-256.
 *
 * Source: RFC 6962 §2.1.
 */
import { createHash } from 'node:crypto';

/** Prefixes that keep leaves and inner nodes apart. */
const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

/** @param content UTF-8 text of the leaf */
export function leafHash(content: string): string {
  return createHash('sha256').update(LEAF).update(content).digest('hex');
}

function nodeHash(left: string, right: string): string {
  return createHash('sha256').update(NODE).update(left, 'hex').update(right, 'hex').digest('hex');
}

/** Returns the tree's levels from the leaves up to the root. The last node of an odd level moves up unchanged. */
function levelsOf(leaves: readonly string[]): string[][] {
  const levels = [[...leaves]];
  for (let level = levels[0] ?? []; level.length > 1; level = levels.at(-1) ?? []) {
    const above: string[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const [left = '', right] = level.slice(at, at + 2);
      above.push(right === undefined ? left : nodeHash(left, right));
    }
    levels.push(above);
  }
  return levels;
}

/** Computes the root over hashes of leaves; of no leaves, the hash of the empty string. */
export function merkleRoot(leaves: readonly string[]): string {
  return levelsOf(leaves).at(-1)?.[0] ?? createHash('sha256').digest('hex');
}

/** Returns the siblings on the path from a leaf to the root, nearest first. */
export function auditPath(leaves: readonly string[], index: number): string[] {
  const path: string[] = [];
  let at = index;
  for (const level of levelsOf(leaves)) {
    const sibling = level[at ^ 1];
    if (level.length > 1 && sibling !== undefined) path.push(sibling);
    at >>= 1;
  }
  return path;
}

/** Computes the root from a leaf and its audit path; undefined when the path does not fit the size of the tree. */
export function rootFromPath(
  leaf: string,
  index: number,
  size: number,
  path: readonly string[],
): string | undefined {
  let result = leaf;
  let at = index;
  let next = 0;
  for (let width = size; width > 1; width = (width + 1) >> 1) {
    const hasSibling = (at ^ 1) < width;
    const sibling = path[next];
    if (hasSibling && sibling === undefined) return undefined;
    if (hasSibling && sibling !== undefined) {
      result = at % 2 === 0 ? nodeHash(result, sibling) : nodeHash(sibling, result);
      next += 1;
    }
    at >>= 1;
  }
  return next === path.length ? result : undefined;
}

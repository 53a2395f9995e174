/** Suggests the closest known name. */

/**
 * Returns the candidate with the smallest edit distance, compared without case; undefined when none is close enough to
 * be a likely typing error (a third of its letters).
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const changes = distance(name.toLowerCase(), candidate.toLowerCase());
    if (changes < fewest && changes <= Math.max(2, candidate.length / 3)) {
      best = candidate;
      fewest = changes;
    }
  }
  return best;
}

/** Computes the edit distance: letters inserted, removed, replaced, or swapped with the next one. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}

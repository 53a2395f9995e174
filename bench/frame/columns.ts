/** Formatting of figures and tables. */

export function percent(share: number): string {
  const value = share * 100;
  return `${Math.abs(value) < 10 ? Number(value.toPrecision(2)) : Math.round(value)} %`;
}

/** Aligns columns: the first one left, the others as given; empty columns are left out. */
export function columns(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  left: readonly string[] = [],
): string {
  const kept = head.map((_, at) => at).filter((at) => at === 0 || rows.some((row) => (row[at] ?? '') !== ''));
  const all = [head, ...rows];
  const widths = kept.map((at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  const line = (row: readonly string[]) =>
    kept
      .map((at, place) => {
        const text = row[at] ?? '';
        const width = widths[place] ?? 0;
        return at === 0 || left.includes(head[at] ?? '') ? text.padEnd(width) : text.padStart(width);
      })
      .join('  ')
      .trimEnd();
  return `${all.map(line).join('\n')}\n`;
}

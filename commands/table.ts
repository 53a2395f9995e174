/** Tables as people read them. */
import { escapeControls } from '../logging.ts';

/** Columns as wide as their widest cell; control characters made visible. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const clean = [head, ...rows].map((row) => row.map(escapeControls));
  const widths = head.map((_, at) => Math.max(...clean.map((row) => (row[at] ?? '').length)));
  const lines = clean.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

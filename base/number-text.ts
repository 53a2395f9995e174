/** Formats with at most four digits: `1,409`, `83.5`, `0.0417`. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(Math.abs(value) >= 100 ? 4 : 3)));
}

/** Keys of lists: `j` and `k` go from row to row, `x` selects. They act inside a table alone: elsewhere they are letters. */
import { findElement } from '../dom.ts';

const STEPS: ReadonlyMap<string, number> = new Map([
  ['j', 1],
  ['k', -1],
]);

export function startListKeys(): void {
  document.addEventListener('keydown', (event) => {
    const { target, key } = event;
    if (!(target instanceof Element) || event.ctrlKey || event.metaKey || event.altKey) return;
    const table = target.closest('main .scroll');
    if (table === null || target.closest('input:not([type="checkbox"]), select, textarea') !== null) return;
    const rows = [...table.querySelectorAll('tbody tr')].filter((row) => row.querySelector('a') !== null);
    const at = rows.findIndex((row) => row.contains(target));
    const step = STEPS.get(key);
    if (step !== undefined) {
      const next = at === -1 ? (step > 0 ? 0 : rows.length - 1) : at + step;
      rows[next]?.querySelector('a')?.focus();
    } else if (key === 'x' && rows[at] !== undefined) {
      findElement('input[type="checkbox"]', HTMLInputElement, rows[at])?.click();
    } else {
      return;
    }
    event.preventDefault();
  });
}

/** Short messages about what was done. */
import { createElement, delay, requireElement } from '../../dom.ts';

const SHOWN_MS = 6_000;

export function note(text: string, tone: 'good' | 'bad' = 'good'): void {
  const shown = createElement('p', { class: `toast ${tone}` }, text);
  requireElement('#toasts').append(shown);
  delay(SHOWN_MS, () => shown.remove());
}

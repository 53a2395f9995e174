/** Positions of initials on every page: the lower right corner. */

import type { PlacedMark, SigningData } from '../../pages/portal/page-data.ts';
import { createElement } from '../dom.ts';

/** Size of a page as displayed, PDF points. */
export interface PageSize {
  readonly width: number;
  readonly height: number;
}

const WIDTH = 60;
const HEIGHT = 24;
const MARGIN = 12;

/** Returns the positions; none when initials are not requested or were placed before. */
export async function initialsPlaces(
  { initialsMode, marks }: Pick<SigningData, 'initialsMode' | 'marks'>,
  checkbox: HTMLInputElement | undefined,
  pageSizes: () => Promise<readonly PageSize[]>,
): Promise<readonly PlacedMark[]> {
  if (initialsMode === 'None' || marks.some(({ type }) => type === 'SignatureInitials')) return [];
  if (initialsMode === 'Optional' && checkbox?.checked !== true) return [];
  return (await pageSizes()).map(({ width, height }, index) => ({
    type: 'SignatureInitials',
    topLeftX: Math.max(0, width - WIDTH - MARGIN),
    topLeftY: Math.max(0, height - HEIGHT - MARGIN),
    width: Math.min(WIDTH, width),
    height: Math.min(HEIGHT, height),
    pageNumber: index + 1,
  }));
}

/** First letters of the first and last names, four at most, as the service draws them. */
export function initialsOf(name: string): string {
  const letters = name
    .trim()
    .split(/\s+/)
    .flatMap((word) => [...word].slice(0, 1));
  return (letters.length <= 4 ? letters : [...letters.slice(0, 3), ...letters.slice(-1)])
    .join('')
    .toUpperCase();
}

/**
 * Shows the initials of the typed name where they will be: at their places, or on every page if the participant puts them
 * there.
 */
export function startInitialsPreview(
  { initialsMode, marks }: Pick<SigningData, 'initialsMode' | 'marks'>,
  name: HTMLInputElement,
  checkbox: HTMLInputElement | undefined,
): void {
  const isPlaced = marks.some(({ type }) => type === 'SignatureInitials');
  const show = () => {
    const initials = initialsOf(name.value);
    for (const mark of document.querySelectorAll('.page [data-mark="SignatureInitials"]')) {
      mark.toggleAttribute('data-value', initials !== '');
      const label = mark.firstElementChild;
      if (label !== null) label.textContent = initials || mark.getAttribute('aria-label');
    }
    if (isPlaced || initialsMode === 'None') return;
    const isWanted = initialsMode === 'Required' || checkbox?.checked === true;
    for (const page of document.querySelectorAll('.page')) {
      const shown = page.querySelector('.initials') ?? createElement('span', { class: 'mark initials' });
      shown.textContent = initials;
      if (isWanted) page.append(shown);
      else shown.remove();
    }
  };
  name.addEventListener('input', show);
  checkbox?.addEventListener('change', show);
  document.addEventListener('marks-shown', show);
  show();
}

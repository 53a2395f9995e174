/** Where initials go when a participant puts them on every page: the lower right corner. */
import type { Part } from './dom.ts';
import type { PlacedMark, SigningData } from './page-data.ts';

/** Of a page as it is shown, in PDF points. */
export interface PageSize {
  readonly width: number;
  readonly height: number;
}

const WIDTH = 60;
const HEIGHT = 24;
const MARGIN = 12;

/** The places, none when initials are not asked for or were placed beforehand. */
export async function initialsOn(
  { initialsMode, marks }: Pick<SigningData, 'initialsMode' | 'marks'>,
  wanted: Part | undefined,
  pageSizes: () => Promise<readonly PageSize[]>,
): Promise<readonly PlacedMark[]> {
  if (initialsMode === 'None' || marks.some(({ type }) => type === 'SignatureInitials')) return [];
  if (initialsMode === 'Optional' && wanted?.checked !== true) return [];
  return (await pageSizes()).map(({ width, height }, index) => ({
    type: 'SignatureInitials',
    topLeftX: Math.max(0, width - WIDTH - MARGIN),
    topLeftY: Math.max(0, height - HEIGHT - MARGIN),
    width: Math.min(WIDTH, width),
    height: Math.min(HEIGHT, height),
    pageNumber: index + 1,
  }));
}

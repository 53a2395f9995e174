/** Reading: what of a document the page has shown to a participant before the action. Source: docs/decisions/0320-signed-as-read.md. */
import { z } from 'zod';
import { maybeFlag, members, shown, wholeFrom } from '../../fields.ts';

/** Characters of the list of pages. */
const MAX_PAGES_TEXT = 2_000;
/** Ascending ranges: `1-3,5`. */
const RANGES = /^(?:\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*)?$/;

/** Stored with the evidence of the action. */
export interface Reading {
  /** Pages that were drawn in the window, as ascending ranges: `1-3,5`; a picture or a text is one page. */
  readonly pages: string;
  /** 0 = the page cannot show the file. */
  readonly pageCount: number;
  readonly isDownloaded: boolean;
  /** The participant ticked "I have read the document". */
  readonly isDeclared: boolean;
}

export const reading = members({
  pages: shown(
    z.string().max(MAX_PAGES_TEXT).regex(RANGES),
    'Pages that were drawn in the window, as ranges. Empty: none. A picture or a text is one page.',
    '1-3,5',
  ),
  pageCount: shown(wholeFrom(0, 999_999), 'Pages of the document; 0: it cannot be shown.', 5),
  downloaded: maybeFlag.describe('Whether the participant downloaded the file from the page. Default false.'),
  declared: maybeFlag.describe('Whether the participant declared to have read the document. Default false.'),
})
  .refine(({ pages, pageCount }) => isAscending(pages, pageCount), {
    message: 'must be ascending ranges of pages of the document',
  })
  .nullish()
  .transform((given): Reading | undefined => {
    if (!given) return undefined;
    const { pages, pageCount, downloaded, declared } = given;
    return { pages, pageCount, isDownloaded: downloaded ?? false, isDeclared: declared ?? false };
  })
  .meta({
    description:
      'How the page showed the document before the action; it becomes part of the evidence. It is what the browser of the participant says: nothing proves it. Absent: nothing is recorded.',
  });

function isAscending(pages: string, pageCount: number): boolean {
  let before = 0;
  for (const range of pages === '' ? [] : pages.split(',')) {
    const [from = 0, to = from] = range.split('-').map(Number);
    if (from <= before || to < from || to > pageCount) return false;
    before = to;
  }
  return true;
}

/** Tells whether a reading is enough where the document requires one: all pages were shown, or the file was downloaded and declared read. */
export function isRead(reading: Reading | undefined): boolean {
  if (reading === undefined) return false;
  const { pages, pageCount, isDownloaded, isDeclared } = reading;
  if (isDownloaded && isDeclared) return true;
  return pageCount > 0 && pages === (pageCount === 1 ? '1' : `1-${pageCount}`);
}

/**
 * Options in the address of a page. Invalid values count as absent, because the person who opens the page cannot
 * correct them.
 *
 * Source: docs/portal-values.md §9, query parameters; §1 rows 5 to 7.
 */
import { z } from 'zod';
import { LANGUAGES } from '../../../contracts/portal/words.ts';
import type { Theme } from '../../../web/pages/portal/page-frame.tsx';
import type { SigningPageOptions } from '../../../web/pages/portal/signing-options.ts';

const language = z
  .string()
  .optional()
  .describe(`${LANGUAGES.map((one) => `\`${one}\``).join(', ')}; otherwise what the browser prefers.`);
const theme = z.string().optional().describe('`light` or `dark`; otherwise that of the system.');

/** Options of read-only pages. */
export const plainQuery = z.object({ culture: language, theme });

export const ticketQuery = z.object({ ticket: z.string().optional() });

/** Options of the signing page. */
export const signingQuery = ticketQuery.extend({
  notify: z.string().optional().describe('`true`: notices are sent after signing; embedded page only.'),
  page: z.string().optional().describe('Page to begin at, from 1; -1 = the last.'),
  scale: z.string().optional().describe('`PageWidth` 50 75 100 125 150 200 300.'),
  preview: z.string().optional().describe('`true` hides the document.'),
  refusal: z.string().optional().describe('`true` offers refusing on the embedded page too.'),
  theme,
  culture: language,
});

type SigningQuery = z.infer<typeof signingQuery>;

const SCALES = new Set(['pagewidth', '50', '75', '100', '125', '150', '200', '300']);

export function signingPageOptions(query: SigningQuery, embedded: boolean): SigningPageOptions {
  const scale = query.scale?.toLowerCase() ?? '';
  return {
    embedded,
    notify: isTrue(query.notify),
    page: pageNumber(query.page),
    scale: SCALES.has(scale) ? scale : undefined,
    hideDocument: isTrue(query.preview),
    refusing: isTrue(query.refusal),
    theme: themeOf(query),
  };
}

export function themeOf(query: Pick<SigningQuery, 'theme'>): Theme | undefined {
  const theme = query.theme?.toLowerCase();
  return theme === 'dark' || theme === 'light' ? theme : undefined;
}

function isTrue(value: string | undefined): boolean {
  return value?.toLowerCase() === 'true';
}

function pageNumber(value: string | undefined): number | undefined {
  const number = Number(value);
  return Number.isInteger(number) && (number === -1 || number >= 1) && number < 1e6 ? number : undefined;
}

/**
 * What the address of a page asks for. Values that make no sense count as absent: a page is shown to a person, who
 * can do nothing about them.
 *
 * Source: portal-gaps §9, query parameters; §1 rows 5 to 7.
 */
import { z } from 'zod';
import type { Theme } from './frame.ts';
import type { SigningWishes } from './signing-view.ts';

/** Names in lower case; everything optional. */
export const pageQuery = z.record(z.string(), z.string().optional());
export type PageQuery = z.infer<typeof pageQuery>;

const SCALES = new Set(['pagewidth', '50', '75', '100', '125', '150', '200', '300']);

export function signingWishes(query: PageQuery, embedded: boolean): SigningWishes {
  const scale = query['scale']?.toLowerCase() ?? '';
  return {
    embedded,
    notify: isTrue(query['notify']),
    page: pageNumber(query['page']),
    scale: SCALES.has(scale) ? scale : undefined,
    hideDocument: isTrue(query['preview']),
    refusing: isTrue(query['refusal']),
    theme: themeOf(query),
  };
}

export function themeOf(query: PageQuery): Theme | undefined {
  const theme = query['theme']?.toLowerCase();
  return theme === 'dark' || theme === 'light' ? theme : undefined;
}

function isTrue(value: string | undefined): boolean {
  return value?.toLowerCase() === 'true';
}

function pageNumber(value: string | undefined): number | undefined {
  const number = Number(value);
  return Number.isInteger(number) && (number === -1 || number >= 1) && number < 1e6 ? number : undefined;
}

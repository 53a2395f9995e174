/**
 * What people see when a page could not be made: never a problem body, and never why, which is in the log under the
 * reference.
 */
import { escapeHtml } from '../../html.ts';
import { type PageReply, page } from '../../reply.ts';
import type { PageFailure } from '../../router.ts';
import { readPortalQuery } from '../conventions.ts';
import { portalPage, saying } from './frame.ts';
import { wordsFor } from './language.ts';
import { type Framing, pageHeaders } from './page-policy.ts';
import { filled } from './texts/words.ts';
import { themeOf } from './wishes.ts';

/** Statuses of a page that could not be made, for the description of its route. */
export const FAILURES = { 400: 'page', 500: 'page', 503: 'page' } as const;

/** @param framing who may show the page in a frame; a page in a frame has to be seen there when it fails, too */
export function failurePage(framing: Framing): (failure: PageFailure) => PageReply {
  return ({ status, requestId, query, header }) => {
    const { culture, theme } = readPortalQuery(query);
    const words = wordsFor(culture, header('accept-language'));
    const { busy, broken, reference } = words.failure;
    const notice = status === 503 || status === 429 ? busy : broken;
    const more = `<p class="hint">${escapeHtml(filled(reference, { id: requestId }))}</p>\n`;
    const html = portalPage({
      words,
      title: notice.title,
      theme: themeOf({ theme }),
      kind: 'quiet',
      main: saying(notice, more),
    });
    return page(status, html, pageHeaders(framing));
  };
}

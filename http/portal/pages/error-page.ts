/** Error page for people: never a problem body, and without the cause, which is in the log under the reference. */

import { html } from '../../../contracts/texts/html.ts';
import { textsFor } from '../../../web/pages/portal/language.ts';
import { message, portalPage } from '../../../web/pages/portal/page-frame.ts';
import { filled } from '../../../web/pages/portal/texts.ts';
import { type PageReply, page } from '../../core/reply.ts';
import type { PageFailure } from '../../core/router.ts';
import { readPortalQuery } from '../input/query-text.ts';
import { themeOf } from './page-options.ts';
import { type Framing, pageHeaders } from './page-policy.ts';

/** Statuses of the error page, for the description of its route. */
export const ERROR_PAGE_CODES = { 400: 'page', 500: 'page', 503: 'page' } as const;

/** @param framing sites that may frame the page; in a frame the error must be visible, too */
export function errorPage(framing: Framing): (failure: PageFailure) => PageReply {
  return ({ status, requestId, query, header }) => {
    const { culture, theme } = readPortalQuery(query);
    const words = textsFor(culture, header('accept-language'));
    const { busy, broken, reference } = words.failure;
    const notice = status === 503 || status === 429 ? busy : broken;
    const more = html`<p class="hint">${filled(reference, { id: requestId })}</p>\n`;
    const text = portalPage({
      words,
      title: notice.title,
      theme: themeOf({ theme }),
      kind: 'quiet',
      main: message(notice, more),
    });
    return page(status, text, pageHeaders(framing));
  };
}

/** Error page for people: never a problem body, and without the cause, which is in the log under the reference. */

import { textsFor } from '../../../web/pages/portal/language.ts';
import { noticePage } from '../../../web/pages/portal/notice-view.tsx';
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
    const isBusy = status === 503 || status === 429;
    const text = noticePage({
      words,
      theme: themeOf({ theme }),
      message: isBusy ? busy : broken,
      icon: isBusy ? 'hourglass' : 'triangle-alert',
      hint: filled(reference, { id: requestId }),
    });
    return page(status, text, pageHeaders(framing));
  };
}

/** Page for an unknown path of the portal, and for something unknown that a path names. */
import { html } from '../../../contracts/texts/html.ts';
import { textsFor } from '../../../web/pages/portal/language.ts';
import { message, portalPage } from '../../../web/pages/portal/page-frame.ts';
import { type PageReply, page } from '../../core/reply.ts';
import type { PageFailure } from '../../core/router.ts';
import { readPortalQuery } from '../input/query-text.ts';
import { themeOf } from './page-options.ts';
import { pageHeaders } from './page-policy.ts';

export function notFoundPage({ status, query, header }: PageFailure): PageReply {
  const { culture, theme } = readPortalQuery(query);
  const words = textsFor(culture, header('accept-language'));
  const { notFound, home } = words;
  const more = html`<p class="ways"><a class="button" href="/">${home.title}</a></p>\n`;
  const text = portalPage({
    words,
    title: notFound.title,
    theme: themeOf({ theme }),
    kind: 'quiet',
    main: message(notFound, more),
  });
  return page(status, text, pageHeaders('none'));
}

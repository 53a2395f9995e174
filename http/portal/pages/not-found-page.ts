/** Page for an unknown path of the portal, and for something unknown that a path names. */
import { textsFor } from '../../../web/pages/portal/language.ts';
import { noticePage } from '../../../web/pages/portal/notice-view.tsx';
import { type PageReply, page } from '../../core/reply.ts';
import type { PageFailure } from '../../core/router.ts';
import { readPortalQuery } from '../input/query-text.ts';
import { themeOf } from './page-options.ts';
import { pageHeaders } from './page-policy.ts';

export function notFoundPage({ status, query, header }: PageFailure): PageReply {
  const { culture, theme } = readPortalQuery(query);
  const words = textsFor(culture, header('accept-language'));
  const text = noticePage({
    words,
    theme: themeOf({ theme }),
    message: words.notFound,
    icon: 'file-search',
    ways: [{ href: '/', text: words.home.title }],
  });
  return page(status, text, pageHeaders('none'));
}

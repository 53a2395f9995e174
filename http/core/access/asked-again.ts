/**
 * Pages that another site links to, such as a mailbox in the browser: the browser sends no session cookie with that request,
 * since the cookie is `SameSite=Strict`.
 *
 * Source: RFC 6265bis §5.2; Fetch Metadata Request Headers; HTML, "Shared declarative refresh steps".
 */
import type { EmptyReply, ReplyHeaders } from '../reply.ts';

/** Has the browser send the request once more, now from here, with the cookie; undefined for any other request. */
export function askedAgain({
  method,
  header,
}: {
  readonly method: string;
  header(name: string): string;
}): EmptyReply | undefined {
  const isFollowed =
    method === 'GET' && header('sec-fetch-site') === 'cross-site' && header('sec-fetch-dest') === 'document';
  return isFollowed ? { kind: 'empty', status: 200, headers: EMPTY_PAGE } : undefined;
}

const EMPTY_PAGE: ReplyHeaders = [
  ['Refresh', '0'],
  ['Content-Type', 'text/html; charset=utf-8'],
];

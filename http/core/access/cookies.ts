/**
 * The session cookie.
 *
 * Source: RFC 6265; docs/batch-values.md §10.
 */

/** Value of a cookie in a `Cookie` header, the first of its name; empty when absent. */
export function readCookie(header: string, name: string): string {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return '';
}

/** A session cookie without Max-Age; the token contains its expiry. */
export function sessionCookie(name: string, token: string, https: boolean): string {
  return `${name}=${token}; ${attributes(https)}`;
}

/** Deletes the cookie in the browser. */
export function clearedCookie(name: string, https: boolean): string {
  return `${name}=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; ${attributes(https)}`;
}

function attributes(https: boolean): string {
  return `Path=/; HttpOnly; SameSite=Strict${https ? '; Secure' : ''}`;
}

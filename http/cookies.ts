/**
 * The session cookie as browsers see it.
 *
 * Source: RFC 6265; batch-gaps §10, "Cookie".
 */

/** The value of a cookie in a `Cookie` header, the first of its name; empty when it is not there. */
export function readCookie(header: string, name: string): string {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return '';
}

/** Ends with the browser: there is no Max-Age, and the token inside says how long it counts. */
export function sessionCookie(name: string, token: string, https: boolean): string {
  return `${name}=${token}; ${attributes(https)}`;
}

/** Makes the browser forget the cookie. */
export function clearedCookie(name: string, https: boolean): string {
  return `${name}=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; ${attributes(https)}`;
}

function attributes(https: boolean): string {
  return `Path=/; HttpOnly; SameSite=Strict${https ? '; Secure' : ''}`;
}

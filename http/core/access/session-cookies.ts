/**
 * The session cookie.
 *
 * Source: RFC 6265; docs/batch-values.md §10.
 */

/**
 * Value of a cookie in a `Cookie` header, the first of its name; empty when absent. Spaces and tabs around it are no part of
 * it; other white space is: browsers let other hosts set `\u2000__Host-name`, which they do for no `__Host-name`.
 */
export function readCookie(header: string, name: string): string {
  for (const [own, value] of cookiesIn(header)) if (own === name) return value;
  return '';
}

/** Names and values in a `Cookie` header; browsers send those of one path by age, the oldest first. */
export function* cookiesIn(header: string): Generator<readonly [name: string, value: string]> {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0) yield [trimmed(pair.slice(0, equals)), trimmed(pair.slice(equals + 1))];
  }
}

function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

/** Name under which no other host of the domain can plant a cookie; without encryption, there is none. Source: RFC 6265bis §4.1.3.2. */
export function hostCookie(name: string, https: boolean): string {
  return `${https ? '__Host-' : ''}${name}`;
}

/** A session cookie without Max-Age; the token contains its expiry. */
export function sessionCookie(name: string, token: string, https: boolean): string {
  return `${name}=${token}; ${attributes(https)}`;
}

/** A cookie that the browser keeps for some seconds, also when it is closed. */
export function passingCookie(name: string, value: string, seconds: number, https: boolean): string {
  return `${name}=${value}; Max-Age=${seconds}; ${attributes(https)}`;
}

/** Deletes the cookie in the browser. */
export function clearedCookie(name: string, https: boolean): string {
  return `${name}=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; ${attributes(https)}`;
}

function attributes(https: boolean): string {
  return `Path=/; HttpOnly; SameSite=Strict${https ? '; Secure' : ''}`;
}

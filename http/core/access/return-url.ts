/**
 * Redirect target after login.
 *
 * Source: docs/batch-values.md §0, §10.
 */

/**
 * Returns `url` when it is a local path, else `/`; in ASCII for the header. Browsers resolve `//host` and `/\host`
 * to other hosts, and control characters can hide either.
 */
export function localReturnUrl(url: string | undefined): string {
  if (url === undefined || !/^\/(?![/\\])/.test(url) || /\p{Cc}/u.test(url)) return '/';
  return url.replace(/[^\x21-\x7e]/gu, (character) =>
    encodeURIComponent(character.replace(/\p{Surrogate}/gu, '\uFFFD')),
  );
}

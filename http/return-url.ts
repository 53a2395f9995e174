/**
 * Where a browser goes after it has logged in.
 *
 * Source: Batch Signing Service API, "Authentication group"; batch-gaps §10, "Local ReturnUrl".
 */

/**
 * `wanted` when it is a path of this service, else `/`; in ASCII, as a header can hold it. `//host` and `/\host`
 * lead to other hosts in browsers, and control characters can hide either.
 */
export function localReturnUrl(wanted: string | undefined): string {
  if (wanted === undefined || !/^\/(?![/\\])/.test(wanted) || /\p{Cc}/u.test(wanted)) return '/';
  return wanted.replace(/[^\x21-\x7e]/gu, (character) =>
    encodeURIComponent(character.replace(/\p{Surrogate}/gu, '\uFFFD')),
  );
}

/** Addresses to which a login leads back. */
import type { Caller } from '../core/access/caller.ts';

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

/** Address of this service as the client used it. `AllowedHosts` has admitted the host; a provider knows its callbacks. */
export function addressOf({ https, host }: Pick<Caller, 'https' | 'host'>): string {
  return `${https ? 'https' : 'http'}://${host}`;
}

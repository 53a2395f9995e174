/** Addresses to which a login leads back. */
import type { Caller } from '../core/access/caller.ts';
import { hostCheck } from '../core/request/access-check.ts';
import type { HttpSettings } from '../core/settings.ts';

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

/** Address of this service, without a slash at its end; undefined where the client named a host that is nobody's. */
export type AddressOf = (caller: Pick<Caller, 'https' | 'host'>) => string | undefined;

/**
 * Providers send codes and assertions to this address, so a client must not choose it: it is `Batch:PublicUrl`, or the
 * host of the request where that is this machine, the host of `Batch:Url`, or named by `AllowedHosts`. Everything else
 * has none, also with `AllowedHosts=*` and from trusted proxies, many of which pass on what clients send.
 */
export function createAddressOf({
  callbackUrl,
  allowedHosts,
  host: own,
}: Pick<HttpSettings, 'callbackUrl' | 'allowedHosts' | 'host'>): AddressOf {
  const named = allowedHosts.filter((entry) => entry !== '*');
  const isKnown = hostCheck(['localhost', '127.0.0.1', '::1', own, ...named]);
  return ({ https, host }) => {
    if (callbackUrl !== undefined) return callbackUrl;
    return isKnown(host) ? `${https ? 'https' : 'http'}://${host}` : undefined;
  };
}

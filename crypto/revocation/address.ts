import { CryptoError } from '../types.ts';

/** True for an address under a name that never leads anywhere (RFC 2606 §2), as in certificates for development. */
export function leadsNowhere(url: string): boolean {
  return URL.canParse(url) && /(?:^|\.)invalid$/i.test(new URL(url).hostname);
}

/**
 * An authority's URL as messages name it: without user, password, query and fragment, which may hold secrets.
 * @throws {CryptoError} `request.invalid` for anything but http and https
 */
export function publicName(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    throw new CryptoError('request.invalid', 'The address of an authority is not an http or https URL.');
  }
  return `${parsed.origin}${parsed.pathname}`;
}

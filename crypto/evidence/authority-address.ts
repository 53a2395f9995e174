import { CryptoError } from '../core/types.ts';

/** True for a host name that never resolves (RFC 2606 §2), as in certificates for development. */
export function isUnreachableAddress(url: string): boolean {
  return URL.canParse(url) && /(?:^|\.)invalid$/i.test(new URL(url).hostname);
}

/**
 * Formats an authority's URL for messages: without user, password, query and fragment, which may hold secrets.
 * @throws {CryptoError} `request.invalid` for schemes other than http and https
 */
export function publicName(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    throw new CryptoError('request.invalid', 'The address of an authority is not an http or https URL.');
  }
  return `${parsed.origin}${parsed.pathname}`;
}

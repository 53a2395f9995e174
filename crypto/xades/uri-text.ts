import { CryptoError } from '../types.ts';

/** RFC 3986 appendix A: everything a URI reference is made of. */
const URI_REFERENCE = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/;

/**
 * A URI as canonical form writes it, in an attribute or as text.
 * @param what for the message: `the policy's location`
 * @throws {CryptoError} `request.invalid` for anything that is not a URI reference
 */
export function uriText(uri: string, what: string): string {
  if (URI_REFERENCE.test(uri)) return uri.replaceAll('&', '&amp;');
  throw new CryptoError(
    'request.invalid',
    `"${uri}" is not a URI, as ${what} has to be; characters outside of it are percent-encoded.`,
  );
}

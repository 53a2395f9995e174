import { CryptoError } from '../../core/types.ts';

/** Characters of a URI reference (RFC 3986 appendix A). */
const URI_REFERENCE = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/;

/**
 * Writes a URI in canonical form, for an attribute or text.
 * @param what name of the value in the error message: `the policy's location`
 * @throws {CryptoError} `request.invalid` for anything that is not a URI reference
 */
export function uriText(uri: string, what: string): string {
  if (URI_REFERENCE.test(uri)) return uri.replaceAll('&', '&amp;');
  throw new CryptoError(
    'request.invalid',
    `"${uri}" is not a URI, as ${what} has to be; characters outside of it are percent-encoded.`,
  );
}

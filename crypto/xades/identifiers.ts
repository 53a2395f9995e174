/** The URIs of XML Signature 1.1, RFC 4051/6931 algorithms and XAdES 1.3.2 (EN 319 132-1) that are used and accepted. */
import type { DigestName } from '../types.ts';

export const DS = 'http://www.w3.org/2000/09/xmldsig#';
export const XADES = 'http://uri.etsi.org/01903/v1.3.2#';
export const EXCLUSIVE_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
export const SIGNED_PROPERTIES_TYPE = 'http://uri.etsi.org/01903#SignedProperties';
export const XPATH = 'http://www.w3.org/TR/1999/REC-xpath-19991116';
export const XPATH_FILTER = 'http://www.w3.org/2002/06/xmldsig-filter2';

export const DIGEST_URI: { readonly [name in DigestName]: string } = {
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  sha384: 'http://www.w3.org/2001/04/xmldsig-more#sha384',
  sha512: 'http://www.w3.org/2001/04/xmlenc#sha512',
};

const MORE = 'http://www.w3.org/2001/04/xmldsig-more#';

export const SIGNATURE_URI: {
  readonly [keyType in 'rsa' | 'ec']: { readonly [name in DigestName]: string };
} = {
  rsa: { sha256: `${MORE}rsa-sha256`, sha384: `${MORE}rsa-sha384`, sha512: `${MORE}rsa-sha512` },
  ec: { sha256: `${MORE}ecdsa-sha256`, sha384: `${MORE}ecdsa-sha384`, sha512: `${MORE}ecdsa-sha512` },
};

export function digestOf(uri: string): DigestName | undefined {
  return DIGESTS.find((name) => DIGEST_URI[name] === uri);
}

export function signatureMethodOf(
  uri: string,
): { readonly keyType: 'rsa' | 'ec'; readonly digest: DigestName } | undefined {
  for (const keyType of ['rsa', 'ec'] as const) {
    for (const digest of DIGESTS) {
      if (SIGNATURE_URI[keyType][digest] === uri) return { keyType, digest };
    }
  }
  return undefined;
}

const DIGESTS = ['sha256', 'sha384', 'sha512'] as const;

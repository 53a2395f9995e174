/**
 * URIs of XML Signature 1.1, of RFC 4051/6931 algorithms and of XAdES 1.3.2 (EN 319 132-1) that are written and
 * accepted.
 */
import {
  CryptoError,
  type DigestName,
  type KeyType,
  type SignatureAlgorithm,
  type SignatureScheme,
} from '../../core/types.ts';

export const DS = 'http://www.w3.org/2000/09/xmldsig#';
/** Elements of XML Signature 1.1. */
export const DSIG11 = 'http://www.w3.org/2009/xmldsig11#';
export const XADES = 'http://uri.etsi.org/01903/v1.3.2#';
export const DECLARE_XADES = ` xmlns:xades="${XADES}"`;
export const XADES_141 = 'http://uri.etsi.org/01903/v1.4.1#';
/** Older versions of the properties, with the same meaning of what is read of them; their version by namespace. */
export const OLDER_XADES: ReadonlyMap<string, string> = new Map([
  ['http://uri.etsi.org/01903/v1.1.1#', '1.1.1'],
  ['http://uri.etsi.org/01903/v1.2.2#', '1.2.2'],
]);
/** Namespaces of the properties, in any version. */
export const ANY_XADES = /^http:\/\/uri\.etsi\.org\/01903\/v[\d.]+#$/;
export const EXCLUSIVE_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
/** Canonical XML 1.0 without comments. */
export const INCLUSIVE_C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
export const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
export const SIGNED_PROPERTIES_TYPE = 'http://uri.etsi.org/01903#SignedProperties';
/** Type of a counter-signature's reference to the SignatureValue it covers (EN 319 132-1 §5.2.7.2). */
export const COUNTERSIGNED_TYPE = 'http://uri.etsi.org/01903#CountersignedSignature';
export const OBJECT_TYPE = 'http://www.w3.org/2000/09/xmldsig#Object';
export const MANIFEST_TYPE = 'http://www.w3.org/2000/09/xmldsig#Manifest';
export const BASE64 = 'http://www.w3.org/2000/09/xmldsig#base64';
export const XPATH = 'http://www.w3.org/TR/1999/REC-xpath-19991116';
export const XPATH_FILTER = 'http://www.w3.org/2002/06/xmldsig-filter2';

export const DIGEST_URI: { readonly [name in DigestName]: string } = {
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  sha384: 'http://www.w3.org/2001/04/xmldsig-more#sha384',
  sha512: 'http://www.w3.org/2001/04/xmlenc#sha512',
};

const MORE = 'http://www.w3.org/2001/04/xmldsig-more#';
/** RSASSA-PSS without parameters: MGF1 with the same digest, salt of its length (RFC 6931 §2.3.10). */
const MORE_2007 = 'http://www.w3.org/2007/05/xmldsig-more#';

const SIGNATURE_URI: {
  readonly [scheme in SignatureScheme]: { readonly [name in DigestName]?: string };
} = {
  'rsa-pkcs1': { sha256: `${MORE}rsa-sha256`, sha384: `${MORE}rsa-sha384`, sha512: `${MORE}rsa-sha512` },
  'rsa-pss': {
    sha256: `${MORE_2007}sha256-rsa-MGF1`,
    sha384: `${MORE_2007}sha384-rsa-MGF1`,
    sha512: `${MORE_2007}sha512-rsa-MGF1`,
  },
  ecdsa: { sha256: `${MORE}ecdsa-sha256`, sha384: `${MORE}ecdsa-sha384`, sha512: `${MORE}ecdsa-sha512` },
  // RFC 9231 §2.3.12. Ed25519 hashes internally with SHA-512.
  ed25519: { sha512: 'http://www.w3.org/2021/04/xmldsig-more#eddsa-ed25519' },
};

/**
 * Returns the algorithm's URI. @throws {CryptoError} `key.unsupported` when XML Signature has none for the algorithm
 */
export function signatureUriOf({ scheme, digest }: SignatureAlgorithm): string {
  const uri = SIGNATURE_URI[scheme][digest];
  if (uri === undefined) {
    throw new CryptoError('key.unsupported', `XML Signature has no ${scheme} with ${digest}.`);
  }
  return uri;
}

export function digestOf(uri: string): DigestName | undefined {
  return DIGESTS.find((name) => DIGEST_URI[name] === uri);
}

export function signatureMethodOf(
  uri: string,
): (SignatureAlgorithm & { readonly keyType: KeyType }) | undefined {
  for (const [scheme, keyType] of SCHEMES) {
    for (const digest of DIGESTS) {
      if (SIGNATURE_URI[scheme][digest] === uri) return { keyType, scheme, digest };
    }
  }
  return undefined;
}

const DIGESTS = ['sha256', 'sha384', 'sha512'] as const;
const SCHEMES = [
  ['rsa-pkcs1', 'rsa'],
  ['ecdsa', 'ec'],
  ['rsa-pss', 'rsa'],
  ['ed25519', 'ed25519'],
] as const;

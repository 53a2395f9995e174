/** Algorithms of the API of the Cloud Signature Consortium. Source: CSC API 2.0.0.2, 11.5 and 11.10. */
import { CryptoError } from '@sealwright/signatures';
import type { Credential } from './csc-credential.ts';

export const DIGESTS = {
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
} as const;

export type Digest = keyof typeof DIGESTS;

/** Identifiers that a credential may list, the preferred one first. */
const ALGORITHMS: { readonly [scheme: string]: { readonly [digest in Digest]: readonly string[] } } = {
  'rsa-pkcs1': {
    sha256: ['1.2.840.113549.1.1.11', '1.2.840.113549.1.1.1'],
    sha384: ['1.2.840.113549.1.1.12', '1.2.840.113549.1.1.1'],
    sha512: ['1.2.840.113549.1.1.13', '1.2.840.113549.1.1.1'],
  },
  'rsa-pss': {
    sha256: ['1.2.840.113549.1.1.10'],
    sha384: ['1.2.840.113549.1.1.10'],
    sha512: ['1.2.840.113549.1.1.10'],
  },
  ecdsa: {
    sha256: ['1.2.840.10045.4.3.2', '1.2.840.10045.2.1'],
    sha384: ['1.2.840.10045.4.3.3', '1.2.840.10045.2.1'],
    sha512: ['1.2.840.10045.4.3.4', '1.2.840.10045.2.1'],
  },
};

/** Last bytes of the identifier of a digest, and its length: the salt has the same. */
const PSS_PARTS = { sha256: [1, 32], sha384: [2, 48], sha512: [3, 64] } as const;

/** @throws {CryptoError} `key.unsupported`: the credential lists no such algorithm */
export function algorithmOf(
  name: string,
  { algorithms }: Pick<Credential, 'algorithms'>,
  { scheme, digest }: { readonly scheme: string; readonly digest: Digest },
): object {
  const signAlgo = ALGORITHMS[scheme]?.[digest].find((one) => algorithms.includes(one));
  if (signAlgo === undefined)
    throw new CryptoError(
      'key.unsupported',
      `${name} makes no signatures of ${scheme} with ${digest}, only ${algorithms.join(', ').slice(0, 300)}. Check DigestAlgorithm and RsaPadding.`,
    );
  return scheme === 'rsa-pss' ? { signAlgo, signAlgoParams: pssParameters(digest) } : { signAlgo };
}

/** Scheme and digest of a credential, the preferred one first; undefined: nothing that is made here. */
export function schemeOf(
  isRsa: boolean,
  algorithms: readonly string[],
): { readonly scheme: 'rsa-pkcs1' | 'rsa-pss' | 'ecdsa'; readonly digest: Digest } | undefined {
  const schemes: readonly ('rsa-pkcs1' | 'rsa-pss' | 'ecdsa')[] = isRsa
    ? ['rsa-pkcs1', 'rsa-pss']
    : ['ecdsa'];
  const digests = ['sha256', 'sha384', 'sha512'] as const;
  return schemes
    .flatMap((scheme) => digests.map((digest) => ({ scheme, digest })))
    .find(({ scheme, digest }) => ALGORITHMS[scheme]?.[digest].some((one) => algorithms.includes(one)));
}

/** RSASSA-PSS-params in DER, Base64 (RFC 8017 A.2.3): digest, MGF1 with it, and a salt of its length. */
function pssParameters(digest: Digest): string {
  const [last, salt] = PSS_PARTS[digest];
  const byte = (value: number) => value.toString(16).padStart(2, '0');
  const hash = `300d06096086480165030402${byte(last)}0500`;
  const parameters = `3034a00f${hash}a11c301a06092a864886f70d010108${hash}a2030201${byte(salt)}`;
  return Buffer.from(parameters, 'hex').toString('base64');
}

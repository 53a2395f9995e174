/**
 * Names of algorithms and of CMS content types that this engine recognises and does not evaluate, for people.
 * Source: RFC 8017, RFC 8702, RFC 9215, RFC 8419, RFC 9882, GM/T 0006, RFC 5652 and its extensions.
 */

/** By dotted identifier: digests, signatures, keys, and mask generation functions. */
export const UNSUPPORTED_ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.2.2', 'MD2'],
  ['1.2.840.113549.2.4', 'MD4'],
  ['1.3.36.3.2.1', 'RIPEMD-160'],
  ['2.16.840.1.101.3.4.2.5', 'SHA-512/224'],
  ['2.16.840.1.101.3.4.2.6', 'SHA-512/256'],
  ['2.16.840.1.101.3.4.2.7', 'SHA3-224'],
  ['2.16.840.1.101.3.4.2.11', 'SHAKE128'],
  ['2.16.840.1.101.3.4.2.12', 'SHAKE256'],
  ['2.16.840.1.101.3.4.2.18', 'SHAKE256 of a chosen length'],
  ['1.2.643.2.2.9', 'GOST R 34.11-94'],
  ['1.2.643.7.1.1.2.2', 'GOST R 34.11-2012 with 256 bits'],
  ['1.2.643.7.1.1.2.3', 'GOST R 34.11-2012 with 512 bits'],
  ['1.2.156.10197.1.401', 'SM3'],
  ['1.2.840.113549.1.1.2', 'RSA with MD2'],
  ['1.2.840.113549.1.1.7', 'RSAES-OAEP, which is for encryption'],
  ['1.2.840.113549.1.1.8', 'MGF1'],
  ['1.2.840.113549.1.1.15', 'RSA with SHA-512/224'],
  ['1.2.840.113549.1.1.16', 'RSA with SHA-512/256'],
  ['1.3.36.3.3.1.2', 'RSA with RIPEMD-160'],
  ['1.3.6.1.5.5.7.6.30', 'RSASSA-PSS with SHAKE128'],
  ['1.3.6.1.5.5.7.6.31', 'RSASSA-PSS with SHAKE256'],
  ['1.3.6.1.5.5.7.6.32', 'ECDSA with SHAKE128'],
  ['1.3.6.1.5.5.7.6.33', 'ECDSA with SHAKE256'],
  ['1.2.840.10040.4.1', 'DSA'],
  ['1.2.840.10040.4.3', 'DSA with SHA-1'],
  ['2.16.840.1.101.3.4.3.1', 'DSA with SHA-224'],
  ['2.16.840.1.101.3.4.3.2', 'DSA with SHA-256'],
  ['0.4.0.127.0.7.1.1.4.1.3', 'ECDSA in plain form with SHA-256'],
  ['1.3.101.110', 'X25519, which is for key agreement'],
  ['1.3.101.111', 'X448, which is for key agreement'],
  ['1.3.101.113', 'Ed448'],
  ['1.2.643.2.2.3', 'GOST R 34.10-2001'],
  ['1.2.643.2.2.19', 'GOST R 34.10-2001'],
  ['1.2.643.7.1.1.1.1', 'GOST R 34.10-2012 with 256 bits'],
  ['1.2.643.7.1.1.1.2', 'GOST R 34.10-2012 with 512 bits'],
  ['1.2.643.7.1.1.3.2', 'GOST R 34.10-2012 with 256 bits'],
  ['1.2.643.7.1.1.3.3', 'GOST R 34.10-2012 with 512 bits'],
  ['1.2.156.10197.1.301', 'SM2'],
  ['1.2.156.10197.1.501', 'SM2 with SM3'],
  ['1.2.804.2.1.1.1.1.3.1.1', 'DSTU 4145'],
  ['2.16.840.1.101.3.4.3.17', 'ML-DSA-44'],
  ['2.16.840.1.101.3.4.3.18', 'ML-DSA-65'],
  ['2.16.840.1.101.3.4.3.19', 'ML-DSA-87'],
  ['2.16.840.1.101.3.4.3.20', 'SLH-DSA-SHA2-128s'],
  ['2.16.840.1.101.3.4.3.21', 'SLH-DSA-SHA2-128f'],
  ['2.16.840.1.101.3.4.3.26', 'SLH-DSA-SHAKE-128s'],
  ['1.2.840.113549.1.9.16.3.17', 'HSS/LMS'],
]);

/** Formats for messages: `Ed448 (1.3.101.113)`, or the identifier of an unknown one. */
export function algorithmName(id: string): string {
  const name = UNSUPPORTED_ALGORITHMS.get(id);
  return name === undefined ? id : `${name} (${id})`;
}

/** Content types of CMS that hold no signature of a person, by dotted identifier. */
export const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.1.7.1', 'bare data in CMS'],
  ['1.2.840.113549.1.7.3', 'an encrypted message (CMS EnvelopedData); decrypt it first'],
  [
    '1.2.840.113549.1.7.4',
    'an encrypted and signed message (PKCS #7 SignedAndEnvelopedData); decrypt it first',
  ],
  ['1.2.840.113549.1.7.5', 'a digest of data (CMS DigestedData), which anybody can make'],
  ['1.2.840.113549.1.7.6', 'encrypted data (CMS EncryptedData); decrypt it first'],
  ['1.2.840.113549.1.9.16.1.2', 'data with a keyed digest (CMS AuthenticatedData)'],
  ['1.2.840.113549.1.9.16.1.4', 'the bare content of a time-stamp (TSTInfo)'],
  ['1.2.840.113549.1.9.16.1.9', 'compressed data (CMS CompressedData); unpack it first'],
  ['1.2.840.113549.1.9.16.1.23', 'an encrypted message (CMS AuthEnvelopedData); decrypt it first'],
  ['1.2.840.113549.1.9.16.1.31', 'time-stamped data (RFC 5544)'],
]);

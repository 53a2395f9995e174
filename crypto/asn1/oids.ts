/** Object identifiers in use, each encoded to DER once, when the module loads. */
import type { DigestName } from '../core/types.ts';
import { oid } from './write.ts';

/** CMS (RFC 5652) and ESS (RFC 5035). */
export const ID = {
  data: oid('1.2.840.113549.1.7.1'),
  signedData: oid('1.2.840.113549.1.7.2'),
  contentType: oid('1.2.840.113549.1.9.3'),
  messageDigest: oid('1.2.840.113549.1.9.4'),
  signingTime: oid('1.2.840.113549.1.9.5'),
  signingCertificateV2: oid('1.2.840.113549.1.9.16.2.47'),
  contentIdentifier: oid('1.2.840.113549.1.9.16.2.7'),
  rsaEncryption: oid('1.2.840.113549.1.1.1'),
} as const;

/** Dotted forms, for identifiers that are compared and not written. */
export const OID = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  signingCertificate: '1.2.840.113549.1.9.16.2.12',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  contentIdentifier: '1.2.840.113549.1.9.16.2.7',
  counterSignature: '1.2.840.113549.1.9.6',
  /** RFC 6211. */
  algorithmProtection: '1.2.840.113549.1.9.52',
  /** EN 319 122-1 §5. */
  signaturePolicy: '1.2.840.113549.1.9.16.2.15',
  /** EN 319 122-1 §5.2.6. */
  signerAttributes: '1.2.840.113549.1.9.16.2.18',
  signerAttributesV2: '0.4.0.19122.1.1',
  contentTimestamp: '1.2.840.113549.1.9.16.2.20',
  signatureTimestamp: '1.2.840.113549.1.9.16.2.14',
  /** Evidence records as unsigned attributes (RFC 4998 Annex A). */
  evidenceRecordInternal: '1.2.840.113549.1.9.16.2.49',
  evidenceRecordExternal: '1.2.840.113549.1.9.16.2.50',
  certificateValues: '1.2.840.113549.1.9.16.2.23',
  revocationValues: '1.2.840.113549.1.9.16.2.24',
  /** Attribute of PDF signers with revocation values. */
  revocationArchival: '1.2.840.113583.1.1.8',
  archiveTimestampV3: '0.4.0.1733.2.4',
  hashIndexV1: '0.4.0.1733.2.5',
  hashIndexV3: '0.4.0.19122.1.5',
  /** RFC 3161 §2.4.2. */
  timestampInfo: '1.2.840.113549.1.9.16.1.4',
  rsaEncryption: '1.2.840.113549.1.1.1',
  ecPublicKey: '1.2.840.10045.2.1',
  mgf1: '1.2.840.113549.1.1.8',
  rsaPss: '1.2.840.113549.1.1.10',
} as const;

/** DER of the digest's identifier (RFC 5754 §2). */
export const DIGEST_ID: { readonly [name in DigestName]: Buffer } = {
  sha256: oid('2.16.840.1.101.3.4.2.1'),
  sha384: oid('2.16.840.1.101.3.4.2.2'),
  sha512: oid('2.16.840.1.101.3.4.2.3'),
};

export const DIGEST_BY_OID: ReadonlyMap<string, DigestName> = new Map([
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);

/** ecdsa-with-SHA2 (RFC 5754 §3.3). */
export const ECDSA_ID: { readonly [name in DigestName]: Buffer } = {
  sha256: oid('1.2.840.10045.4.3.2'),
  sha384: oid('1.2.840.10045.4.3.3'),
  sha512: oid('1.2.840.10045.4.3.4'),
};

export const ECDSA_BY_OID: ReadonlyMap<string, DigestName> = new Map([
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
]);

/** shaNNNWithRSAEncryption (RFC 5754 §3.2). */
export const RSA_BY_OID: ReadonlyMap<string, DigestName> = new Map([
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
]);

/**
 * Builds CMS signatures by hand, so that each part can be falsified. Without changes the result is a valid CAdES
 * baseline B signature.
 */
import { constants, createHash, type KeyObject, sign } from 'node:crypto';
import { DIGEST_ID, ECDSA_ID, ID } from '#crypto/asn1/oids.js';
import { TAG } from '#crypto/asn1/read.js';
import { time } from '#crypto/asn1/time.js';
import { NULL, octetString, oid, sequence, setOf, small, tlv } from '#crypto/asn1/write.js';
import type { DigestName } from '#crypto/core/types.js';
import { readCertificate } from '#crypto/x509/certificate.js';

export interface ForgedSigner {
  readonly key: KeyObject;
  readonly certificate: Buffer;
}

export interface Forgery {
  readonly signer: ForgedSigner;
  readonly content: Buffer;
  /** Claimed time, milliseconds since the epoch. */
  readonly at: number;
  readonly digest?: DigestName | 'sha1' | 'md5';
  /** Content of `certificates`. @default the signer's */
  readonly certificates?: readonly Buffer[];
  /** Certificate for issuer and serial number. */
  readonly named?: Buffer;
  /** Replaces the whole SignerIdentifier. */
  readonly id?: Buffer;
  /** Certificate that the ESS attribute names; null: no such attribute. */
  readonly bound?: Buffer | null;
  /** Changes the list of signed attributes; null: none, and the value covers the content. */
  readonly attributes?: ((honest: readonly Buffer[]) => readonly Buffer[]) | null;
  /** Order of the attributes as written and signed. @default that of DER */
  readonly sorted?: boolean;
  /** Replaces the AlgorithmIdentifiers. */
  readonly digestAlgorithm?: Buffer;
  readonly signatureAlgorithm?: Buffer;
  /** Creates the signature value. */
  readonly value?: (signed: Buffer) => Buffer;
  /** Content type as a dotted OID. */
  readonly contentType?: string;
  /** Encapsulated content; undefined: detached. */
  readonly inside?: Buffer | undefined;
  readonly unsigned?: readonly Buffer[];
  readonly crls?: readonly Buffer[];
  /** Further SignerInfos. */
  readonly signers?: readonly Buffer[];
}

const DIGEST: { readonly [name: string]: Buffer } = {
  ...DIGEST_ID,
  sha1: oid('1.3.14.3.2.26'),
  md5: oid('1.2.840.113549.2.5'),
};

/** Builds the DER of the ContentInfo. */
export function forge(forgery: Forgery): Buffer {
  const { signer, digest = 'sha256', contentType, inside, crls, signers = [] } = forgery;
  const type = contentType === undefined ? ID.data : oid(contentType);
  const content = inside === undefined ? [] : [tlv(TAG.context0Constructed, octetString(inside))];
  const certificates = forgery.certificates ?? [signer.certificate];
  return sequence(
    ID.signedData,
    tlv(
      TAG.context0Constructed,
      sequence(
        small(1),
        setOf([forgery.digestAlgorithm ?? sequence(DIGEST[digest] ?? NULL)]),
        sequence(type, ...content),
        setOf(certificates, TAG.context0Constructed),
        ...(crls === undefined ? [] : [tlv(TAG.context1Constructed, ...crls)]),
        setOf([forgeSigner(forgery), ...signers]),
      ),
    ),
  );
}

/** Builds the DER of the SignerInfo. */
export function forgeSigner(forgery: Forgery): Buffer {
  const { signer, digest = 'sha256', content } = forgery;
  const honest = honestAttributes(forgery);
  const attributes = forgery.attributes === null ? undefined : (forgery.attributes?.(honest) ?? honest);
  const set =
    attributes === undefined
      ? undefined
      : forgery.sorted === false
        ? tlv(TAG.set, ...attributes)
        : setOf(attributes);
  const value = (forgery.value ?? ((signed) => honestValue(signer.key, digest, signed)))(set ?? content);
  const named = readCertificate(forgery.named ?? signer.certificate);
  const implicit = set === undefined ? [] : [Buffer.concat([Buffer.from([0xa0]), set.subarray(1)])];
  const { unsigned = [] } = forgery;
  return sequence(
    small(1),
    forgery.id ?? sequence(named.issuer, named.serial),
    forgery.digestAlgorithm ?? sequence(DIGEST[digest] ?? NULL),
    ...implicit,
    forgery.signatureAlgorithm ?? signatureAlgorithm(signer.key, digest),
    octetString(value),
    ...(unsigned.length === 0 ? [] : [tlv(TAG.context1Constructed, ...unsigned)]),
  );
}

function honestAttributes({ signer, digest = 'sha256', content, at, bound, contentType }: Forgery): Buffer[] {
  const hash = createHash(digest).update(content).digest();
  const certificate = bound === undefined ? signer.certificate : bound;
  return [
    attributeOf(ID.contentType, contentType === undefined ? ID.data : oid(contentType)),
    attributeOf(ID.messageDigest, octetString(hash)),
    attributeOf(ID.signingTime, time(at)),
    ...(certificate === null ? [] : [bindingTo(certificate)]),
  ];
}

/** Builds signing-certificate-v2 for a certificate. */
export function bindingTo(certificate: Buffer): Buffer {
  const { issuer, serial, fingerprint } = readCertificate(certificate);
  const issuerSerial = sequence(sequence(tlv(TAG.context4Constructed, issuer)), serial);
  const certId = sequence(octetString(Buffer.from(fingerprint, 'hex')), issuerSerial);
  return attributeOf(ID.signingCertificateV2, sequence(sequence(certId)));
}

/** @param type DER */
export function attributeOf(type: Buffer, ...values: readonly Buffer[]): Buffer {
  return sequence(type, setOf(values));
}

function signatureAlgorithm(key: KeyObject, digest: string): Buffer {
  if (key.asymmetricKeyType === 'rsa') return sequence(ID.rsaEncryption, NULL);
  if (key.asymmetricKeyType === 'ed25519') return sequence(oid('1.3.101.112'));
  const known: { readonly [name: string]: Buffer } = { ...ECDSA_ID, sha1: oid('1.2.840.10045.4.1') };
  return sequence(known[digest] ?? NULL);
}

function honestValue(key: KeyObject, digest: string, data: Buffer): Buffer {
  return sign(key.asymmetricKeyType === 'ed25519' ? null : digest, data, key);
}

/** Builds RSASSA-PSS-params and a value made with them. */
export function pss(hash: DigestName, mask: DigestName, saltLength: number) {
  const identifier = (digest: DigestName) => sequence(DIGEST_ID[digest], NULL);
  return {
    algorithm: sequence(
      oid('1.2.840.113549.1.1.10'),
      sequence(
        tlv(TAG.context0Constructed, identifier(hash)),
        tlv(TAG.context1Constructed, sequence(oid('1.2.840.113549.1.1.8'), identifier(mask))),
        tlv(TAG.context2Constructed, small(saltLength)),
      ),
    ),
    value: (key: KeyObject) => (signed: Buffer) =>
      sign(hash, signed, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }),
  };
}

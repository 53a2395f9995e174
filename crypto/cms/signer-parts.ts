/**
 * The parts of a SignedData that depend only on the signer and the digest, encoded once (RFC 5652 §5).
 * What is left per signature is a digest, a time and the private-key operation.
 */
import { createHash } from 'node:crypto';
import { DIGEST_ID, ECDSA_ID, ID } from '../asn1/oids.ts';
import { TAG } from '../asn1/tags.ts';
import { timeText } from '../asn1/time.ts';
import { NULL, octetString, sequence, setOf, small, tlv } from '../asn1/write.ts';
import { readCertificate } from '../certificates/certificate.ts';
import type { DigestName, Signer } from '../types.ts';

/** Bytes of a digest. */
export const DIGEST_LENGTH: { readonly [name in DigestName]: number } = {
  sha256: 32,
  sha384: 48,
  sha512: 64,
};

/** How the signing-time attribute is written: not at all, or by one of the two forms of RFC 5652 §11.3. */
export type TimeForm = 'none' | 'utc' | 'generalized';

/** Signed attributes with holes. */
export interface AttributesTemplate {
  /** A SET OF in DER, as it is signed. */
  readonly bytes: Buffer;
  /** Where the message digest goes. */
  readonly digestAt: number;
  /** Where the characters of the signing time go; -1 without. */
  readonly timeAt: number;
}

export interface SignerParts {
  /** CMSVersion and digestAlgorithms of SignedData. */
  readonly start: Buffer;
  /** `certificates [0]`: signer and chain. */
  readonly certificates: Buffer;
  /** SignerInfo up to the signed attributes: version, issuer and serial, digest algorithm. */
  readonly signerStart: Buffer;
  readonly signatureAlgorithm: Buffer;
  readonly attributes: { readonly [form in TimeForm]: AttributesTemplate };
}

const known = new WeakMap<Signer, Map<DigestName, SignerParts>>();

export function partsOf(signer: Signer, digest: DigestName): SignerParts {
  let byDigest = known.get(signer);
  if (byDigest === undefined) {
    byDigest = new Map();
    known.set(signer, byDigest);
  }
  let parts = byDigest.get(digest);
  if (parts === undefined) {
    parts = makeParts(signer, digest);
    byDigest.set(digest, parts);
  }
  return parts;
}

function makeParts(signer: Signer, digest: DigestName): SignerParts {
  const { issuer, serial } = readCertificate(signer.certificate);
  // RFC 5754 §2: digest identifiers carry no parameters; §3.2: the RSA key identifier carries NULL.
  const digestAlgorithm = sequence(DIGEST_ID[digest]);
  const signatureAlgorithm =
    signer.keyType === 'rsa' ? sequence(ID.rsaEncryption, NULL) : sequence(ECDSA_ID[digest]);
  const template = (form: TimeForm) => attributesTemplate(signer, issuer, serial, digest, form);
  return {
    start: Buffer.concat([small(1), setOf([digestAlgorithm])]),
    certificates: setOf([signer.certificate, ...signer.chain], TAG.context0Constructed),
    signerStart: Buffer.concat([small(1), sequence(issuer, serial), digestAlgorithm]),
    signatureAlgorithm,
    attributes: { none: template('none'), utc: template('utc'), generalized: template('generalized') },
  };
}

function attributesTemplate(
  signer: Signer,
  issuer: Buffer,
  serial: Buffer,
  digest: DigestName,
  form: TimeForm,
): AttributesTemplate {
  const digestAttribute = attribute(ID.messageDigest, octetString(Buffer.alloc(DIGEST_LENGTH[digest])));
  const attributes = [
    attribute(ID.contentType, ID.data),
    digestAttribute,
    attribute(ID.signingCertificateV2, signingCertificateV2(signer, issuer, serial)),
  ];
  const timeAttribute = form === 'none' ? undefined : attribute(ID.signingTime, zeroTime(form));
  if (timeAttribute !== undefined) attributes.push(timeAttribute);
  // Attributes differ in length or in their identifier, both before any value, so values can't change the order.
  const bytes = setOf(attributes);
  return {
    bytes,
    digestAt: bytes.indexOf(digestAttribute) + digestAttribute.length - DIGEST_LENGTH[digest],
    timeAt:
      timeAttribute === undefined
        ? -1
        : bytes.indexOf(timeAttribute) + timeAttribute.length - timeCharacters(form),
  };
}

function attribute(id: Buffer, value: Buffer): Buffer {
  return sequence(id, setOf([value]));
}

function timeCharacters(form: TimeForm): number {
  return form === 'utc' ? 13 : 15;
}

function zeroTime(form: TimeForm): Buffer {
  const text = timeText(0).slice(form === 'utc' ? 2 : 0);
  return tlv(form === 'utc' ? TAG.utcTime : TAG.generalizedTime, Buffer.from(text, 'latin1'));
}

/** SigningCertificateV2 with one ESSCertIDv2; SHA-256 is its default algorithm, thus not written (RFC 5035 §4). */
function signingCertificateV2(signer: Signer, issuer: Buffer, serial: Buffer): Buffer {
  const hash = octetString(createHash('sha256').update(signer.certificate).digest());
  const directoryName = tlv(TAG.context4Constructed, issuer);
  const issuerSerial = sequence(sequence(directoryName), serial);
  return sequence(sequence(sequence(hash, issuerSerial)));
}

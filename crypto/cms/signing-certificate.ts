/** Selects the signer's certificate: by the SignerIdentifier and by the ESS attributes (RFC 5035). */
import { createHash } from 'node:crypto';
import { OID } from '../asn1/oids.ts';
import {
  Asn1Error,
  Cursor,
  contents,
  type Element,
  encoded,
  enter,
  octets,
  parseAlgorithm,
  TAG,
} from '../asn1/read.ts';
import { type AlgorithmUse, type Finding, failed, passed, warned } from '../core/validation-report.ts';
import { type Certificate, serialOctets } from '../x509/certificate.ts';
import { nameKey } from '../x509/names.ts';
import { HASH_BY_OID, type HashName } from '../x509/signature-algorithms.ts';
import type { SignerId, SignerInfo } from './parse.ts';

/** Returns the certificate that a SignerIdentifier names (RFC 5652 §5.3). */
function certificateNamed(id: SignerId, certificates: readonly Certificate[]): Certificate | undefined {
  return certificates.find((one) => isNamedExactly(id, one)) ?? certificates.find((one) => isNamed(id, one));
}

function isNamedExactly(id: SignerId, certificate: Certificate): boolean {
  if (id.by === 'key') return keyIdOf(certificate).equals(id.keyId);
  return certificate.serial.equals(id.serial) && certificate.issuer.equals(id.issuer);
}

/** True for issuer and serial number of the same values too: programs write both anew. */
function isNamed(id: SignerId, certificate: Certificate): boolean {
  if (isNamedExactly(id, certificate)) return true;
  return id.by !== 'key' && hasSerial(certificate, id.serial) && isIssuer(id.issuer, certificate);
}

/** @param serial DER of an INTEGER */
function hasSerial(certificate: Certificate, serial: Buffer): boolean {
  return serialOctets(certificate.serial).equals(serialOctets(serial));
}

/** Names match in their encodings, or as RFC 5280 §7.1 compares them: some programs write names anew. */
function isIssuer(name: Buffer, { issuer, issuerKey }: Certificate): boolean {
  return issuer.equals(name) || issuerKey === nameKey(name);
}

/** Returns the key identifier; without the extension, the one of RFC 5280 §4.2.1.2 (1). */
function keyIdOf({ subjectKeyId, publicKeyBits }: Certificate): Buffer {
  return subjectKeyId ?? createHash('sha1').update(publicKeyBits).digest();
}

/** Reference from the signed attributes to the signer's certificate. */
interface CertificateReference {
  /** Value of signing-certificate-v2, or of signing-certificate when the digest is fixed to SHA-1. */
  readonly value: Element;
  readonly fixed: 'sha1' | undefined;
}

/** Returns the reference to the certificate; signing-certificate-v2 has precedence. */
function certificateReference({ attributes }: SignerInfo): CertificateReference | undefined {
  const [second] = attributes?.values.get(OID.signingCertificateV2) ?? [];
  if (second !== undefined) return { value: second, fixed: undefined };
  const [first] = attributes?.values.get(OID.signingCertificate) ?? [];
  return first === undefined ? undefined : { value: first, fixed: 'sha1' };
}

/**
 * Returns the signing-certificate attribute when signing-certificate-v2 is present too: both must name the same
 * certificate, since readers differ in which of them they follow.
 */
function olderReference({ attributes }: SignerInfo): CertificateReference | undefined {
  if (attributes?.values.has(OID.signingCertificateV2) !== true) return undefined;
  const [first] = attributes.values.get(OID.signingCertificate) ?? [];
  return first === undefined ? undefined : { value: first, fixed: 'sha1' };
}

/**
 * Returns the signer's certificate from `certificates`. When several match the SignerIdentifier, which is not signed,
 * the one that the signed attribute names is taken; the first of them when the attribute is missing or unreadable.
 */
export function signerCertificate(
  signer: SignerInfo,
  certificates: readonly Certificate[],
): Certificate | undefined {
  const first = certificateNamed(signer.id, certificates);
  const reference = first && certificateReference(signer);
  if (reference === undefined) return first;
  const isMeant = (one: Certificate) =>
    isNamed(signer.id, one) && certIdError(reference.value, one, reference.fixed) === undefined;
  try {
    return certificates.find(isMeant) ?? first;
  } catch (error) {
    // The check of the attribute reports the error.
    if (error instanceof Asn1Error) return first;
    throw error;
  }
}

/** Most certificates of the signer's identifier whose keys are tried. */
const MAX_TRIED = 32;

/**
 * Returns the signer's certificate among others than the structure holds. It must be the one that the signed attribute
 * names; without that attribute, its key must have made the value: a wrong value is then held against the certificate
 * that someone gave, not against the signature. @throws {Asn1Error} for a malformed attribute
 */
export function outsideCertificate(
  signer: SignerInfo,
  certificates: readonly Certificate[],
  fits: (certificate: Certificate) => boolean,
): Certificate | undefined {
  const named = certificates.filter((one) => isNamed(signer.id, one));
  const reference = certificateReference(signer);
  if (reference === undefined) return named.slice(0, MAX_TRIED).find(fits);
  return named.find((one) => mismatchOf(reference, one) === undefined);
}

/**
 * Compares the first ESSCertID or ESSCertIDv2 with the certificate (RFC 5035 §4, §5): undefined when it names it,
 * otherwise the reason.
 * @param value of the attribute
 * @param fixed `'sha1'` for signing-certificate, whose digest is not encoded; left out for signing-certificate-v2
 * @throws {Asn1Error}
 */
export function certIdError(value: Element, certificate: Certificate, fixed?: 'sha1'): string | undefined {
  const { fields, hashName } = firstCertId(value, fixed);
  if (hashName === undefined)
    return 'The attribute that names the certificate uses a digest that is not supported.';
  const hash = octets(fields.next());
  if (!hash.equals(digestOf(certificate, hashName))) {
    return 'The attribute names another certificate.';
  }
  const issuerSerial = fields.nextIf(TAG.sequence);
  if (issuerSerial === undefined) return undefined;
  const names = new Cursor(issuerSerial);
  const generalNames = directoryNames(names.next(TAG.sequence));
  const serial = encoded(names.next(TAG.integer));
  const same = hasSerial(certificate, serial) && generalNames.some((name) => isIssuer(name, certificate));
  return same ? undefined : 'Issuer and serial in the attribute are those of another certificate.';
}

/**
 * Returns the digest algorithm of the first ESSCertID or ESSCertIDv2; undefined for an unknown one. @throws
 * {Asn1Error}
 */
function certIdHash(value: Element, fixed?: 'sha1'): HashName | undefined {
  return firstCertId(value, fixed).hashName;
}

/**
 * Reads the first certificate identifier up to its hash algorithm (RFC 5035 §3, §4).
 *     SigningCertificateV2 ::= SEQUENCE {
 *      certs     SEQUENCE OF ESSCertIDv2,
 *      policies  SEQUENCE OF PolicyInformation OPTIONAL }
 *     ESSCertIDv2 ::= SEQUENCE {
 *      hashAlgorithm  AlgorithmIdentifier DEFAULT { algorithm id-sha256 },   -- not in ESSCertID (SHA-1)
 *      certHash       OCTET STRING,
 *      issuerSerial   IssuerSerial OPTIONAL }
 *     IssuerSerial ::= SEQUENCE { issuer GeneralNames, serialNumber CertificateSerialNumber }
 */
function firstCertId(
  value: Element,
  fixed: 'sha1' | undefined,
): { readonly fields: Cursor; readonly hashName: HashName | undefined } {
  const certIds = enter(new Cursor(value).next(), TAG.sequence);
  const fields = enter(certIds.next(), TAG.sequence);
  const algorithm = fixed === undefined ? fields.nextIf(TAG.sequence) : undefined;
  const written = algorithm === undefined ? 'sha256' : HASH_BY_OID.get(parseAlgorithm(algorithm).id);
  return { fields, hashName: fixed ?? written };
}

function digestOf(certificate: Certificate, hash: HashName): Buffer {
  if (hash === 'sha256') return Buffer.from(certificate.fingerprint, 'hex');
  return createHash(hash).update(certificate.der).digest();
}

function directoryNames(element: Element): Buffer[] {
  const cursor = new Cursor(element);
  const names: Buffer[] = [];
  while (!cursor.done) {
    const name = cursor.next();
    if (name.tag === TAG.context4Constructed) names.push(contents(name));
  }
  return names;
}

/**
 * Checks that the certificate of a SignerInfo is the one that the signed attributes name (RFC 5035, EN 319 122-1
 * §5.2.2).
 */
export interface BoundCertificate {
  readonly certificate: Certificate | undefined;
  readonly findings: readonly Finding[];
  readonly algorithms: readonly AlgorithmUse[];
  /** True when a signed attribute names the certificate. */
  readonly bound: boolean;
}

/** Certificates of a signature and beside it. */
interface Candidates {
  readonly inside: readonly Certificate[];
  /** Given, or elsewhere in the file: nothing of the structure says that they belong to it. */
  readonly outside: readonly Certificate[];
  /** True when the key of a certificate made the signature value, as far as that can be judged. */
  readonly fits: (certificate: Certificate) => boolean;
}

/**
 * Selects the signer's certificate and reports how the signed attributes refer to it.
 * @param needed true: a missing attribute is a failure; false: a warning (signatures older than CAdES)
 * @throws {Asn1Error} for a malformed attribute
 */
export function bindCertificate(
  signer: SignerInfo,
  { inside, outside, fits }: Candidates,
  needed: boolean,
): BoundCertificate {
  const reference = certificateReference(signer);
  const own = signerCertificate(signer, inside);
  const isOwn = own !== undefined && (reference === undefined || mismatchOf(reference, own) === undefined);
  const named = isOwn ? own : (outsideCertificate(signer, outside, fits) ?? own);
  const certificate = named ?? certificateByDigest(reference, [...inside, ...outside]);
  const found = [certificateFinding(certificate)];
  if (certificate !== undefined && !isNamedExactly(signer.id, certificate)) found.push(OTHER_IDENTIFIER);
  if (reference === undefined) {
    return { certificate, findings: [...found, missingReference(needed)], algorithms: [], bound: false };
  }
  const older = olderReference(signer);
  const mismatch =
    certificate === undefined
      ? undefined
      : (mismatchOf(reference, certificate) ?? (older && mismatchOf(older, certificate)));
  const findings = certificate === undefined ? found : [...found, bindingFinding(mismatch)];
  const hash = certIdHash(reference.value, reference.fixed);
  const algorithms =
    hash === undefined ? [] : [{ name: hash, where: 'digest of the signing certificate', preimage: true }];
  return { certificate, findings, algorithms, bound: certificate !== undefined && mismatch === undefined };
}

function certificateFinding(certificate: Certificate | undefined): Finding {
  if (certificate === undefined) {
    return failed(
      'certificate.signer',
      "The signer's certificate is not at hand.",
      'NO_SIGNING_CERTIFICATE_FOUND',
    );
  }
  return passed('certificate.signer', "The signer's certificate was found.", certificate.fingerprint);
}

/** Finds the certificate by its digest in the signed attribute, where the unsigned identifier names none at hand. */
function certificateByDigest(
  reference: CertificateReference | undefined,
  certificates: readonly Certificate[],
): Certificate | undefined {
  if (reference === undefined) return undefined;
  return certificates.find((one) => certIdError(reference.value, one, reference.fixed) === undefined);
}

const OTHER_IDENTIFIER: Finding = warned(
  'certificate.identifier',
  'The unsigned identifier of the signer is not written as in the certificate.',
);

function missingReference(needed: boolean): Finding {
  const type = 'certificate.binding';
  const message =
    'No signed attribute names the certificate, so another one of the same key could take its place.';
  return needed ? failed(type, message, 'SIG_CONSTRAINTS_FAILURE') : warned(type, message);
}

function bindingFinding(mismatch: string | undefined): Finding {
  if (mismatch === undefined) {
    return passed('certificate.binding', 'A signed attribute names the certificate.');
  }
  return failed('certificate.binding', mismatch, 'NO_SIGNING_CERTIFICATE_FOUND');
}

function mismatchOf({ value, fixed }: CertificateReference, certificate: Certificate): string | undefined {
  return certIdError(value, certificate, fixed);
}

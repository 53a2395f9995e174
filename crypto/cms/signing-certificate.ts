/** Which certificate a signature is bound to: by the name in SignerInfo and by the ESS attributes (RFC 5035). */

import { createHash } from 'node:crypto';
import { Asn1Error } from '../asn1/error.ts';
import { OID } from '../asn1/oids.ts';
import { Cursor, contents, type Element, encoded, enter, octets } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import type { Certificate } from '../certificates/certificate.ts';
import { HASH_BY_OID, type HashName } from './hashes.ts';
import { parseAlgorithm, type SignerId, type SignerInfo } from './parse.ts';

/** The certificate a SignerInfo names (RFC 5652 §5.3). */
function certificateNamed(id: SignerId, certificates: readonly Certificate[]): Certificate | undefined {
  return certificates.find((certificate) =>
    id.by === 'serial'
      ? certificate.serial.equals(id.serial) && certificate.issuer.equals(id.issuer)
      : certificate.subjectKeyId?.equals(id.keyId) === true,
  );
}

/** How the signed attributes name the certificate. */
export interface CertificateReference {
  /** Of signing-certificate-v2, or of signing-certificate when the digest is fixed. */
  readonly value: Element;
  readonly fixed: 'sha1' | undefined;
}

/** The newer attribute decides when both are there. */
export function certificateReference({ attributes }: SignerInfo): CertificateReference | undefined {
  const [second] = attributes?.values.get(OID.signingCertificateV2) ?? [];
  if (second !== undefined) return { value: second, fixed: undefined };
  const [first] = attributes?.values.get(OID.signingCertificate) ?? [];
  return first === undefined ? undefined : { value: first, fixed: 'sha1' };
}

/**
 * The signer's certificate among those at hand. When several answer to the name in the SignerInfo, which is not signed,
 * the one that the signed attribute names is taken; the first of them when it names none, or can't be read.
 */
export function signerCertificate(
  signer: SignerInfo,
  certificates: readonly Certificate[],
): Certificate | undefined {
  const first = certificateNamed(signer.id, certificates);
  const reference = first && certificateReference(signer);
  if (reference === undefined) return first;
  const isMeant = (one: Certificate) =>
    certificateNamed(signer.id, [one]) !== undefined &&
    certIdFault(reference.value, one, reference.fixed) === undefined;
  try {
    return certificates.find(isMeant) ?? first;
  } catch (error) {
    // Whoever checks the attribute says what is wrong with it.
    if (error instanceof Asn1Error) return first;
    throw error;
  }
}

/**
 * Compares the first ESSCertID or ESSCertIDv2 with the certificate (RFC 5035 §4, §5): undefined when it names it.
 * @param value of the attribute
 * @param fixed `'sha1'` for signing-certificate, whose digest is not written; left out for signing-certificate-v2
 * @throws {Asn1Error}
 */
export function certIdFault(value: Element, certificate: Certificate, fixed?: 'sha1'): string | undefined {
  const { fields, hashName } = firstCertId(value, fixed);
  if (hashName === undefined) return 'The attribute uses a digest that is not accepted.';
  const hash = octets(fields.take());
  if (!hash.equals(digestOf(certificate, hashName))) {
    return 'The attribute names another certificate.';
  }
  const issuerSerial = fields.takeIf(TAG.sequence);
  if (issuerSerial === undefined) return undefined;
  const names = new Cursor(issuerSerial);
  const generalNames = directoryNames(names.take(TAG.sequence));
  const serial = encoded(names.take(TAG.integer));
  const same =
    serial.equals(certificate.serial) && generalNames.some((name) => name.equals(certificate.issuer));
  return same ? undefined : 'Issuer and serial in the attribute are those of another certificate.';
}

/** The digest that the first ESSCertID or ESSCertIDv2 is made with; undefined for one not known. @throws {Asn1Error} */
export function certIdHash(value: Element, fixed?: 'sha1'): HashName | undefined {
  return firstCertId(value, fixed).hashName;
}

/** The identifier of the signer's certificate, its hash algorithm taken. */
function firstCertId(
  value: Element,
  fixed: 'sha1' | undefined,
): { readonly fields: Cursor; readonly hashName: HashName | undefined } {
  const certIds = enter(new Cursor(value).take(), TAG.sequence);
  const fields = enter(certIds.take(), TAG.sequence);
  const algorithm = fixed === undefined ? fields.takeIf(TAG.sequence) : undefined;
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
    const name = cursor.take();
    if (name.tag === TAG.context4Constructed) names.push(contents(name));
  }
  return names;
}

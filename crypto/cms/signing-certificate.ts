/** Which certificate a signature is bound to: by the name in SignerInfo and by the ESS attributes (RFC 5035). */
import { createHash } from 'node:crypto';
import { Cursor, contents, type Element, encoded, enter, octets } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import type { Certificate } from '../certificates/certificate.ts';
import { HASH_BY_OID, type HashName } from './hashes.ts';
import { parseAlgorithm, type SignerId } from './parse.ts';

/** The certificate a SignerInfo names (RFC 5652 §5.3). */
export function certificateNamed(
  id: SignerId,
  certificates: readonly Certificate[],
): Certificate | undefined {
  return certificates.find((certificate) =>
    id.by === 'serial'
      ? certificate.serial.equals(id.serial) && certificate.issuer.equals(id.issuer)
      : certificate.subjectKeyId?.equals(id.keyId) === true,
  );
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

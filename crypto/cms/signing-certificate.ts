/** The ESS attributes that bind a signature to one certificate (RFC 2634 §5.4, RFC 5035). */
import { createHash } from 'node:crypto';
import { DIGEST_BY_OID } from '../asn1/oids.ts';
import { Cursor, contents, type Element, encoded, enter, octets } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import type { Certificate } from '../certificates/certificate.ts';
import { parseAlgorithm } from './parse.ts';

/**
 * Compares the first ESSCertID or ESSCertIDv2 with the certificate (RFC 5035 §4, §5): undefined when it names it.
 * @param value of the attribute
 * @param fixed `'sha1'` for signing-certificate, whose digest is not written; left out for signing-certificate-v2
 * @throws {Asn1Error}
 */
export function certIdFault(value: Element, certificate: Certificate, fixed?: 'sha1'): string | undefined {
  const certIds = enter(new Cursor(value).take(), TAG.sequence);
  const fields = enter(certIds.take(), TAG.sequence);
  const algorithm = fixed === undefined ? fields.takeIf(TAG.sequence) : undefined;
  const hashName =
    fixed ?? (algorithm === undefined ? 'sha256' : DIGEST_BY_OID.get(parseAlgorithm(algorithm).id));
  if (hashName === undefined) return 'The attribute uses a digest that is not accepted.';
  const hash = octets(fields.take());
  if (!hash.equals(createHash(hashName).update(certificate.der).digest())) {
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

function directoryNames(element: Element): Buffer[] {
  const cursor = new Cursor(element);
  const names: Buffer[] = [];
  while (!cursor.done) {
    const name = cursor.take();
    if (name.tag === TAG.context4Constructed) names.push(contents(name));
  }
  return names;
}

/** Permitted uses of a certificate (RFC 5280 §4.2.1.3, §4.2.1.12; RFC 3161 §2.3). */
import type { Certificate } from '../x509/certificate.ts';
import type { Check } from './results.ts';

export type Purpose = 'signature' | 'timestamp';

const TIMESTAMPING = '1.3.6.1.5.5.7.3.8';
const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2';

/** Extended key usages for signing documents; one of them suffices. */
const SIGNING: ReadonlySet<string> = new Set([
  '2.5.29.37.0', // any
  '1.3.6.1.5.5.7.3.4', // e-mail protection
  '1.3.6.1.5.5.7.3.36', // document signing (RFC 9336)
  '1.3.6.1.4.1.311.10.3.12', // document signing, before RFC 9336
  '1.2.840.113583.1.1.5', // authentic documents (PDF readers)
]);

/** Reason why the certificate is not valid for the purpose; undefined when it is. */
export function purposeFault(certificate: Certificate, purpose: Purpose): Check | undefined {
  const { keyUsage, extendedKeyUsage } = certificate;
  if (keyUsage !== undefined && !keyUsage.digitalSignature && !keyUsage.nonRepudiation) {
    return fault('certificate.key-usage', 'The key of the certificate is not for signatures.', certificate);
  }
  if (purpose === 'timestamp') {
    const alone = extendedKeyUsage?.length === 1 && extendedKeyUsage[0] === TIMESTAMPING;
    if (alone) return undefined;
    return fault('certificate.purpose', 'The certificate is not one for time-stamps alone.', certificate);
  }
  if (certificate.ca && keyUsage?.keyCertSign === true) {
    return fault(
      'certificate.authority',
      'The certificate is that of an authority, not of a signer.',
      certificate,
    );
  }
  if (extendedKeyUsage === undefined || extendedKeyUsage.some((one) => SIGNING.has(one))) return undefined;
  // Identity cards often have "client authentication" with a key usage for signing only.
  const personal = extendedKeyUsage.includes(CLIENT_AUTHENTICATION) && keyUsage?.nonRepudiation === true;
  if (personal) return undefined;
  return fault(
    'certificate.purpose',
    'The certificate is for other purposes than signing documents.',
    certificate,
  );
}

function fault(type: string, message: string, { extendedKeyUsage }: Certificate): Check {
  return { type, message, detail: extendedKeyUsage?.join(', ') };
}

/** Development certificates: created quickly, trusted by no verifier; the names state the purpose. */
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { certificatePem } from './certificate.ts';
import { DOCUMENT_SIGNING, issueCertificate } from './issue.ts';

/** All PEM; keys are unencrypted PKCS#8. The caller stores them and restricts access to the keys. */
interface DevelopmentCertificates {
  readonly caCertificate: string;
  readonly caKey: string;
  /** The signer's certificate; its issuer is the CA. */
  readonly certificate: string;
  readonly key: string;
}

const DAY = 86_400_000;
const CA_DAYS = 3650;
const SIGNER_DAYS = 1095;

/** RFC 2606 §2: a name that never resolves. Some verifiers require an address, none requires a response. */
const CRL_URL = 'http://development.invalid/development.crl';

/**
 * Creates a development CA (P-256) and a signing certificate (RSA-2048) that document verifiers accept when they
 * trust the CA.
 * @param options.label name of the owner in the certificates, at most 20 characters
 * @param options.now milliseconds since the epoch; certificates are valid from an hour before
 * @param options.random returns that many random bytes, for serial numbers
 */
export async function makeDevelopmentCertificates(options: {
  readonly label: string;
  readonly now: number;
  readonly random: (length: number) => Buffer;
}): Promise<DevelopmentCertificates> {
  const generate = promisify(generateKeyPair);
  const [ca, signer] = await Promise.all([
    generate('ec', { namedCurve: 'prime256v1' }),
    generate('rsa', { modulusLength: 2048 }),
  ]);
  const notBefore = options.now - DAY / 24;
  const caName = named(options.label, 'CA');
  const caCertificate = issueCertificate({
    subject: caName,
    issuer: caName,
    publicKey: ca.publicKey,
    issuerKey: ca.privateKey,
    serial: options.random(16),
    notBefore,
    notAfter: options.now + CA_DAYS * DAY,
    use: { kind: 'ca', pathLength: 0 },
  });
  const certificate = issueCertificate({
    subject: named(options.label, 'signer'),
    issuer: caName,
    publicKey: signer.publicKey,
    issuerKey: ca.privateKey,
    serial: options.random(16),
    notBefore,
    notAfter: options.now + SIGNER_DAYS * DAY,
    use: { kind: 'signer', purposes: DOCUMENT_SIGNING },
    crlUrl: CRL_URL,
  });
  return {
    caCertificate: certificatePem(caCertificate),
    caKey: keyPem(ca.privateKey),
    certificate: certificatePem(certificate),
    key: keyPem(signer.privateKey),
  };
}

function named(label: string, role: string) {
  return {
    organization: `${label} development`,
    organizationalUnit: 'NOT FOR PRODUCTION',
    commonName: `${label} development ${role} NOT FOR PRODUCTION`,
  };
}

function keyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

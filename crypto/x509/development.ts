/** Development certificates: created quickly, trusted by no verifier; the names state the purpose. */
import { createHash, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { contents, enter, readWhole, TAG } from '../asn1/read.ts';
import { time } from '../asn1/time.ts';
import { bitString, octetString, oid, sequence, setOf, small, TRUE, tlv, unsigned } from '../asn1/write.ts';
import { certificatePem } from './certificate.ts';
import { signatureIdentifier } from './signature-algorithms.ts';

/** Contents of an X.509 v3 certificate (RFC 5280 §4). For development and tests; not a CA. */
interface CertificateContents {
  /** DER of the names. */
  readonly subject: Buffer;
  readonly issuer: Buffer;
  /** Public key of the subject. */
  readonly publicKey: KeyObject;
  /** 1 to 20 random bytes. */
  readonly serial: Buffer;
  /** Milliseconds since the epoch, truncated to seconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** DER of each. */
  readonly extensions: readonly Buffer[];
}

/** Signs X.509 structures, which carry the algorithm beside the value. */
export interface StructureSigner {
  /** DER of the AlgorithmIdentifier. */
  readonly algorithm: Buffer;
  sign(data: Buffer): Buffer;
}

/** Returns the DER of a certificate (RFC 5280 §4.1; `readCertificate` has the definition). */
export function encodeCertificate(of: CertificateContents, signer: StructureSigner): Buffer {
  const toBeSigned = sequence(
    tlv(TAG.context0Constructed, small(2)),
    // RFC 5280 §4.1.2.2: positive, at most 20 octets; the mask prevents a leading zero octet, which would be the
    // 21st.
    unsigned(Buffer.concat([Buffer.from([0x40 | ((of.serial[0] ?? 0) & 0x7f)]), of.serial.subarray(1)])),
    signer.algorithm,
    of.issuer,
    sequence(time(of.notBefore), time(of.notAfter)),
    of.subject,
    of.publicKey.export({ type: 'spki', format: 'der' }),
    tlv(TAG.context3Constructed, sequence(...of.extensions)),
  );
  return sequence(toBeSigned, signer.algorithm, bitString(signer.sign(toBeSigned)));
}

/**
 * Encodes an extension (RFC 5280 §4.1.2.9).
 *     Extension ::= SEQUENCE { extnID OBJECT IDENTIFIER, critical BOOLEAN DEFAULT FALSE, extnValue OCTET STRING }
 */
export function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), octetString(value));
}

export function critical(id: string, value: Buffer): Buffer {
  return sequence(oid(id), TRUE, octetString(value));
}

/** The identifiers of the keys of subject and issuer. */
export function keyIdentifiers(subject: KeyObject, issuer: KeyObject): readonly Buffer[] {
  return [
    extension('2.5.29.14', octetString(keyIdentifier(subject))),
    extension('2.5.29.35', sequence(tlv(TAG.context0, keyIdentifier(issuer)))),
  ];
}

/** Computes the SHA-1 of the key bits, the first method of RFC 5280 §4.2.1.2; an identifier, not a protection. */
function keyIdentifier(publicKey: KeyObject): Buffer {
  const info = enter(readWhole(publicKey.export({ type: 'spki', format: 'der' })), TAG.sequence);
  info.next(TAG.sequence);
  return createHash('sha1')
    .update(contents(info.next(TAG.bitString)).subarray(1))
    .digest();
}

/** Issues certificates and revocation lists; `pathLength`: number of CAs that may follow below it. */
export function extensionsOfCa(pathLength?: number): readonly Buffer[] {
  const constraints = pathLength === undefined ? [TRUE] : [TRUE, small(pathLength)];
  return [
    critical('2.5.29.19', sequence(...constraints)),
    // keyCertSign and cRLSign.
    critical('2.5.29.15', bitString(Buffer.from([0x06]), 1)),
  ];
}

/** Signs documents. @param purposes dotted extended key usages */
export function extensionsOfSigner(purposes: readonly string[]): readonly Buffer[] {
  return [
    critical('2.5.29.19', sequence()),
    // digitalSignature and nonRepudiation.
    critical('2.5.29.15', bitString(Buffer.from([0xc0]), 6)),
    ...(purposes.length > 0 ? [extension('2.5.29.37', sequence(...purposes.map(oid)))] : []),
  ];
}

/** The address of the revocation list. */
export function extensionOfCrl(url: string): Buffer {
  const fullName = tlv(TAG.context0Constructed, tlv(0x86, Buffer.from(url, 'latin1')));
  return extension('2.5.29.31', sequence(sequence(tlv(TAG.context0Constructed, fullName))));
}

/**
 * Extended key usages of a document signer: e-mail protection (required by NSS), document signing (two identifiers).
 */
export const DOCUMENT_SIGNING = ['1.3.6.1.5.5.7.3.4', '1.3.6.1.4.1.311.10.3.12', '1.3.6.1.5.5.7.3.36'];

/** All PEM; keys are unencrypted PKCS#8. The caller stores them and restricts access to the keys. */
interface DevelopmentCertificates {
  readonly caCertificate: string;
  readonly caKey: string;
  /** The signer's certificate; its issuer is the CA. */
  readonly certificate: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
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
  const issuer = nameOf(options.label, 'CA');
  const issue = (subject: Buffer, publicKey: KeyObject, days: number, extensions: readonly Buffer[]) =>
    encodeCertificate(
      {
        subject,
        issuer,
        publicKey,
        serial: options.random(16),
        notBefore: options.now - DAY_MS / 24,
        notAfter: options.now + days * DAY_MS,
        extensions: [...keyIdentifiers(publicKey, ca.publicKey), ...extensions],
      },
      {
        algorithm: signatureIdentifier({ scheme: 'ecdsa', digest: 'sha256' }),
        sign: (data) => sign('sha256', data, ca.privateKey),
      },
    );
  const caCertificate = issue(issuer, ca.publicKey, CA_DAYS, extensionsOfCa(0));
  const certificate = issue(nameOf(options.label, 'signer'), signer.publicKey, SIGNER_DAYS, [
    ...extensionsOfSigner(DOCUMENT_SIGNING),
    extensionOfCrl(CRL_URL),
  ]);
  return {
    caCertificate: certificatePem(caCertificate),
    caKey: keyPem(ca.privateKey),
    certificate: certificatePem(certificate),
    key: keyPem(signer.privateKey),
  };
}

/** A Name of UTF8Strings, one attribute in each relative name (RFC 5280 §4.1.2.4). */
function nameOf(label: string, role: string): Buffer {
  const attributes = [
    ['2.5.4.10', `${label} development`],
    ['2.5.4.11', 'NOT FOR PRODUCTION'],
    ['2.5.4.3', `${label} development ${role} NOT FOR PRODUCTION`],
  ] as const;
  return sequence(
    ...attributes.map(([type, text]) =>
      setOf([sequence(oid(type), tlv(TAG.utf8String, Buffer.from(text, 'utf8')))]),
    ),
  );
}

function keyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

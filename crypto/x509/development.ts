/** Development certificates: created quickly, trusted by no verifier; the names state the purpose. */
import { constants, createHash, createPublicKey, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { contents, enter, readWhole, TAG } from '../asn1/read.ts';
import { time } from '../asn1/time.ts';
import {
  bitString,
  NULL,
  octetString,
  oid,
  sequence,
  setOf,
  small,
  TRUE,
  tlv,
  unsigned,
} from '../asn1/write.ts';
import { CryptoError, type DigestName } from '../core/types.ts';
import { certificatePem } from './certificate.ts';
import type { NameConstraints } from './extensions.ts';
import type { GeneralName } from './names.ts';
import { signatureIdentifier } from './signature-algorithms.ts';

/** Supported attributes of a name. */
export interface DistinguishedName {
  readonly country?: string;
  readonly organization?: string;
  readonly organizationIdentifier?: string;
  readonly organizationalUnit?: string;
  /** serialNumber of the person or machine. */
  readonly serialNumber?: string;
  readonly commonName?: string;
  readonly emailAddress?: string;
}

/** Issues X.509 v3 certificates (RFC 5280 §4). For development and tests; not a CA. */
export interface CertificateRequest extends ExtensionRequest {
  readonly subject: DistinguishedName;
  readonly issuer: DistinguishedName;
  /** Padding of an RSA issuer's signature. @default 'pkcs1' */
  readonly issuerPadding?: 'pkcs1' | 'pss';
  /** 1 to 20 random bytes. */
  readonly serial: Buffer;
  /** Milliseconds since the epoch, truncated to seconds. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * Extended key usages of a document signer: e-mail protection (required by NSS), document signing (two identifiers).
 */
export const DOCUMENT_SIGNING = ['1.3.6.1.5.5.7.3.4', '1.3.6.1.4.1.311.10.3.12', '1.3.6.1.5.5.7.3.36'];

/**
 * Issues a certificate and returns its DER (RFC 5280 §4.1; `readCertificate` has the definition). @throws
 * {CryptoError} `key.unsupported`
 */
export function issueCertificate(request: CertificateRequest): Buffer {
  const signer = structureSigner(request.issuerKey, request.issuerPadding);
  const toBeSigned = sequence(
    tlv(TAG.context0Constructed, small(2)),
    // RFC 5280 §4.1.2.2: positive, at most 20 octets; the mask prevents a leading zero octet, which would be the
    // 21st.
    unsigned(
      Buffer.concat([Buffer.from([0x40 | ((request.serial[0] ?? 0) & 0x7f)]), request.serial.subarray(1)]),
    ),
    signer.algorithm,
    encodeName(request.issuer),
    sequence(time(request.notBefore), time(request.notAfter)),
    encodeName(request.subject),
    publicKeyInfo(request.publicKey),
    tlv(TAG.context3Constructed, sequence(...encodeExtensions(request))),
  );
  return sequence(toBeSigned, signer.algorithm, bitString(signer.sign(toBeSigned)));
}

function publicKeyInfo(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

const COUNTRY = '2.5.4.6';
const EMAIL = '1.2.840.113549.1.9.1';

/**
 * Encodes a Name, one attribute in each relative name (RFC 5280 §4.1.2.4).
 *     Name ::= SEQUENCE OF SET OF SEQUENCE { type OBJECT IDENTIFIER, value DirectoryString }
 */
export function encodeName(name: DistinguishedName): Buffer {
  const parts: readonly (readonly [string, string | undefined])[] = [
    [COUNTRY, name.country],
    ['2.5.4.10', name.organization],
    ['2.5.4.97', name.organizationIdentifier],
    ['2.5.4.11', name.organizationalUnit],
    ['2.5.4.5', name.serialNumber],
    ['2.5.4.3', name.commonName],
    [EMAIL, name.emailAddress],
  ];
  return sequence(
    ...parts.flatMap(([type, text]) => {
      if (text === undefined) return [];
      return [setOf([sequence(oid(type), tlv(stringTag(type), Buffer.from(text, 'utf8')))])];
    }),
  );
}

/** countryName and serialNumber are PrintableStrings (X.520), e-mail an IA5String; the rest are UTF8Strings. */
function stringTag(type: string): number {
  if (type === EMAIL) return TAG.ia5String;
  return type === COUNTRY || type === '2.5.4.5' ? TAG.printableString : TAG.utf8String;
}

/** Signs X.509 structures: certificates, CRLs, OCSP responses, which carry the algorithm beside the value. */
interface StructureSigner {
  /** DER of the AlgorithmIdentifier. */
  readonly algorithm: Buffer;
  sign(data: Buffer): Buffer;
}

/** sha256WithRSAEncryption: X.509 algorithms include digest and padding. */
const RSA_SHA256 = sequence(oid('1.2.840.113549.1.1.11'), NULL);

const CURVE_DIGEST: { readonly [curve: string]: DigestName } = {
  prime256v1: 'sha256',
  secp384r1: 'sha384',
  secp521r1: 'sha512',
};

/**
 * Creates a signer for RSA with SHA-256, ECDSA with the digest of the curve, or Ed25519.
 * @param padding of RSA signatures
 * @throws {CryptoError} `key.unsupported`
 */
export function structureSigner(key: KeyObject, padding: 'pkcs1' | 'pss' = 'pkcs1'): StructureSigner {
  if (key.asymmetricKeyType === 'rsa' && padding === 'pss') {
    const options = {
      key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    };
    return {
      algorithm: signatureIdentifier({ scheme: 'rsa-pss', digest: 'sha256' }),
      sign: (data) => sign('sha256', data, options),
    };
  }
  if (key.asymmetricKeyType === 'rsa') {
    return { algorithm: RSA_SHA256, sign: (data) => sign('sha256', data, key) };
  }
  const digest = CURVE_DIGEST[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (key.asymmetricKeyType === 'ec' && digest !== undefined) {
    return {
      algorithm: signatureIdentifier({ scheme: 'ecdsa', digest }),
      sign: (data) => sign(digest, data, key),
    };
  }
  if (key.asymmetricKeyType === 'ed25519') {
    return {
      algorithm: signatureIdentifier({ scheme: 'ed25519', digest: 'sha512' }),
      sign: (data) => sign(null, data, key),
    };
  }
  throw new CryptoError('key.unsupported', `A ${key.asymmetricKeyType} key can't issue certificates here.`);
}

/** Encodes the extensions of certificates (RFC 5280 §4.2). */
export type CertificateUse =
  /** Issues certificates; at most `pathLength` CAs may follow below it. */
  | { readonly kind: 'ca'; readonly pathLength?: number }
  /** Signs documents; `purposes` are dotted extended key usages. */
  | { readonly kind: 'signer'; readonly purposes: readonly string[] }
  /** Signs CRLs only (RFC 5280 §4.2.1.3). */
  | { readonly kind: 'crl' }
  /** Makes time-stamps (RFC 3161 §2.3). */
  | { readonly kind: 'timestamping' }
  /** Signs OCSP responses; `noCheck`: its own revocation is not checked (RFC 6960 §4.2.2.2). */
  | { readonly kind: 'ocsp'; readonly noCheck: boolean };

interface ExtensionRequest {
  /** Public key of the subject. */
  readonly publicKey: KeyObject;
  /** Key of the issuer; the subject's own for a self-signed certificate. */
  readonly issuerKey: KeyObject;
  readonly use: CertificateUse;
  /** Address of the CRL. */
  readonly crlUrl?: string | undefined;
  /** Address of the OCSP responder. */
  readonly ocspUrl?: string | undefined;
  /** Address of the issuer's certificate. */
  readonly issuerUrl?: string;
  readonly alternativeNames?: readonly GeneralName[];
  /** Dotted. */
  readonly policies?: readonly string[];
  readonly nameConstraints?: NameConstraints;
  /** Other extensions, written unchanged. */
  readonly furtherExtensions?: readonly FurtherExtension[];
}

interface FurtherExtension {
  /** Dotted. */
  readonly id: string;
  readonly critical: boolean;
  /** DER of the value. */
  readonly value: Buffer;
}

// Bits of keyUsage in its first octet (RFC 5280 §4.2.1.3).
const DIGITAL_SIGNATURE = 0x80;
const NON_REPUDIATION = 0x40;
const KEY_CERT_SIGN = 0x04;
const CRL_SIGN = 0x02;

const TIMESTAMPING = '1.3.6.1.5.5.7.3.8';
const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';

/**
 * Encodes each extension (RFC 5280 §4.1.2.9).
 *     Extension ::= SEQUENCE { extnID OBJECT IDENTIFIER, critical BOOLEAN DEFAULT FALSE, extnValue OCTET STRING }
 */
function encodeExtensions(request: ExtensionRequest): Buffer[] {
  const issuerKeyId = publicKeyId(publicKeyOf(request.issuerKey));
  const extensions = [
    extension('2.5.29.14', octetString(publicKeyId(request.publicKey))),
    extension('2.5.29.35', sequence(tlv(TAG.context0, issuerKeyId))),
    ...extensionsOfUse(request.use),
  ];
  const { crlUrl, alternativeNames, policies, nameConstraints } = request;
  if (crlUrl !== undefined) {
    const fullName = tlv(TAG.context0Constructed, encodeGeneralName({ kind: 'uri', text: crlUrl }));
    extensions.push(extension('2.5.29.31', sequence(sequence(tlv(TAG.context0Constructed, fullName)))));
  }
  const access = accessDescriptions(request);
  if (access.length > 0) extensions.push(extension('1.3.6.1.5.5.7.1.1', sequence(...access)));
  if (alternativeNames !== undefined) {
    extensions.push(extension('2.5.29.17', sequence(...alternativeNames.map(encodeGeneralName))));
  }
  if (policies !== undefined) {
    extensions.push(extension('2.5.29.32', sequence(...policies.map((policy) => sequence(oid(policy))))));
  }
  if (nameConstraints !== undefined) {
    extensions.push(critical('2.5.29.30', encodeConstraints(nameConstraints)));
  }
  for (const further of request.furtherExtensions ?? []) {
    extensions.push((further.critical ? critical : extension)(further.id, further.value));
  }
  return extensions;
}

function extensionsOfUse(use: CertificateUse): Buffer[] {
  if (use.kind === 'ca') {
    const constraints = use.pathLength === undefined ? [TRUE] : [TRUE, small(use.pathLength)];
    return [
      critical('2.5.29.19', sequence(...constraints)),
      critical('2.5.29.15', bitString(Buffer.from([KEY_CERT_SIGN | CRL_SIGN]), 1)),
    ];
  }
  const end = critical('2.5.29.19', sequence());
  if (use.kind === 'crl') return [end, critical('2.5.29.15', bitString(Buffer.from([CRL_SIGN]), 1))];
  if (use.kind === 'signer') {
    const usage = critical('2.5.29.15', bitString(Buffer.from([DIGITAL_SIGNATURE | NON_REPUDIATION]), 6));
    const purposes = sequence(...use.purposes.map(oid));
    return use.purposes.length > 0 ? [end, usage, extension('2.5.29.37', purposes)] : [end, usage];
  }
  const usage = critical('2.5.29.15', bitString(Buffer.from([DIGITAL_SIGNATURE]), 7));
  const purpose = use.kind === 'timestamping' ? TIMESTAMPING : OCSP_SIGNING;
  const extensions = [end, usage, critical('2.5.29.37', sequence(oid(purpose)))];
  if (use.kind === 'ocsp' && use.noCheck) extensions.push(extension('1.3.6.1.5.5.7.48.1.5', NULL));
  return extensions;
}

function accessDescriptions({ ocspUrl, issuerUrl }: ExtensionRequest): Buffer[] {
  const description = (method: string, text: string | undefined) =>
    text === undefined ? [] : [sequence(oid(method), encodeGeneralName({ kind: 'uri', text }))];
  return [...description('1.3.6.1.5.5.7.48.1', ocspUrl), ...description('1.3.6.1.5.5.7.48.2', issuerUrl)];
}

function encodeConstraints({ permitted, excluded }: NameConstraints): Buffer {
  const subtrees = (tag: number, names: readonly GeneralName[]) =>
    names.length === 0 ? [] : [tlv(tag, ...names.map((name) => sequence(encodeGeneralName(name))))];
  return sequence(
    ...subtrees(TAG.context0Constructed, permitted),
    ...subtrees(TAG.context1Constructed, excluded),
  );
}

/** Encodes a GeneralName; forms that are never compared are written empty. */
function encodeGeneralName(name: GeneralName): Buffer {
  switch (name.kind) {
    case 'email':
      return tlv(0x81, Buffer.from(name.text, 'latin1'));
    case 'dns':
      return tlv(0x82, Buffer.from(name.text, 'latin1'));
    case 'uri':
      return tlv(0x86, Buffer.from(name.text, 'latin1'));
    case 'ip':
      return tlv(0x87, name.octets);
    case 'directory':
      return tlv(TAG.context4Constructed, name.name);
    case 'other':
      return tlv(name.tag);
  }
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), octetString(value));
}

function critical(id: string, value: Buffer): Buffer {
  return sequence(oid(id), TRUE, octetString(value));
}

function publicKeyOf(key: KeyObject): KeyObject {
  return key.type === 'private' ? createPublicKey(key) : key;
}

/** Computes the SHA-1 of the key bits, the first method of RFC 5280 §4.2.1.2; an identifier, not a protection. */
function publicKeyId(publicKey: KeyObject): Buffer {
  const info = enter(readWhole(publicKey.export({ type: 'spki', format: 'der' })), TAG.sequence);
  info.next(TAG.sequence);
  return createHash('sha1')
    .update(contents(info.next(TAG.bitString)).subarray(1))
    .digest();
}

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

/** Issues certificates of all kinds, also unusual ones, for tests (RFC 5280 §4). */
import { constants, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { TAG } from '#crypto/asn1/read.js';
import { bitString, NULL, oid, sequence, setOf, tlv } from '#crypto/asn1/write.js';
import { CryptoError, type DigestName } from '#crypto/core/types.js';
import {
  critical,
  encodeCertificate,
  extension,
  extensionOfCrl,
  extensionsOfCa,
  extensionsOfSigner,
  keyIdentifiers,
  type StructureSigner,
} from '#crypto/x509/development.js';
import type { NameConstraints } from '#crypto/x509/extensions.js';
import type { GeneralName } from '#crypto/x509/names.js';
import { signatureIdentifier } from '#crypto/x509/signature-algorithms.js';

export { DOCUMENT_SIGNING } from '#crypto/x509/development.js';

/** Supported attributes of a name. */
export interface DistinguishedName {
  readonly country?: string;
  readonly organization?: string;
  readonly organizationIdentifier?: string;
  readonly organizationalUnit?: string;
  /** serialNumber of the person or machine. */
  readonly serialNumber?: string;
  readonly commonName?: string;
  readonly givenName?: string;
  readonly surname?: string;
  readonly emailAddress?: string;
}

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

/** Issues a certificate and returns its DER. @throws {CryptoError} `key.unsupported` */
export function issueCertificate(request: CertificateRequest): Buffer {
  return encodeCertificate(
    {
      ...request,
      subject: encodeName(request.subject),
      issuer: encodeName(request.issuer),
      extensions: encodeExtensions(request),
    },
    structureSigner(request.issuerKey, request.issuerPadding),
  );
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
    ['2.5.4.4', name.surname],
    ['2.5.4.42', name.givenName],
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

// Values of keyUsage with one bit in its first octet (RFC 5280 §4.2.1.3).
const DIGITAL_SIGNATURE = bitString(Buffer.from([0x80]), 7);
const CRL_SIGN = bitString(Buffer.from([0x02]), 1);

const TIMESTAMPING = '1.3.6.1.5.5.7.3.8';
const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';

function encodeExtensions(request: ExtensionRequest): Buffer[] {
  const { issuerKey } = request;
  const issuer = issuerKey.type === 'private' ? createPublicKey(issuerKey) : issuerKey;
  const extensions = [...keyIdentifiers(request.publicKey, issuer), ...extensionsOfUse(request.use)];
  const { crlUrl, alternativeNames, policies, nameConstraints } = request;
  if (crlUrl !== undefined) extensions.push(extensionOfCrl(crlUrl));
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

function extensionsOfUse(use: CertificateUse): readonly Buffer[] {
  if (use.kind === 'ca') return extensionsOfCa(use.pathLength);
  if (use.kind === 'signer') return extensionsOfSigner(use.purposes);
  const end = critical('2.5.29.19', sequence());
  if (use.kind === 'crl') return [end, critical('2.5.29.15', CRL_SIGN)];
  const usage = critical('2.5.29.15', DIGITAL_SIGNATURE);
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

/** Issues X.509 v3 certificates (RFC 5280 §4). For development and tests; not a CA. */
import type { KeyObject } from 'node:crypto';
import { TAG } from '../asn1/tags.ts';
import { time } from '../asn1/time.ts';
import { bitString, oid, sequence, setOf, small, tlv, unsigned } from '../asn1/write.ts';
import { type ExtensionRequest, encodeExtensions } from './issue-extensions.ts';
import { structureSigner } from './structure-signer.ts';

export type { CertificateUse } from './issue-extensions.ts';

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

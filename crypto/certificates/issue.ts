/** Writes and signs X.509 v3 certificates (RFC 5280 §4). For development and tests; not a CA. */
import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { ECDSA_ID } from '../asn1/oids.ts';
import { contents, enter, readWhole } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
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
import { CryptoError, type DigestName } from '../types.ts';

/** The parts of a name that are used here; at least `commonName`. */
export interface DistinguishedName {
  readonly country?: string;
  readonly organization?: string;
  readonly organizationalUnit?: string;
  readonly commonName: string;
}

export interface CertificateRequest {
  readonly subject: DistinguishedName;
  readonly issuer: DistinguishedName;
  /** Key the certificate is for. */
  readonly publicKey: KeyObject;
  /** Key of the issuer; the subject's own for a self-signed certificate. */
  readonly issuerKey: KeyObject;
  /** 1 to 20 random bytes. */
  readonly serial: Buffer;
  /** Milliseconds since the epoch, cut to whole seconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly use: CertificateUse;
  /** Where the CRL would be found. */
  readonly crlUrl?: string;
}

export type CertificateUse =
  /** Issues certificates; `pathLength` CAs may stand below it. */
  | { readonly kind: 'ca'; readonly pathLength?: number }
  /** Signs documents; `purposes` are dotted extended key usages. */
  | { readonly kind: 'signer'; readonly purposes: readonly string[] };

/** Purposes of a document signer: e-mail protection (asked for by NSS), document signing (two identifiers). */
export const DOCUMENT_SIGNING = ['1.3.6.1.5.5.7.3.4', '1.3.6.1.4.1.311.10.3.12', '1.3.6.1.5.5.7.3.36'];

/** DER of a new certificate. @throws {CryptoError} `key.unsupported` */
export function issueCertificate(request: CertificateRequest): Buffer {
  const { algorithm, digest } = signingAlgorithm(request.issuerKey);
  const toBeSigned = sequence(
    tlv(TAG.context0Constructed, small(2)),
    // RFC 5280 §4.1.2.2: positive, at most 20 octets; the mask keeps a leading zero octet from making it 21.
    unsigned(
      Buffer.concat([Buffer.from([0x40 | ((request.serial[0] ?? 0) & 0x7f)]), request.serial.subarray(1)]),
    ),
    algorithm,
    encodeName(request.issuer),
    sequence(time(request.notBefore), time(request.notAfter)),
    encodeName(request.subject),
    request.publicKey.export({ type: 'spki', format: 'der' }),
    tlv(TAG.context3Constructed, sequence(...extensionsOf(request))),
  );
  return sequence(toBeSigned, algorithm, bitString(sign(digest, toBeSigned, request.issuerKey)));
}

function signingAlgorithm(key: KeyObject): { readonly algorithm: Buffer; readonly digest: DigestName } {
  if (key.asymmetricKeyType === 'rsa') {
    return { algorithm: sequence(oid('1.2.840.113549.1.1.11'), NULL), digest: 'sha256' };
  }
  if (key.asymmetricKeyType === 'ec') return { algorithm: sequence(ECDSA_ID.sha256), digest: 'sha256' };
  throw new CryptoError('key.unsupported', `A ${key.asymmetricKeyType} key can't issue certificates here.`);
}

function encodeName(name: DistinguishedName): Buffer {
  const parts: readonly (readonly [string, string | undefined])[] = [
    ['2.5.4.6', name.country],
    ['2.5.4.10', name.organization],
    ['2.5.4.11', name.organizationalUnit],
    ['2.5.4.3', name.commonName],
  ];
  return sequence(
    ...parts.flatMap(([type, text]) => {
      if (text === undefined) return [];
      // countryName is a PrintableString (X.520 §6.3.1); the rest may be any text.
      const value = tlv(type === '2.5.4.6' ? TAG.printableString : TAG.utf8String, Buffer.from(text, 'utf8'));
      return [setOf([sequence(oid(type), value)])];
    }),
  );
}

function extensionsOf({ use, publicKey, issuerKey, crlUrl }: CertificateRequest): Buffer[] {
  const extensions = [
    extension('2.5.29.14', octetString(keyId(publicKey))),
    extension('2.5.29.35', sequence(tlv(TAG.context0, keyId(createPublicKeyOf(issuerKey))))),
  ];
  if (use.kind === 'ca') {
    const constraints = use.pathLength === undefined ? [TRUE] : [TRUE, small(use.pathLength)];
    extensions.push(critical('2.5.29.19', sequence(...constraints)));
    extensions.push(critical('2.5.29.15', bitString(Buffer.from([KEY_CERT_SIGN | CRL_SIGN]), 1)));
  } else {
    extensions.push(critical('2.5.29.19', sequence()));
    extensions.push(critical('2.5.29.15', bitString(Buffer.from([DIGITAL_SIGNATURE | NON_REPUDIATION]), 6)));
    if (use.purposes.length > 0) extensions.push(extension('2.5.29.37', sequence(...use.purposes.map(oid))));
  }
  if (crlUrl !== undefined) {
    const fullName = tlv(TAG.context0Constructed, tlv(UNIFORM_RESOURCE, Buffer.from(crlUrl, 'latin1')));
    extensions.push(extension('2.5.29.31', sequence(sequence(tlv(TAG.context0Constructed, fullName)))));
  }
  return extensions;
}

// Named bits of keyUsage (RFC 5280 §4.2.1.3), as they stand in its first octet.
const DIGITAL_SIGNATURE = 0x80;
const NON_REPUDIATION = 0x40;
const KEY_CERT_SIGN = 0x04;
const CRL_SIGN = 0x02;

/** GeneralName uniformResourceIdentifier. */
const UNIFORM_RESOURCE = 0x86;

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), octetString(value));
}

function critical(id: string, value: Buffer): Buffer {
  return sequence(oid(id), TRUE, octetString(value));
}

function createPublicKeyOf(key: KeyObject): KeyObject {
  return key.type === 'private' ? createPublicKey(key) : key;
}

/** SHA-1 over the key bits, the first of the two methods of RFC 5280 §4.2.1.2; a name, not a protection. */
function keyId(publicKey: KeyObject): Buffer {
  const info = enter(readWhole(publicKey.export({ type: 'spki', format: 'der' })), TAG.sequence);
  info.take(TAG.sequence);
  return createHash('sha1')
    .update(contents(info.take(TAG.bitString)).subarray(1))
    .digest();
}

/** Encodes the extensions of certificates (RFC 5280 §4.2). */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { contents, enter, readWhole } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { bitString, NULL, octetString, oid, sequence, small, TRUE, tlv } from '../asn1/write.ts';
import type { NameConstraints } from './extensions.ts';
import type { GeneralName } from './general-names.ts';

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

export interface ExtensionRequest {
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

export interface FurtherExtension {
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
export function encodeExtensions(request: ExtensionRequest): Buffer[] {
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

/** Certificates in ds:KeyInfo (XML Signature 1.1 §4.5.4). All other content names a key without its owner. */
import { type Certificate, readableCertificates } from '../../x509/certificate.ts';
import { DS } from '../elements/identifiers.ts';
import { base64Of, childrenNamed, FormFault, type SignatureNode } from './signature-node.ts';

export interface KeyInfo {
  readonly certificates: readonly Certificate[];
  /** DER of ds:X509CRL. */
  readonly crls: readonly Buffer[];
  /** True when some content is not readable. */
  readonly unreadable: boolean;
  /** True when it contains a bare key. */
  readonly keyValue: boolean;
}

/**
 * Reads ds:KeyInfo = (X509Data { X509Certificate | X509CRL | … }+ | KeyValue | …)+. Never throws; ignores unreadable
 * content.
 */
export function readKeyInfo(keyInfo: SignatureNode | undefined): KeyInfo {
  const data = childrenNamed(keyInfo, DS, 'X509Data');
  const written = data.flatMap((one) => childrenNamed(one, DS, 'X509Certificate'));
  const certificates = written.flatMap((node) => readableBase64(node).flatMap(readableCertificates));
  return {
    certificates,
    crls: data.flatMap((one) => childrenNamed(one, DS, 'X509CRL')).flatMap(readableBase64),
    unreadable: certificates.length < written.length,
    keyValue: childrenNamed(keyInfo, DS, 'KeyValue').length > 0,
  };
}

/** Decodes the Base64 of an element; empty when it is not Base64. */
export function readableBase64(node: SignatureNode): Buffer[] {
  try {
    return [base64Of(node)];
  } catch (error) {
    if (error instanceof FormFault) return [];
    throw error;
  }
}

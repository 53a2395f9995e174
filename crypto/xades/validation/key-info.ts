/** Certificates in ds:KeyInfo (XML Signature 1.1 §4.5.4). Everything else there names a key without saying whose it is. */
import { type Certificate, readableCertificates } from '../../certificates/certificate.ts';
import { DS } from '../identifiers.ts';
import { base64Of, childrenNamed, FormFault, type SignatureNode } from './signature-node.ts';

export interface KeyInfo {
  readonly certificates: readonly Certificate[];
  /** DER of ds:X509CRL. */
  readonly crls: readonly Buffer[];
  /** There is something that can't be read. */
  readonly unreadable: boolean;
  /** There is a bare key. */
  readonly keyValue: boolean;
}

/** Never throws: what can't be read is as good as not there. */
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

/** The bytes of an element of Base64; none when it is something else. */
export function readableBase64(node: SignatureNode): Buffer[] {
  try {
    return [base64Of(node)];
  } catch (error) {
    if (error instanceof FormFault) return [];
    throw error;
  }
}

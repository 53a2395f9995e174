/** Certificates and revocation values in a signature for later validation (EN 319 132-1 §5.4). */
import type { Evidence } from '../../evidence/authorities.ts';
import { basicOcsp, isReadableCrl } from '../../evidence/embedded-evidence.ts';
import { XADES, XADES_141 } from '../elements/identifiers.ts';
import { readableBase64 } from './key-info.ts';
import { childrenNamed, type SignatureNode } from './signature-node.ts';

/** Limit of values in one signature; one renewed for decades has a few dozen. */
const MAX_VALUES = 2000;

const HOLDERS: ReadonlySet<string> = new Set([
  `${XADES} CertificateValues`,
  `${XADES} RevocationValues`,
  `${XADES} AttrAuthoritiesCertValues`,
  `${XADES} AttributeRevocationValues`,
  `${XADES_141} TimeStampValidationData`,
  `${XADES_141} AnyValidationData`,
]);

/**
 * Collects the evidence; unreadable values are ignored. @param unsigned unsigned properties of the signature
 *
 * CertificateValues, AttrAuthoritiesCertValues = EncapsulatedX509Certificate*
 * RevocationValues, AttributeRevocationValues  = CRLValues { EncapsulatedCRLValue+ }?, OCSPValues { EncapsulatedOCSPValue+ }?
 */
export function evidenceIn(unsigned: readonly SignatureNode[]): Evidence {
  const certificates: Buffer[] = [];
  const crls: Buffer[] = [];
  const ocsps: Buffer[] = [];
  let left = MAX_VALUES;
  const values = (node: SignatureNode, local: string): Buffer[] => {
    const found = childrenNamed(node, XADES, local).slice(0, left);
    left -= found.length;
    return found.flatMap(readableBase64);
  };
  const collect = (node: SignatureNode): void => {
    certificates.push(...values(node, 'EncapsulatedX509Certificate'));
    for (const list of childrenNamed(node, XADES, 'CRLValues'))
      crls.push(...values(list, 'EncapsulatedCRLValue').filter(isReadableCrl));
    for (const list of childrenNamed(node, XADES, 'OCSPValues'))
      ocsps.push(...values(list, 'EncapsulatedOCSPValue').flatMap(basicOcsp));
  };
  for (const node of unsigned) {
    if (!HOLDERS.has(`${node.namespace} ${node.local}`)) continue;
    collect(node);
    for (const inner of node.children) if (HOLDERS.has(`${inner.namespace} ${inner.local}`)) collect(inner);
  }
  return { certificates, crls, ocsps };
}

/** Certificates and revocation values that a signature carries for those who check it later (EN 319 132-1 §5.4). */
import type { Evidence } from '../../authorities.ts';
import { basicOcsp, isReadableCrl } from '../../cms/facts-evidence.ts';
import { XADES, XADES_141 } from '../identifiers.ts';
import { readableBase64 } from './key-info.ts';
import { childrenNamed, type SignatureNode } from './signature-node.ts';

/** Values at this many places; a signature renewed for decades has a few dozen. */
const MAX_VALUES = 2000;

const HOLDERS: ReadonlySet<string> = new Set([
  `${XADES} CertificateValues`,
  `${XADES} RevocationValues`,
  `${XADES} AttrAuthoritiesCertValues`,
  `${XADES} AttributeRevocationValues`,
  `${XADES_141} TimeStampValidationData`,
  `${XADES_141} AnyValidationData`,
]);

/** @param unsigned unsigned properties of the signature. What can't be read in them is passed over. */
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

/** Checks the requirements of a flow action on its signer's certificate. Source: docs/portal-values.md §6, `required…ToSign`. */
import { companyNumber, readCertificate } from '../../../crypto/index.ts';
import type { CertificateType } from '../../../machines/portal/portal-types.ts';
import type { CertificateRequirements } from '../portal-tasks.ts';

/** Arcs of certificate policies below 2.16.76.1.2, by certificate type. */
const IDENTIFIER_ARCS: { readonly [type in CertificateType]: number } = {
  A1: 1,
  A2: 2,
  A3: 3,
  A4: 4,
  S1: 101,
  S2: 102,
  S3: 103,
  S4: 104,
  T3: 303,
  T4: 304,
};

/** Lists unmet requirements in one sentence; undefined for none. @param der the certificate */
export function unmetRequirement(
  der: Buffer,
  { type, holder, companyIdentifier }: CertificateRequirements,
): string | undefined {
  const certificate = readCertificate(der);
  const company = companyNumber(certificate);
  const arc = type === null ? '' : `2.16.76.1.2.${IDENTIFIER_ARCS[type]}.`;
  if (type !== null && !certificate.policies?.some((policy) => `${policy}.`.startsWith(arc)))
    return `The action asks for a certificate of the type ${type}.`;
  if (holder === 'Company' && company === undefined) return 'The action asks for a certificate of a company.';
  if (holder === 'Individual' && company !== undefined)
    return 'The action asks for a certificate of a person.';
  if (companyIdentifier !== null && company !== companyIdentifier)
    return 'The action asks for a certificate of another company.';
  return undefined;
}

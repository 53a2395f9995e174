/** What a flow action may demand of its signer's certificate. Source: portal-gaps §6, `required…ToSign`. */
import { companyNumber, readCertificate } from '../../../crypto/index.ts';
import type { CertificateType } from '../../../machines/portal-words.ts';
import type { CertificateDemands } from '../portal-tasks.ts';

/** Arcs of certificate policies below 2.16.76.1.2, by the type they stand for. */
const ARCS: { readonly [type in CertificateType]: number } = {
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

/** What it misses, one sentence; undefined when it has all of it. @param der of the certificate */
export function missingDemand(
  der: Buffer,
  { type, holder, companyIdentifier }: CertificateDemands,
): string | undefined {
  const certificate = readCertificate(der);
  const company = companyNumber(certificate);
  const arc = type === null ? '' : `2.16.76.1.2.${ARCS[type]}.`;
  if (type !== null && !certificate.policies?.some((policy) => `${policy}.`.startsWith(arc)))
    return `The action asks for a certificate of the type ${type}.`;
  if (holder === 'Company' && company === undefined) return 'The action asks for a certificate of a company.';
  if (holder === 'Individual' && company !== undefined)
    return 'The action asks for a certificate of a person.';
  if (companyIdentifier !== null && company !== companyIdentifier)
    return 'The action asks for a certificate of another company.';
  return undefined;
}

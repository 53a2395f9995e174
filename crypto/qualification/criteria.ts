/** Criteria by which a list selects certificates (TS 119 612 §5.5.9.2.2). */
import type { Certificate } from '../x509/certificate.ts';
import { readName } from '../x509/names.ts';
import type { Criterion, StatementCriterion } from './trusted-list.ts';

/** Fields of a certificate that decide. */
export type JudgedCertificate = Pick<
  Certificate,
  | 'keyUsage'
  | 'policies'
  | 'extendedKeyUsage'
  | 'statements'
  | 'statedTypes'
  | 'statedCountries'
  | 'subject'
  | 'issuer'
  | 'notBefore'
>;

/** True or false; undefined when a criterion that decides is not known. */
export function meets(certificate: JudgedCertificate, criterion: Criterion): boolean | undefined {
  switch (criterion.kind) {
    case 'all':
      return every(criterion.criteria.map((one) => meets(certificate, one)));
    case 'atLeastOne':
      return not(every(criterion.criteria.map((one) => not(meets(certificate, one)))));
    case 'none':
      return every(criterion.criteria.map((one) => not(meets(certificate, one))));
    case 'keyUsage':
      return every(criterion.bits.map(({ name, isSet }) => hasBit(certificate, name, isSet)));
    case 'policies':
      return holdsAll(certificate.policies ?? [], criterion.ids);
    case 'purposes':
      return holdsAll(certificate.extendedKeyUsage ?? [], criterion.ids);
    case 'subjectAttributes':
      return holdsAll(subjectAttributes(certificate), criterion.ids);
    case 'statements':
      return criterion.statements.every((one) => states(certificate, one));
    case 'unread':
      return undefined;
  }
}

function not(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value;
}

/** False as soon as one is false; else undefined as soon as one is. */
function every(values: readonly (boolean | undefined)[]): boolean | undefined {
  if (values.includes(false)) return false;
  return values.includes(undefined) ? undefined : true;
}

function holdsAll(held: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((one) => held.includes(one));
}

/** Names of the bits that a list can ask for; those of agreed keys alone are not read. */
const BITS: ReadonlyMap<string, keyof NonNullable<Certificate['keyUsage']>> = new Map([
  ['digitalSignature', 'digitalSignature'],
  ['nonRepudiation', 'nonRepudiation'],
  ['keyEncipherment', 'keyEncipherment'],
  ['dataEncipherment', 'dataEncipherment'],
  ['keyAgreement', 'keyAgreement'],
  ['keyCertSign', 'keyCertSign'],
  ['crlSign', 'cRLSign'],
  ['cRLSign', 'cRLSign'],
]);

function hasBit({ keyUsage }: JudgedCertificate, name: string, isSet: boolean): boolean | undefined {
  const bit = BITS.get(name);
  return bit === undefined ? undefined : (keyUsage?.[bit] ?? false) === isSet;
}

function subjectAttributes({ subject }: JudgedCertificate): string[] {
  try {
    return readName(subject).flatMap((relative) => relative.map(({ type }) => type));
  } catch {
    return [];
  }
}

function states({ statements, statedTypes }: JudgedCertificate, { id, type }: StatementCriterion): boolean {
  return statements.includes(id) && (type === undefined || statedTypes.includes(type));
}

/**
 * Rules of the attributes of a signer, closed (RFC 5652 §11, RFC 5035, EN 319 122-1 §5 and annex A, RFC 8551 §2.5): an
 * attribute that the table does not name, stands in the other set or has no value is named in the report.
 */
import { OID } from '../asn1/oids.ts';
import { type Finding, warned } from '../core/validation-report.ts';
import type { Attributes } from './parse.ts';

interface AttributeRule {
  readonly name: string;
  /** The set it belongs into; left out where both are in use. */
  readonly place?: 'signed' | 'unsigned';
  /** True when readers could take different values of several. */
  readonly single?: true;
  /** True for one of which a signature may have several (EN 319 122-1 §6.3). */
  readonly repeats?: true;
  /** Words for a kind that proves nothing here. */
  readonly outdated?: string;
}

const ESS = '1.2.840.113549.1.9.16.2';

/** By dotted type. */
export const ATTRIBUTE_RULES: ReadonlyMap<string, AttributeRule> = new Map<string, AttributeRule>([
  // Only a signature makes these true.
  [OID.contentType, { name: 'content-type', place: 'signed', single: true }],
  [OID.messageDigest, { name: 'message-digest', place: 'signed', single: true }],
  [OID.signingTime, { name: 'signing-time', place: 'signed', single: true }],
  [OID.signingCertificate, { name: 'signing-certificate', place: 'signed', single: true }],
  [OID.signingCertificateV2, { name: 'signing-certificate-v2', place: 'signed', single: true }],
  [OID.signaturePolicy, { name: 'signature-policy-identifier', place: 'signed', single: true }],
  [OID.algorithmProtection, { name: 'cms-algorithm-protection', place: 'signed', single: true }],
  [OID.contentTimestamp, { name: 'content-time-stamp', place: 'signed', repeats: true }],
  [OID.contentIdentifier, { name: 'content-identifier', place: 'signed' }],
  [`${ESS}.1`, { name: 'receipt-request', place: 'signed' }],
  [`${ESS}.2`, { name: 'security-label', place: 'signed' }],
  [`${ESS}.3`, { name: 'mailing-list-history', place: 'signed' }],
  [`${ESS}.4`, { name: 'content-hints', place: 'signed' }],
  [`${ESS}.9`, { name: 'equivalent-labels', place: 'signed' }],
  [`${ESS}.10`, { name: 'content-reference', place: 'signed' }],
  [`${ESS}.11`, { name: 'encryption-key-preference', place: 'signed' }],
  [`${ESS}.16`, { name: 'commitment-type-indication', place: 'signed' }],
  [`${ESS}.17`, { name: 'signer-location', place: 'signed' }],
  [OID.signerAttributes, { name: 'signer-attributes', place: 'signed' }],
  [`${ESS}.46`, { name: 'binary-signing-time', place: 'signed' }],
  [OID.signerAttributesV2, { name: 'signer-attributes-v2', place: 'signed' }],
  ['0.4.0.1733.2.1', { name: 'mime-type', place: 'signed' }],
  ['1.2.840.113549.1.9.13', { name: 'signing-description', place: 'signed' }],
  ['1.2.840.113549.1.9.15', { name: 's-mime-capabilities', place: 'signed' }],
  ['1.3.6.1.4.1.311.16.4', { name: 'encryption-key-preference of a mail program', place: 'signed' }],
  [OID.revocationArchival, { name: 'revocation values of PDF signers' }],
  // Over the signature value, which cannot cover them.
  [OID.counterSignature, { name: 'counter-signature', place: 'unsigned' }],
  [OID.signatureTimestamp, { name: 'signature-time-stamp', place: 'unsigned' }],
  [OID.archiveTimestampV3, { name: 'archive-time-stamp-v3', place: 'unsigned' }],
  [OID.certificateValues, { name: 'certificate-values' }],
  [OID.revocationValues, { name: 'revocation-values' }],
  [`${ESS}.21`, { name: 'complete-certificate-references', place: 'unsigned' }],
  [`${ESS}.22`, { name: 'complete-revocation-references', place: 'unsigned' }],
  [`${ESS}.44`, { name: 'attribute-certificate-references', place: 'unsigned' }],
  [`${ESS}.45`, { name: 'attribute-revocation-references', place: 'unsigned' }],
  [OID.evidenceRecordInternal, { name: 'internal evidence record', place: 'unsigned' }],
  [OID.evidenceRecordExternal, { name: 'external evidence record', place: 'unsigned' }],
  ['0.4.0.19122.1.3', { name: 'signature-policy-store', place: 'unsigned' }],
  [
    `${ESS}.25`,
    { name: 'CAdES-C-time-stamp', place: 'unsigned', outdated: 'a time-stamp over references (CAdES-C)' },
  ],
  [
    `${ESS}.26`,
    {
      name: 'time-stamped references',
      place: 'unsigned',
      outdated: 'a time-stamp over references (CAdES-X)',
    },
  ],
  [
    `${ESS}.27`,
    {
      name: 'archive-time-stamp',
      place: 'unsigned',
      outdated: 'an archive time-stamp of the first form',
    },
  ],
  [
    `${ESS}.48`,
    {
      name: 'archive-time-stamp-v2',
      place: 'unsigned',
      outdated: 'an archive time-stamp of the second form',
    },
  ],
  ['0.4.0.1733.2.2', { name: 'long-term-validation', place: 'unsigned', outdated: 'long-term-validation' }],
]);

/** Most types in a message. */
const MAX_LISTED = 10;

/** Warnings: `attributes.place`, `attributes.empty`, `attributes.unknown`, `timestamp.outdated`. */
export function attributeWarnings(
  signed: Attributes | undefined,
  unsigned: Attributes | undefined,
): Finding[] {
  const sets = [
    ['signed', signed],
    ['unsigned', unsigned],
  ] as const;
  const all = sets.flatMap(([place, attributes]) =>
    [...new Set(attributes?.types)].map((type) => ({
      type,
      place,
      isEmpty: attributes?.empty.has(type) === true,
      rule: ATTRIBUTE_RULES.get(type),
    })),
  );
  const findings: Finding[] = [];
  const warn = (kind: string, message: string, found: typeof all): void => {
    const named = found.slice(0, MAX_LISTED).map(({ type, rule }) => `${rule?.name ?? 'unknown'} (${type})`);
    if (found.length > 0) findings.push(warned(kind, message, named.join(', ')));
  };
  warn(
    'attributes.place',
    'An attribute that has to be signed is not, or one that cannot be signed is; it counts for nothing.',
    all.filter(({ rule, place }) => rule?.place !== undefined && rule.place !== place),
  );
  warn(
    'attributes.empty',
    'An attribute has no value, which each must have; it counts for nothing.',
    all.filter(({ isEmpty }) => isEmpty),
  );
  warn(
    'attributes.unknown',
    'The signature has attributes that are not known here; what they say was not looked at.',
    all.filter(({ rule }) => rule === undefined),
  );
  for (const { rule } of all)
    if (rule?.outdated !== undefined)
      findings.push(warned('timestamp.outdated', `It has ${rule.outdated}, which is not looked at.`));
  return findings;
}

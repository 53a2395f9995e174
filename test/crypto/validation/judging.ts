/** Validates one CMS signature from bytes to its record, with a small PKI and a fixed time. */
import { createHash, randomBytes } from 'node:crypto';
import type { SignatureRecord, ValidationItem, ValidationResults } from '#crypto/core/validation-report.js';
import type { Evidence } from '#crypto/evidence/authorities.js';
import { type InspectCmsOptions, inspectCms } from '#crypto/validation/signed-data/signed-data-report.js';
import type { TrustSettings } from '#crypto/validation/trust.js';
import { validateSignature } from '#crypto/validation/validate-signature.js';
import { type CertificateRequest, DOCUMENT_SIGNING, issueCertificate } from '../../pki/issuing.ts';
import { type KeyKind, keyOf } from '../../pki/pki.ts';
import { makeCrl, type Revocation, serialOf } from '../../pki/revocation-answers.ts';
import { makeToken } from '../../pki/tokens.ts';
import type { ForgedSigner } from './forge.ts';

/** Signing time of these tests. */
export const SIGNED = Date.UTC(2026, 5, 15, 12);
export const DAY = 86_400_000;
export const YEAR = 365 * DAY;
export const CONTENT = Buffer.from('One hundred barrels, to be paid on delivery.\n');

/** A certificate with its key and name. */
export interface Party extends ForgedSigner {
  readonly name: string;
}

/** Issues a certificate below `issuer`, or a root without one. */
export function issue(
  name: string,
  issuer: Party | undefined,
  differences: Partial<CertificateRequest> & { readonly kind?: KeyKind } = {},
): Party {
  const { kind = 'p-256', ...request } = differences;
  const pair = keyOf(kind);
  const named = (commonName: string) => ({ country: 'XX', organization: 'Judging tests', commonName });
  const certificate = issueCertificate({
    subject: named(name),
    issuer: named(issuer?.name ?? name),
    publicKey: pair.publicKey,
    issuerKey: issuer?.key ?? pair.privateKey,
    serial: randomBytes(16),
    notBefore: SIGNED - YEAR,
    notAfter: SIGNED + 2 * YEAR,
    use: issuer === undefined ? { kind: 'ca' } : { kind: 'signer', purposes: DOCUMENT_SIGNING },
    ...request,
  });
  return { name, key: pair.privateKey, certificate };
}

const LONG = { notBefore: SIGNED - YEAR, notAfter: SIGNED + 30 * YEAR } as const;

/** Certificates shared by all tests of a process. */
export interface Parties {
  readonly root: Party;
  readonly ca: Party;
  readonly signer: Party;
  readonly otherRoot: Party;
  readonly tsaCa: Party;
  /** Time-stamp signer, valid for ten years. */
  readonly tsa: Party;
  /** Later time-stamp signer, valid for thirty years. */
  readonly laterTsa: Party;
}

let made: Parties | undefined;

export function parties(): Parties {
  made ??= makeParties();
  return made;
}

function makeParties(): Parties {
  const root = issue('Judging Root', undefined, LONG);
  const ca = issue('Judging CA', root, { use: { kind: 'ca', pathLength: 0 }, ...LONG });
  const tsaCa = issue('Judging TSA CA', root, { use: { kind: 'ca', pathLength: 0 }, ...LONG });
  const stamps = { use: { kind: 'timestamping' } } as const;
  return {
    root,
    ca,
    signer: issue('Ada Signer', ca),
    otherRoot: issue('Other Root', undefined, LONG),
    tsaCa,
    tsa: issue('Time One', tsaCa, { ...stamps, notBefore: SIGNED - YEAR, notAfter: SIGNED + 10 * YEAR }),
    laterTsa: issue('Time Two', tsaCa, { ...stamps, ...LONG }),
  };
}

/** Creates a TimeStampToken over the SHA-256 of these bytes. */
export function tokenOver(bytes: Uint8Array, at: number, tsa: Party = parties().tsa): Buffer {
  const maker = { key: tsa.key, certificate: tsa.certificate, chain: [parties().tsaCa.certificate] };
  const imprint = createHash('sha256').update(bytes).digest();
  return makeToken(imprint, 'sha256', maker, { at, serial: randomBytes(8) });
}

/** Creates the CRL of one CA, issued at `thisUpdate`, valid for a week. */
export function crlOf(
  issuer: Party,
  thisUpdate: number,
  revoked: readonly (readonly [Party, Revocation])[] = [],
): Buffer {
  return makeCrl({
    issuer,
    thisUpdate,
    nextUpdate: thisUpdate + 7 * DAY,
    revoked: new Map(revoked.map(([party, revocation]) => [serialOf(party.certificate), revocation])),
  });
}

/** Creates the CRLs of all CAs, issued at `thisUpdate`. */
export function crlsOf(
  thisUpdate: number,
  revoked: readonly (readonly [Party, Revocation])[] = [],
): Buffer[] {
  const { root, ca, tsaCa } = parties();
  return [root, ca, tsaCa].map((issuer) => crlOf(issuer, thisUpdate, revoked));
}

export interface JudgingOptions {
  readonly content?: Buffer | undefined;
  readonly at?: number;
  readonly trust?: Partial<TrustSettings>;
  readonly facts?: Partial<InspectCmsOptions>;
}

/** Returns the record of the first signer. */
export function judged(der: Buffer, options: JudgingOptions = {}): SignatureRecord {
  const [record] = allJudged(der, options);
  if (record === undefined) throw new Error('no signature');
  return record;
}

export function allJudged(der: Buffer, options: JudgingOptions = {}): SignatureRecord[] {
  const { root, ca } = parties();
  const content = 'content' in options ? options.content : CONTENT;
  const facts = inspectCms(der, {
    format: 'Cades',
    scope: { kind: 'content', description: 'the content' },
    contentDigest: (hash) => (content === undefined ? undefined : createHash(hash).update(content).digest()),
    content: () => content,
    signingTime: 'present',
    ...options.facts,
  });
  const trust: TrustSettings = {
    anchors: [root.certificate],
    intermediates: [ca.certificate],
    revocation: 'none',
    ...options.trust,
  };
  return facts.map((one) => validateSignature(one, { trust, at: options.at ?? SIGNED + DAY }));
}

/** Formats the verdict: `TOTAL-PASSED`, or both parts: `INDETERMINATE: NO_CERTIFICATE_CHAIN_FOUND`. */
export function verdictOf({
  indication,
  subIndication,
}: Pick<SignatureRecord, 'indication' | 'subIndication'>): string {
  return subIndication === undefined ? indication : `${indication}: ${subIndication}`;
}

/** Lists the types of all failed checks, nested ones with the outer type first: `chain/revocation.revoked`. */
export function failedTypes({ errors }: ValidationResults): string[] {
  return errors.flatMap((item) => [item.type, ...insideOf(item).map((type) => `${item.type}/${type}`)]);
}

function insideOf({ inner }: ValidationItem): string[] {
  return inner === undefined ? [] : failedTypes(inner);
}

export function evidenceOf(crls: readonly Buffer[], certificates: readonly Buffer[] = []): Evidence {
  return { certificates, crls, ocsps: [] };
}

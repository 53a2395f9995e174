/** One CMS signature from bytes to its record, with a small PKI whose clock stands still. */
import { createHash, randomBytes } from 'node:crypto';
import type { Evidence } from '../../../crypto/authorities.ts';
import {
  type CertificateRequest,
  DOCUMENT_SIGNING,
  issueCertificate,
} from '../../../crypto/certificates/issue.ts';
import { type CmsFactsOptions, cmsFacts } from '../../../crypto/cms/facts.ts';
import { judge } from '../../../crypto/validation/judge.ts';
import type {
  SignatureRecord,
  ValidationItem,
  ValidationResults,
} from '../../../crypto/validation/report.ts';
import type { TrustSettings } from '../../../crypto/validation/trust.ts';
import { type KeyKind, keyOf } from '../../pki/pki.ts';
import { makeCrl, type Revocation, serialOf } from '../../pki/revocation-answers.ts';
import { makeToken } from '../../pki/tokens.ts';
import type { ForgedSigner } from './forge.ts';

/** Noon of the day on which everything in these tests is signed. */
export const SIGNED = Date.UTC(2026, 5, 15, 12);
export const DAY = 86_400_000;
export const YEAR = 365 * DAY;
export const CONTENT = Buffer.from('One hundred barrels, to be paid on delivery.\n');

/** A certificate with its key, and the name it goes by. */
export interface Party extends ForgedSigner {
  readonly name: string;
}

/** Issues a certificate below `issuer`, or a root when there is none. */
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

/** The same for all tests of a process. */
export interface Parties {
  readonly root: Party;
  readonly ca: Party;
  readonly signer: Party;
  readonly otherRoot: Party;
  readonly tsaCa: Party;
  /** Makes time-stamps; valid for ten years. */
  readonly tsa: Party;
  /** Makes time-stamps later; valid for thirty years. */
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

/** A TimeStampToken over the SHA-256 of these bytes. */
export function tokenOver(bytes: Uint8Array, at: number, tsa: Party = parties().tsa): Buffer {
  const maker = { key: tsa.key, certificate: tsa.certificate, chain: [parties().tsaCa.certificate] };
  const imprint = createHash('sha256').update(bytes).digest();
  return makeToken(imprint, 'sha256', maker, { at, serial: randomBytes(8) });
}

/** CRL of one CA: given at `thisUpdate`, good for a week. */
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

/** CRLs of all CAs, given at `thisUpdate`. */
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
  readonly facts?: Partial<CmsFactsOptions>;
}

/** What is said of the first signer. */
export function judged(der: Buffer, options: JudgingOptions = {}): SignatureRecord {
  const [record] = allJudged(der, options);
  if (record === undefined) throw new Error('no signature');
  return record;
}

export function allJudged(der: Buffer, options: JudgingOptions = {}): SignatureRecord[] {
  const { root, ca } = parties();
  const content = 'content' in options ? options.content : CONTENT;
  const facts = cmsFacts(der, {
    format: 'Cades',
    scope: { kind: 'content', description: 'the content' },
    contentDigest: (hash) => (content === undefined ? undefined : createHash(hash).update(content).digest()),
    signingTime: 'present',
    ...options.facts,
  });
  const trust: TrustSettings = {
    anchors: [root.certificate],
    intermediates: [ca.certificate],
    revocation: 'none',
    ...options.trust,
  };
  return facts.map((one) => judge(one, { trust, at: options.at ?? SIGNED + DAY }));
}

/** `TOTAL-PASSED`, or both parts: `INDETERMINATE: NO_CERTIFICATE_CHAIN_FOUND`. */
export function verdictOf({
  indication,
  subIndication,
}: Pick<SignatureRecord, 'indication' | 'subIndication'>): string {
  return subIndication === undefined ? indication : `${indication}: ${subIndication}`;
}

/** Types of all failed checks, those inside others with the others' type before: `chain/revocation.revoked`. */
export function failedTypes({ errors }: ValidationResults): string[] {
  return errors.flatMap((item) => [item.type, ...insideOf(item).map((type) => `${item.type}/${type}`)]);
}

function insideOf({ inner }: ValidationItem): string[] {
  return inner === undefined ? [] : failedTypes(inner);
}

export function evidenceOf(crls: readonly Buffer[], certificates: readonly Buffer[] = []): Evidence {
  return { certificates, crls, ocsps: [] };
}

/** Reports one signature or document time-stamp of a PDF (ETSI EN 319 142-1, clauses 5.3, 5.5 and 6.3). */

import { OID } from '../asn1/oids.ts';
import type { SignatureLevel } from '../core/types.ts';
import {
  type ChangeRecord,
  type Finding,
  failed,
  passed,
  type SignatureScope,
  warned,
} from '../core/validation-report.ts';
import { type Evidence, NO_EVIDENCE } from '../evidence/authorities.ts';
import { asName, asText, type ByteSlice, items, type PdfDict, type PdfDocument } from '../pdf/index.ts';
import {
  isIntactTimestamp,
  type SignatureInfo,
  type TimestampInfo,
  timestampInfo,
  UNKNOWN_SIGNATURE_INFO,
} from '../validation/signature-info.ts';
import { inspectCms } from '../validation/signed-data/signed-data-report.ts';
import { timestampSignature } from '../validation/timestamp-signature.ts';
import type { Certificate } from '../x509/certificate.ts';
import { type HashName, hashNamed } from '../x509/signature-algorithms.ts';
import type { SignedBytes } from '../x509/signature-values.ts';
import type { FoundSignature } from './fields/signatures.ts';
import { signatureKey } from './security-store.ts';
import { STORED } from './validation/embedded-evidence.ts';
import { CHANGES } from './validation/judged-changes.ts';

/** A signature with its place in the file, before its CMS is parsed. */
export interface LocatedSignature {
  readonly found: FoundSignature;
  readonly scope: SignatureScope;
  /** Findings about its place, its coverage and later changes. */
  readonly findings: readonly Finding[];
  readonly changes: readonly ChangeRecord[];
  /** Undefined when the coverage is unknown. */
  readonly contentDigest: ((hash: HashName) => Buffer) | undefined;
  /** The covered bytes, for a signature over them; undefined when the coverage is unknown. */
  readonly content: SignedBytes | undefined;
}

/** Objects of the file outside of the signature. */
interface SignatureContext {
  readonly pdf: PdfDocument;
  readonly certificates: readonly Certificate[];
  readonly evidence: Evidence;
  /** Document time-stamps over this signature, oldest first. */
  readonly later: readonly LaterTimestamp[];
}

export interface LaterTimestamp {
  readonly facts: TimestampInfo;
  /** True when the revocation values in the store are covered too. */
  readonly coversEvidence: boolean;
}

export function isTimestamp({ subFilter }: FoundSignature): boolean {
  return subFilter === 'ETSI.RFC3161';
}

export function signatureReport(placed: LocatedSignature, around: SignatureContext): SignatureInfo {
  const { found, scope } = placed;
  const rules = subFilterRules(found.subFilter);
  const findings = [...placed.findings, ...rules.findings];
  const cms = rules.readable ? found.cms : undefined;
  const [first, ...more] =
    cms === undefined
      ? []
      : inspectCms(cms, {
          format: 'Pades',
          contentDigest: (hash) => placed.contentDigest?.(hash),
          content: () => placed.content,
          scope,
          contentType: OID.data,
          contentInside: false,
          around,
          name: found.field,
          ...(rules.baseline
            ? { signingTime: 'absent', signingCertificate: 'required' }
            : { signingCertificate: 'if-present' }),
        });
  if (more.length > 0)
    findings.push(failed('pdf.signers', 'A signature of a PDF has one signer, and this one has more.'));
  const entries = entryFindings(placed, rules.baseline);
  const facts = first ?? unreadableReport(placed, around);
  const text = (key: string): string | undefined => asText(around.pdf.resolve(found.dict.get(key)));
  const reason = text('Reason');
  const location = text('Location');
  const baseline = rules.baseline && entries.every(({ status }) => status === 'passed') && more.length === 0;
  return {
    ...facts,
    name: found.field,
    level: baseline ? levelOf(facts, around) : undefined,
    findings: [...findings, ...entries, ...facts.findings],
    claimedTime: readPdfTime(found.claimedTime) ?? facts.claimedTime,
    timestamps: [...facts.timestamps, ...around.later.map((later) => later.facts)],
    changes: placed.changes,
    ...(facts.policyUse && {
      policyUse: {
        ...facts.policyUse,
        pdfNames: namesOf(found, around),
        unsigned: new Set([...facts.policyUse.unsigned, ...storedFor(found, around)]),
      },
    }),
    ...(reason === undefined ? {} : { reason }),
    ...(location === undefined ? {} : { location }),
  };
}

function namesOf({ dict, subFilter }: FoundSignature, { pdf }: SignatureContext): string {
  return `${asName(pdf.resolve(dict.get('Filter')))} ${subFilter}`;
}

/** Names what the store has of these, as `PolicyUse.unsigned` does. */
function storedFor({ cms, coverage }: FoundSignature, { pdf }: SignatureContext): string[] {
  if (cms === undefined || coverage === undefined) return [];
  const store = pdf.dict(pdf.catalog.get('DSS'));
  const key = signatureKey(cms, (coverage.placeholderEnd - coverage.placeholderStart - 2) / 2);
  const own = pdf.dict(pdf.dict(store?.get('VRI'))?.get(key));
  const named = (of: 'DSS' | 'VRI', dict: PdfDict | undefined) =>
    STORED[of].filter((name) => isFilled(pdf, dict?.get(name))).map((name) => `${of} ${name}`);
  return [...named('DSS', store), ...named('VRI', own)];
}

/** A stream, or an array that has one: DOC-ICP-15.03 allows either for one value. */
function isFilled(pdf: PdfDocument, value: ByteSlice | undefined): boolean {
  const found = pdf.resolve(value);
  for (const item of items(found)) return pdf.dict(item) !== undefined;
  return pdf.dict(found) !== undefined;
}

interface SubFilterRules {
  readonly readable: boolean;
  readonly baseline: boolean;
  readonly findings: readonly Finding[];
}

const TYPE = 'pdf.sub-filter';

function subFilterRules(name: string | undefined): SubFilterRules {
  switch (name) {
    case 'ETSI.CAdES.detached':
      return { readable: true, baseline: true, findings: [passed(TYPE, 'It is a PAdES signature.')] };
    case 'PBAD.PAdES': {
      const finding = warned(TYPE, 'It is a PAdES signature under the name of a national profile.', name);
      return { readable: true, baseline: true, findings: [finding] };
    }
    case 'adbe.pkcs7.detached':
      return {
        readable: true,
        baseline: false,
        findings: [warned(TYPE, 'It is a CMS signature of the form before PAdES.', name)],
      };
    case 'adbe.pkcs7.sha1':
      return {
        readable: false,
        baseline: false,
        findings: [
          failed(
            TYPE,
            'The signature is over a SHA-1 digest of the document, which proves nothing any more.',
            'CRYPTO_CONSTRAINTS_FAILURE',
          ),
        ],
      };
    case 'adbe.x509.rsa_sha1':
      return {
        readable: false,
        baseline: false,
        findings: [
          failed(
            TYPE,
            'The signature is a bare RSA value over SHA-1, a form that is not supported.',
            'CRYPTO_CONSTRAINTS_FAILURE',
            name,
          ),
        ],
      };
    default:
      return {
        readable: false,
        baseline: false,
        findings: [
          failed(TYPE, 'The signature has a form that is not supported.', 'GENERIC', name ?? 'no /SubFilter'),
        ],
      };
  }
}

/** Checks the required and forbidden entries of a baseline signature's dictionary (clause 6.3, table 1). */
function entryFindings({ found }: LocatedSignature, baseline: boolean): readonly Finding[] {
  if (!baseline) return [];
  const { dict, claimedTime } = found;
  const at = readPdfTime(claimedTime);
  return [
    at === undefined
      ? warned(
          'pdf.claimed-time',
          claimedTime === undefined
            ? 'The time of signing (/M) is missing.'
            : 'The time of signing (/M) is no date.',
        )
      : passed('pdf.claimed-time', 'The time of signing (/M) is there.', new Date(at).toISOString()),
    dict.get('Cert') === undefined
      ? passed('pdf.cert', 'Certificates are in the CMS alone.')
      : warned('pdf.cert', 'The dictionary has a /Cert, which PAdES signatures must not have.'),
    dict.get('Filter') === undefined
      ? warned('pdf.filter', 'The dictionary names no /Filter.')
      : passed('pdf.filter', 'The dictionary names a /Filter.'),
  ];
}

/** Returns the baseline level of the valid values (clause 6.1); trust is evaluated later. */
function levelOf(facts: SignatureInfo, { evidence, later }: SignatureContext): SignatureLevel | undefined {
  if (facts.level === undefined) return undefined;
  const good = later.filter((stamp) => isIntactTimestamp(stamp.facts));
  const stamped = facts.timestamps.some((stamp) => stamp.kind === 'signature' && isIntactTimestamp(stamp));
  if (!stamped && good.length === 0) return 'B';
  if (evidence.crls.length + evidence.ocsps.length === 0) return 'T';
  return good.some(({ coversEvidence }) => coversEvidence) ? 'LTA' : 'LT';
}

/** Reports a signature whose CMS is unreadable. */
export function unreadableReport(
  { found, scope }: LocatedSignature,
  { certificates, evidence }: SignatureContext,
): SignatureInfo {
  return {
    ...UNKNOWN_SIGNATURE_INFO,
    format: 'Pades',
    name: found.field,
    scope,
    certificates,
    evidence: evidence ?? NO_EVIDENCE,
  };
}

/** Checks the token of a document time-stamp against its coverage. */
export function documentTimestamp(
  placed: LocatedSignature,
  certificates: readonly Certificate[],
): TimestampInfo {
  const { cms } = placed.found;
  const wrong = placed.findings.filter(({ status, type }) => status === 'failed' && type !== CHANGES);
  if (cms === undefined) return { kind: 'document', token: undefined, findings: wrong };
  const covered = (name: string): Buffer | undefined => {
    const hash = hashNamed(name);
    // Without coverage, an empty digest never matches the message imprint.
    return hash === undefined ? undefined : (placed.contentDigest?.(hash) ?? Buffer.alloc(0));
  };
  const facts = timestampInfo('document', cms, covered, certificates);
  return { ...facts, findings: [...wrong, ...facts.findings] };
}

/** Reports a document time-stamp as a signature of its own. */
export function timestampReport(
  placed: LocatedSignature,
  stamp: TimestampInfo,
  { certificates, evidence, later }: SignatureContext,
): SignatureInfo {
  const { found, scope, findings, changes } = placed;
  const own = stamp.findings.filter((finding) => !findings.includes(finding));
  return {
    ...timestampSignature(stamp, { format: 'Pades', name: found.field, scope }, certificates),
    evidence,
    findings: [...findings, passed(TYPE, 'It is a document time-stamp.'), ...own],
    timestamps: later.map(({ facts }) => facts),
    changes,
  };
}

/**
 * Parses a date (ISO 32000-2, 7.9.4) to milliseconds since the epoch; undefined for anything else. UTC without a
 * zone.
 */
function readPdfTime(text: string | undefined): number | undefined {
  const parts = FORM.exec(text ?? '');
  if (parts === null) return undefined;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => (part === undefined ? undefined : Number(part)));
  const at = Date.UTC(year, month - 1, day, hour, minute, second);
  if (new Date(at).getUTCDate() !== day || month > 12 || hour > 23 || minute > 59 || second > 59)
    return undefined;
  const sign = parts[7];
  const hours = Number(parts[8] ?? 0);
  const minutes = Number(parts[9] ?? 0);
  if (hours > 23 || minutes > 59) return undefined;
  const offset = (hours * 60 + minutes) * 60_000;
  return sign === '+' ? at - offset : sign === '-' ? at + offset : at;
}

const FORM =
  /^D:(\d{4})(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d))?)?)?)?)?(?:Z(?:00'?(?:00'?)?)?|([+-])(\d\d)'?(?:(\d\d)'?)?)?$/;

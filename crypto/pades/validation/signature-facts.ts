/**
 * The facts about one signature or document time-stamp of a PDF (ETSI EN 319 142-1, clauses 5.3, 5.5 and 6.3).
 */

import { OID } from '../../asn1/oids.ts';
import { type Evidence, NO_EVIDENCE } from '../../authorities.ts';
import type { Certificate } from '../../certificates/certificate.ts';
import { cmsFacts } from '../../cms/facts.ts';
import { algorithmsOf } from '../../cms/facts-value.ts';
import { type HashName, hashNamed } from '../../cms/hashes.ts';
import { asText, type PdfDocument } from '../../pdf/index.ts';
import { timestampSigner } from '../../timestamps/check.ts';
import type { SignatureLevel } from '../../types.ts';
import {
  type Finding,
  NOTHING_KNOWN,
  type SignatureFacts,
  type TimestampFacts,
} from '../../validation/facts.ts';
import type { ChangeRecord, SignatureScope } from '../../validation/report.ts';
import { isSound, timestampFacts } from '../../validation/timestamp-facts.ts';
import type { FoundSignature } from '../signatures.ts';
import { CHANGES } from './judged-changes.ts';
import { readPdfTime } from './pdf-time.ts';
import { failed, passed } from './place-findings.ts';

/** What is known about a signature before its CMS is looked at. */
export interface PlacedSignature {
  readonly found: FoundSignature;
  readonly scope: SignatureScope;
  /** About its place, what it covers and what came after it. */
  readonly findings: readonly Finding[];
  readonly changes: readonly ChangeRecord[];
  /** Undefined when what it covers can't be told. */
  readonly contentDigest: ((hash: HashName) => Buffer) | undefined;
}

/** What the file holds beside the signature. */
export interface Surroundings {
  readonly pdf: PdfDocument;
  readonly certificates: readonly Certificate[];
  readonly evidence: Evidence;
  /** Document time-stamps over this signature, oldest first. */
  readonly later: readonly LaterTimestamp[];
}

export interface LaterTimestamp {
  readonly facts: TimestampFacts;
  /** The revocation values in the store are covered too. */
  readonly coversEvidence: boolean;
}

export function isTimestamp({ subFilter }: FoundSignature): boolean {
  return subFilter === 'ETSI.RFC3161';
}

export function signatureFacts(placed: PlacedSignature, around: Surroundings): SignatureFacts {
  const { found, scope } = placed;
  const rules = subFilterRules(found.subFilter);
  const findings = [...placed.findings, ...rules.findings];
  const cms = rules.readable ? found.cms : undefined;
  const [first, ...more] =
    cms === undefined
      ? []
      : cmsFacts(cms, {
          format: 'Pades',
          contentDigest: (hash) => placed.contentDigest?.(hash),
          scope,
          contentType: OID.data,
          contentInside: false,
          ...(rules.baseline
            ? { signingTime: 'absent', signingCertificate: 'required' }
            : { signingCertificate: 'if-present' }),
          around,
          name: found.field,
        });
  if (more.length > 0)
    findings.push(failed('pdf.signers', 'A signature of a PDF has one signer, and this one has more.'));
  const entries = entryFindings(placed, rules.baseline);
  const facts = first ?? unreadFacts(placed, around);
  const text = (key: string): string | undefined => asText(around.pdf.resolve(found.dict.get(key)));
  const [reason, location] = [text('Reason'), text('Location')];
  const baseline = rules.baseline && entries.every(({ status }) => status === 'passed') && more.length === 0;
  return {
    ...facts,
    name: found.field,
    level: baseline ? levelOf(facts, around) : undefined,
    findings: [...findings, ...entries, ...facts.findings],
    claimedTime: readPdfTime(found.claimedTime) ?? facts.claimedTime,
    timestamps: [...facts.timestamps, ...around.later.map((later) => later.facts)],
    changes: placed.changes,
    ...(reason === undefined ? {} : { reason }),
    ...(location === undefined ? {} : { location }),
  };
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
    case 'adbe.pkcs7.detached':
      return {
        readable: true,
        baseline: false,
        findings: [
          {
            status: 'warning',
            type: TYPE,
            message: 'It is a CMS signature of the form before PAdES.',
            detail: name,
          },
        ],
      };
    case 'adbe.pkcs7.sha1':
      return {
        readable: false,
        baseline: false,
        findings: [
          {
            status: 'failed',
            type: TYPE,
            message: 'The signature is over a SHA-1 digest of the document, which proves nothing any more.',
            subIndication: 'CRYPTO_CONSTRAINTS_FAILURE',
          },
        ],
      };
    default:
      return {
        readable: false,
        baseline: false,
        findings: [failed(TYPE, 'The signature has a form that is not known.', name ?? 'no /SubFilter')],
      };
  }
}

/** What a baseline signature must and must not have in its dictionary (clause 6.3, table 1). */
function entryFindings({ found }: PlacedSignature, baseline: boolean): readonly Finding[] {
  if (!baseline) return [];
  const { dict, claimedTime } = found;
  const at = readPdfTime(claimedTime);
  const warning = (type: string, message: string): Finding => ({ status: 'warning', type, message });
  return [
    at === undefined
      ? warning(
          'pdf.claimed-time',
          claimedTime === undefined
            ? 'The time of signing (/M) is missing.'
            : 'The time of signing (/M) is no date.',
        )
      : passed('pdf.claimed-time', 'The time of signing (/M) is there.', new Date(at).toISOString()),
    dict.get('Cert') === undefined
      ? passed('pdf.cert', 'Certificates are in the CMS alone.')
      : warning('pdf.cert', 'The dictionary has a /Cert, which PAdES signatures must not have.'),
    dict.get('Filter') === undefined
      ? warning('pdf.filter', 'The dictionary names no /Filter.')
      : passed('pdf.filter', 'The dictionary names a /Filter.'),
  ];
}

/** The baseline level the sound parts make up (clause 6.1); whether anybody trusts them is judged later. */
function levelOf(facts: SignatureFacts, { evidence, later }: Surroundings): SignatureLevel | undefined {
  if (facts.level === undefined) return undefined;
  const good = later.filter((stamp) => isSound(stamp.facts));
  const stamped = facts.timestamps.some((stamp) => stamp.kind === 'signature' && isSound(stamp));
  if (!stamped && good.length === 0) return 'B';
  if (evidence.crls.length + evidence.ocsps.length === 0) return 'T';
  return good.some(({ coversEvidence }) => coversEvidence) ? 'LTA' : 'LT';
}

/** A signature of which no more is known than its place. */
export function unreadFacts(
  { found, scope }: PlacedSignature,
  { certificates, evidence }: Surroundings,
): SignatureFacts {
  return {
    ...NOTHING_KNOWN,
    format: 'Pades',
    name: found.field,
    scope,
    certificates,
    evidence: evidence ?? NO_EVIDENCE,
  };
}

/** The token of a document time-stamp, checked against what it covers. */
export function documentTimestamp(
  placed: PlacedSignature,
  certificates: readonly Certificate[],
): TimestampFacts {
  const { cms } = placed.found;
  const wrong = placed.findings.filter(({ status, type }) => status === 'failed' && type !== CHANGES);
  if (cms === undefined) return { kind: 'document', token: undefined, findings: wrong };
  const covered = (name: string): Buffer | undefined => {
    const hash = hashNamed(name);
    // Nothing has a digest of no bytes: an imprint over what can't be told is one over something else.
    return hash === undefined ? undefined : (placed.contentDigest?.(hash) ?? Buffer.alloc(0));
  };
  const facts = timestampFacts('document', cms, covered, certificates);
  return { ...facts, findings: [...wrong, ...facts.findings] };
}

/** A document time-stamp as a signature of its own. */
export function timestampSignatureFacts(
  placed: PlacedSignature,
  { token, findings }: TimestampFacts,
  around: Surroundings,
): SignatureFacts {
  const base = unreadFacts(placed, around);
  const own = findings.filter((finding) => !placed.findings.includes(finding));
  const certificate = token === undefined ? undefined : timestampSigner(token, around.certificates);
  const [signer] = token?.signedData.signers ?? [];
  return {
    ...base,
    findings: [...placed.findings, passed(TYPE, 'It is a document time-stamp.'), ...own],
    certificate,
    certificates: [...(token?.certificates ?? []), ...around.certificates],
    claimedTime: token?.genTime,
    algorithms:
      token === undefined || signer === undefined
        ? []
        : [
            { name: token.imprintAlgorithm, where: 'imprint of the time-stamp' },
            ...algorithmsOf(signer, certificate),
          ],
    timestamps: around.later.map(({ facts }) => facts),
    changes: placed.changes,
    isTimestamp: true,
  };
}

/** OCSP responders of trusted lists: who may answer about a certificate, by the closed rule and by every state of a list. */
import { createPublicKey, randomBytes } from 'node:crypto';
import test from 'ava';
import { MemoryOutput } from '#crypto/core/types.js';
import { COUNTED, type ResponderStanding } from '#crypto/evidence/ocsp.js';
import { encodeCertId } from '#crypto/evidence/revocation-inquiry.js';
import { signFile } from '#crypto/files/sign-file.js';
import { validateFile } from '#crypto/files/validate-file.js';
import { readTrustedList } from '#crypto/qualification/trusted-list.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import { type CertificateUse, issueCertificate } from '../../pki/issuing.ts';
import { keyOf } from '../../pki/pki.ts';
import { makeBasicResponse, makeCrl, serialOf } from '../../pki/revocation-answers.ts';
import {
  AT,
  type Authority,
  authorityOf,
  type EntryText,
  listText,
  OCSP_QC,
  providerText,
  serviceText,
  TSA_QTST,
} from './own-lists.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const authority = authorityOf('BE');
/** Issues responders that the authority did not name. */
const root = authorityOf('BE', 'Provider', 'Root');
const signer = authority.issue(['compliance', 'signature', 'device']);

const NAME = { country: 'BE', organization: 'Provider', commonName: 'Responder' };

function responderOf(
  issuer: Authority,
  more: { readonly use?: CertificateUse; readonly notAfter?: number; readonly crlUrl?: string } = {},
) {
  const key = keyOf('p-256');
  const certificate = issueCertificate({
    subject: NAME,
    issuer: issuer.name,
    publicKey: key.publicKey,
    issuerKey: issuer.key,
    serial: randomBytes(8),
    notBefore: Date.UTC(2020, 0, 1),
    notAfter: AT + 30 * DAY,
    use: { kind: 'ocsp', noCheck: false },
    ...more,
  });
  return { key: key.privateKey, certificate };
}

const RESPONDERS = {
  issuer: { key: authority.key, certificate: authority.certificate },
  delegated: responderOf(authority),
  nobody: responderOf(root),
} as const;

interface Situation {
  readonly responder?: { readonly key: Authority['key']; readonly certificate: Buffer };
  /** Entries of its service; undefined: it is not on the list. */
  readonly entries?: readonly EntryText[] | undefined;
  /** Certificate on the list. @default its own */
  readonly listed?: Buffer;
  /** Name of another provider that it belongs to. */
  readonly provider?: string;
  readonly territory?: string;
  readonly crls?: readonly Buffer[];
  readonly certificates?: readonly Buffer[];
}

/** Produced a day before the time of validation. */
const PRODUCED = AT - DAY;

async function judged(situation: Situation) {
  const { responder = RESPONDERS.nobody, entries, provider, territory = 'BE' } = situation;
  const { listed = responder.certificate } = situation;
  const service = entries && serviceText(listed, entries);
  const providers = [
    providerText(authority.certificate, [{}], 'Provider', provider === undefined ? service : ''),
    ...(provider === undefined || entries === undefined ? [] : [providerText(listed, entries, provider)]),
  ].join('');
  const list = readTrustedList(Buffer.from(listText({ providers })));
  const answer = makeBasicResponse(
    [encodeCertId(readCertificate(signer.certificate), readCertificate(authority.certificate))],
    {
      thisUpdate: PRODUCED,
      nextUpdate: AT + DAY,
      producedAt: PRODUCED,
      revoked: new Map(),
      issuer: authority.certificate,
      responder,
    },
  );
  const { crls = [], certificates = [] } = situation;
  const output = new MemoryOutput();
  signFile({ format: 'Xades', input: Buffer.from('<order/>'), output, signer, at: AT });
  const trust = {
    anchors: [authority.certificate],
    revocation: 'hard',
    lists: { listOf: (of: string) => (of === territory ? list : undefined) },
    evidence: { certificates, crls, ocsps: [answer] },
  } as const;
  const report = await validateFile({ format: 'Xades', path: output.bytes, trust, at: AT });
  const text = JSON.stringify(report);
  const { indication, subIndication } = report.signatures[0] ?? {};
  const isCounted = indication === 'TOTAL-PASSED';
  if (!isCounted && subIndication !== 'TRY_LATER') throw new Error(text);
  return { isCounted, text };
}

const at = (time: number) => new Date(time).toISOString();
const ENTRIES: { readonly [standing in ResponderStanding]: readonly EntryText[] | undefined } = {
  granted: [{ type: OCSP_QC, information: [] }],
  withdrawn: [{ type: OCSP_QC, information: [], status: 'withdrawn' }],
  unlisted: undefined,
};

for (const [by, row] of Object.entries(COUNTED))
  for (const [standing, isCounted] of Object.entries(row))
    test(`an answer by a responder of ${by} that is ${standing} counts: ${isCounted}`, async (t) => {
      const entries = ENTRIES[standing as ResponderStanding];
      const found = await judged({ responder: RESPONDERS[by as keyof typeof COUNTED], entries });
      t.is(found.isCounted, isCounted, found.text);
    });

const OCSP = OCSP_QC.replace('/QC', '');
const entry = (status: string, since: number, type = OCSP_QC): EntryText => ({
  type,
  information: [],
  status,
  since: at(since),
});
const NEW = PRODUCED + 1000;
const OLD = PRODUCED - 1000;
const FIRST = Date.UTC(2017, 0, 1);
const expired = responderOf(root, { notAfter: PRODUCED - HOUR });
const renewed = issueCertificate({
  subject: NAME,
  issuer: root.name,
  publicKey: createPublicKey(RESPONDERS.nobody.key),
  issuerKey: root.key,
  serial: randomBytes(8),
  notBefore: Date.UTC(2019, 0, 1),
  notAfter: AT + 60 * DAY,
  use: { kind: 'ocsp', noCheck: false },
});
const another = responderOf(root, { use: { kind: 'signer', purposes: [] } });
const named = responderOf(root, { crlUrl: 'http://lists.test/root.crl' });
const crl = (isRevoked: boolean) =>
  makeCrl({
    issuer: root,
    thisUpdate: AT - 2 * DAY,
    nextUpdate: AT + DAY,
    revoked: new Map(isRevoked ? [[serialOf(named.certificate), { at: AT - 3 * DAY, reason: 1 }]] : []),
  });
const GRANTED = ENTRIES.granted;

/** Situations of a responder that the issuer did not name: whether its answer counts. */
const SITUATIONS: { readonly [name: string]: readonly [Situation, boolean] } = {
  'on the list as a service for time-stamps': [{ entries: [{ type: TSA_QTST, information: [] }] }, false],
  'for certificates that are not qualified': [{ entries: [entry('granted', FIRST, OCSP)] }, false],
  'of another provider': [{ entries: GRANTED, provider: 'Else' }, false],
  'of another provider of the same name': [{ entries: GRANTED, provider: 'Provider' }, false],
  'on the list of another country': [{ entries: GRANTED, territory: 'FR' }, false],
  'of the same name and another key': [{ entries: GRANTED, listed: responderOf(root).certificate }, false],
  'of the same key with another certificate': [{ entries: GRANTED, listed: renewed }, true],
  'granted after it answered': [{ entries: [entry('granted', NEW)] }, false],
  'granted before it answered': [{ entries: [entry('granted', OLD)] }, true],
  'withdrawn, and granted after it answered': [
    { entries: [entry('granted', NEW), entry('withdrawn', FIRST)] },
    false,
  ],
  'withdrawn, and granted before it answered': [
    { entries: [entry('granted', OLD), entry('withdrawn', FIRST)] },
    true,
  ],
  'withdrawn after it answered': [{ entries: [entry('withdrawn', NEW), entry('granted', FIRST)] }, true],
  'qualified after it answered': [{ entries: [entry('granted', NEW), entry('granted', FIRST, OCSP)] }, false],
  'in another state': [{ entries: [entry('recognisedatnationallevel', FIRST)] }, false],
  'with a history out of order': [{ entries: [entry('granted', FIRST), entry('granted', OLD)] }, false],
  'with a critical extension that is not known': [
    {
      entries: [
        {
          type: OCSP_QC,
          information: [],
          extension: '<Extension Critical="true"><x:New/></Extension>',
        },
      ],
    },
    false,
  ],
  'whose certificate is for something else': [{ responder: another, entries: GRANTED }, false],
  'whose certificate had expired': [{ responder: expired, entries: GRANTED }, false],
  'of which nobody says whether it was revoked': [{ responder: named, entries: GRANTED }, true],
  'that was not revoked': [
    { responder: named, entries: GRANTED, crls: [crl(false)], certificates: [root.certificate] },
    true,
  ],
  'that was revoked': [
    { responder: named, entries: GRANTED, crls: [crl(true)], certificates: [root.certificate] },
    false,
  ],
};

for (const [name, [situation, isCounted]] of Object.entries(SITUATIONS))
  test(`an answer by a responder ${name} counts: ${isCounted}`, async (t) => {
    const found = await judged(situation);
    t.is(found.isCounted, isCounted, found.text);
  });

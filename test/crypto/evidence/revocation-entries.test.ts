import test from 'ava';
import { childrenOf, encoded, readWhole, TAG } from '#crypto/asn1/read.js';
import { time, timeText } from '#crypto/asn1/time.js';
import { bitString, sequence, small, tlv } from '#crypto/asn1/write.js';
import { encodeCertId } from '#crypto/evidence/revocation-inquiry.js';
import { type RevocationStatus, revocationStatus } from '#crypto/evidence/revocation-status.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import { makeAuthorityPki } from '../../pki/authority-pki.ts';
import { structureSigner } from '../../pki/issuing.ts';
import { crlExtension, makeBasicResponse, serialOf } from '../../pki/revocation-answers.ts';

const AT = Math.floor(Date.now() / 1000) * 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** CRLReason (RFC 5280 §5.3.1). */
const REASON = { keyCompromise: 1, superseded: 4, hold: 6, removed: 8 } as const;

const pki = makeAuthorityPki({ baseUrl: 'http://authority.test', now: AT });
const ca = pki.issuing;
const issuer = readCertificate(ca.certificate);
const signer = readCertificate(pki.signer('p-256').certificate);
const SERIAL = serialOf(signer.der);

interface Entry {
  readonly at: number;
  readonly reason?: number;
  /** Time, or DER of something else. */
  readonly invalidSince?: number | Buffer;
  readonly serial?: string;
}

function entryText({ at, reason, invalidSince, serial = SERIAL }: Entry): Buffer {
  const extensions: Buffer[] = [];
  if (reason !== undefined) extensions.push(crlExtension('2.5.29.21', Buffer.from([0x0a, 1, reason])));
  if (invalidSince !== undefined) extensions.push(invalidityDate(invalidSince));
  const parts = extensions.length === 0 ? [] : [sequence(...extensions)];
  return sequence(tlv(TAG.integer, Buffer.from(serial, 'hex')), time(at), ...parts);
}

function invalidityDate(at: number | Buffer): Buffer {
  const date = typeof at === 'number' ? tlv(TAG.generalizedTime, Buffer.from(timeText(at))) : at;
  return crlExtension('2.5.29.24', date);
}

/** A complete CRL of an hour ago with these entries in their order. */
function crl(...entries: readonly Entry[]): Buffer {
  const key = structureSigner(ca.key);
  const list = sequence(
    small(1),
    key.algorithm,
    issuer.subject,
    time(AT - HOUR),
    time(AT + HOUR),
    sequence(...entries.map(entryText)),
    tlv(TAG.context0Constructed, sequence(crlExtension('2.5.29.20', small(1)))),
  );
  return sequence(list, key.algorithm, bitString(key.sign(list)));
}

function judge(
  parts: { readonly crls?: readonly Buffer[]; readonly ocsps?: readonly Buffer[] },
  at = AT,
): string {
  const status: RevocationStatus = revocationStatus(signer, issuer, {
    evidence: { certificates: [], crls: [], ocsps: [], ...parts },
    at,
  });
  if (status.status !== 'revoked') return status.status;
  return `revoked ${Math.round((AT - status.revocation.at) / DAY)} ${status.revocation.reason}`;
}

const byCrl = (entries: readonly Entry[], at?: number): string => judge({ crls: [crl(...entries)] }, at);

test('a signature from after the invalidity date is one of a revoked certificate, even from before the revocation', (t) => {
  const later = AT - HOUR / 2;
  const entry = { at: later, reason: REASON.keyCompromise };
  t.is(byCrl([entry], AT - DAY), 'good', 'revoked after the time in question');
  t.is(byCrl([{ ...entry, invalidSince: AT - 3 * DAY }], AT - DAY), 'revoked 3 keyCompromise');
  t.is(byCrl([{ ...entry, invalidSince: AT - 3 * DAY }], AT - 4 * DAY), 'good', 'before both');
  t.is(byCrl([{ ...entry, invalidSince: AT }], AT), 'revoked 0 keyCompromise', 'a date after the revocation');
  const hold = { at: later, reason: REASON.hold, invalidSince: AT - 3 * DAY };
  t.is(byCrl([hold], AT - DAY), 'good', 'a hold says nothing about the time before');
});

test('an invalidity date that cannot be read leaves the revocation', (t) => {
  const entry = { at: AT - 2 * DAY, reason: REASON.keyCompromise };
  for (const text of ['202601', '20260101000000', '']) {
    const invalidSince = tlv(TAG.generalizedTime, Buffer.from(text));
    t.is(byCrl([{ ...entry, invalidSince }]), 'revoked 2 keyCompromise', text);
    t.is(byCrl([{ ...entry, invalidSince, serial: '1234' }, entry]), 'revoked 2 keyCompromise', text);
  }
});

test('all entries about a certificate count, in any order', (t) => {
  const late = { at: AT - HOUR / 2, reason: REASON.superseded };
  const early = { at: AT - 2 * DAY, reason: REASON.keyCompromise };
  const hold = { at: AT - 3 * DAY, reason: REASON.hold };
  for (const [entries, expected] of [
    [[late, early], /^revoked 2 /],
    [[early, late], /^revoked 2 /],
    [[hold, late], /^revoked 3 superseded$/],
    [[late, hold], /^revoked 3 superseded$/],
    [[{ at: AT - DAY, reason: REASON.removed }, early], /^revoked 2 keyCompromise$/],
    [[early, { at: AT - DAY, reason: REASON.removed }], /^revoked 2 keyCompromise$/],
    [[{ at: AT - DAY, reason: REASON.removed }], /^good$/],
  ] as const) {
    t.regex(byCrl(entries, AT - DAY), expected);
  }
});

test('a serial number counts by its value, whatever zeros stand before it', (t) => {
  const entry = { at: AT - 2 * DAY, reason: REASON.keyCompromise };
  for (const serial of [SERIAL, `00${SERIAL}`, `0000${SERIAL}`]) {
    t.is(byCrl([{ ...entry, serial }]), 'revoked 2 keyCompromise', serial);
    t.is(judge({ ocsps: [response([serial], [serial])] }), 'revoked 2 keyCompromise', serial);
  }
  for (const serial of [`01${SERIAL}`, SERIAL.slice(2), `${SERIAL}00`, '00']) {
    t.is(byCrl([{ ...entry, serial }]), 'good', serial);
    t.is(judge({ ocsps: [response([serial], [serial])] }), 'unknown', serial);
  }
});

test('an OCSP response that says both good and revoked means revoked', (t) => {
  const padded = `00${SERIAL}`;
  t.is(judge({ ocsps: [response([SERIAL, padded], [])] }), 'good');
  t.is(judge({ ocsps: [response([SERIAL, padded], [padded])] }), 'revoked 2 keyCompromise');
  t.is(judge({ ocsps: [response([padded, SERIAL], [padded])] }), 'revoked 2 keyCompromise');
});

/** An OCSP response about these serial numbers, of which some were revoked two days ago. */
function response(serials: readonly string[], revoked: readonly string[]): Buffer {
  const [algorithm, nameHash, keyHash] = childrenOf(readWhole(encodeCertId(signer, issuer))).map(encoded);
  const ids = serials.map((serial) =>
    sequence(
      algorithm ?? Buffer.alloc(0),
      nameHash ?? Buffer.alloc(0),
      keyHash ?? Buffer.alloc(0),
      tlv(TAG.integer, Buffer.from(serial, 'hex')),
    ),
  );
  return makeBasicResponse(ids, {
    thisUpdate: AT - HOUR,
    nextUpdate: AT + HOUR,
    producedAt: AT - HOUR,
    revoked: new Map(revoked.map((serial) => [serial, { at: AT - 2 * DAY, reason: REASON.keyCompromise }])),
    issuer: ca.certificate,
    responder: ca.responder,
  });
}

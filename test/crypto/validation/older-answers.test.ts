/** Revocation answers in a file that are timely, but older than the signature: its signer may have chosen them. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { validateFile } from '@sealwright/signatures';
import test from 'ava';
import { OID } from '#crypto/asn1/oids.js';
import { TAG } from '#crypto/asn1/read.js';
import { oid, sequence, tlv } from '#crypto/asn1/write.js';
import type { SignatureRecord, ValidationResults } from '#crypto/core/validation-report.js';
import type { EvidenceSource } from '#crypto/evidence/authorities.js';
import { encodeCertId } from '#crypto/evidence/revocation-inquiry.js';
import type { TrustSettings } from '#crypto/validation/trust.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import type { TestSigner } from '../../pki/pki.ts';
import { makeBasicResponse, makeCrl } from '../../pki/revocation-answers.ts';
import { attributeOf, forge } from './forge.ts';
import { verdictOf } from './judging.ts';

const HOUR = 3_600_000;
const NOW = Math.floor(Date.now() / 1000) * 1000;
const CONTENT = Buffer.from('One hundred barrels, to be paid on delivery.\n');

let authority: TestAuthority;
test.before(async () => {
  authority = await startAuthority();
});
test.after.always(() => authority.close());

/** Signs now with answers of twelve hours ago, which stay timely for a week. */
function signedWithOldAnswers(kind: 'crl' | 'ocsp', signer: TestSigner): string {
  const { root, issuing, folder } = authority.pki;
  const old = { thisUpdate: NOW - 12 * HOUR, nextUpdate: NOW + 156 * HOUR, revoked: new Map() };
  const id = encodeCertId(readCertificate(signer.certificate), readCertificate(issuing.certificate));
  const ocsp = makeBasicResponse([id], {
    ...old,
    producedAt: old.thisUpdate,
    issuer: issuing.certificate,
    responder: issuing.responder,
  });
  const values = sequence(tlv(TAG.context1Constructed, sequence(ocsp)));
  const rootList = makeCrl({ issuer: root, ...old });
  const der = forge({
    signer: { key: signer.key.keyObject, certificate: signer.certificate },
    content: CONTENT,
    inside: CONTENT,
    at: NOW,
    certificates: [signer.certificate, issuing.certificate],
    crls: kind === 'crl' ? [rootList, makeCrl({ issuer: issuing, ...old })] : [rootList],
    unsigned: kind === 'crl' ? [] : [attributeOf(oid(OID.revocationValues), values)],
  });
  const path = join(folder, `${randomBytes(8).toString('hex')}.p7m`);
  writeFileSync(path, der);
  return path;
}

async function judged(path: string, online?: EvidenceSource): Promise<SignatureRecord> {
  const trust: TrustSettings = {
    anchors: [authority.pki.root.certificate],
    intermediates: [],
    revocation: 'hard',
    ...(online !== undefined && { online }),
  };
  const { signatures } = await validateFile({ format: 'Cades', path, trust, at: Date.now() });
  const [record] = signatures;
  if (record === undefined) throw new Error('no signature');
  return record;
}

/** Types of all warnings, nested ones included. */
function warningsIn({ warnings, passedChecks, errors }: ValidationResults): string[] {
  const inside = [...passedChecks, ...errors, ...warnings].flatMap(({ inner }) => inner ?? []);
  return [...warnings.map(({ type }) => type), ...inside.flatMap(warningsIn)];
}

for (const kind of ['crl', 'ocsp'] as const) {
  test(`a stored ${kind} answer from before a revocation does not hide it where sources can be asked`, async (t) => {
    const { services, pki } = authority;
    const honest = pki.freshSigner();
    const forged = pki.freshSigner();
    authority.revoke(forged.certificate, NOW - 6 * HOUR);
    const asked = await judged(signedWithOldAnswers(kind, forged), services.evidence);
    t.is(verdictOf(asked), 'INDETERMINATE: REVOKED_NO_POE');
    const twin = await judged(signedWithOldAnswers(kind, honest), services.evidence);
    t.is(verdictOf(twin), 'TOTAL-PASSED');
    t.false(warningsIn(twin.results).includes('revocation.older'), 'newer answers are at hand');
  });

  test(`without other sources, a stored ${kind} answer that is older than the signature causes a warning`, async (t) => {
    const record = await judged(signedWithOldAnswers(kind, authority.pki.freshSigner()));
    t.is(verdictOf(record), 'TOTAL-PASSED');
    t.true(warningsIn(record.results).includes('revocation.older'));
  });
}

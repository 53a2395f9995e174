import { createHash } from 'node:crypto';
import test from 'ava';
import { header, sequence, tlv } from '#crypto/asn1/write.js';
import { buildSignedData } from '#crypto/cms/build.js';
import { verifySignedData } from '#crypto/validation/signed-data/verify-signed-data.js';
import { pki } from '../../pki/pki.ts';

const DIGEST = createHash('sha256').update('content').digest();
const AT = Date.now();

function good(): Buffer {
  return buildSignedData({ signer: pki().signer('p-256'), digest: 'sha256', messageDigest: DIGEST });
}

function accepted(der: Buffer): boolean {
  const checks = verifySignedData(der, {
    contentDigest: () => DIGEST,
    at: AT,
    anchors: [pki().root.certificate],
    expectedSigner: pki().signer('p-256').fingerprint,
  });
  return checks.every(({ ok }) => ok);
}

test('a signature cut short at any byte is refused with a check, never an exception', (t) => {
  const der = good();
  t.true(accepted(der));
  for (let length = 0; length < der.length; length++) t.false(accepted(der.subarray(0, length)));
});

test('no flipped bit outside the unsigned parts makes another signature that passes', (t) => {
  const der = good();
  const passed: number[] = [];
  for (let at = 0; at < der.length; at++) {
    const changed = Buffer.from(der);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    if (accepted(changed)) passed.push(at);
  }
  // Versions and the list of digest algorithms at the front announce things that are decided elsewhere.
  const announced = 64;
  const inSignerVersion = (at: number) => der.subarray(at - 2, at).equals(Buffer.from('0201', 'hex'));
  const stray = passed.filter((at) => at >= announced && !inSignerVersion(at));
  t.deepEqual(stray, []);
});

test('random bytes with the shape of a SignedData never pass and never throw', (t) => {
  const der = good();
  let state = 7;
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  for (let round = 0; round < 3000; round++) {
    const changed = Buffer.from(der);
    for (let edits = 2 + next(20); edits > 0; edits--) changed[64 + next(der.length - 64)] = next(256);
    t.false(accepted(changed));
  }
});

test('structures that would cost much time or memory are refused at once', (t) => {
  const deep = Buffer.from('3080'.repeat(100_000), 'hex');
  const lying = Buffer.concat([header(0x30, 2 ** 40), Buffer.alloc(100)]);
  const signedData = Buffer.from('06092a864886f70d010702', 'hex');
  const data = Buffer.from('06092a864886f70d010701', 'hex');
  const version = Buffer.from('020101', 'hex');
  const crowd = (certificates: Buffer, signers: Buffer) =>
    sequence(
      signedData,
      tlv(0xa0, sequence(version, tlv(0x31), sequence(data), tlv(0xa0, certificates), tlv(0x31, signers))),
    );
  const manySigners = crowd(Buffer.alloc(0), Buffer.alloc(2 * 5000, Buffer.from('3000', 'hex')));
  const manyCertificates = crowd(Buffer.alloc(2 * 9000, Buffer.from('3000', 'hex')), Buffer.alloc(0));
  for (const bytes of [deep, lying, manySigners, manyCertificates, Buffer.alloc(0), Buffer.alloc(1 << 20)]) {
    t.false(accepted(bytes));
  }
});

test('embedded content does not replace the content that had to be signed', (t) => {
  const signer = pki().signer('p-256');
  const der = buildSignedData({ signer, digest: 'sha256', messageDigest: DIGEST });
  const detachedContent = Buffer.from('300b06092a864886f70d010701', 'hex');
  const at = der.indexOf(detachedContent);
  const inside = sequence(
    Buffer.from('06092a864886f70d010701', 'hex'),
    tlv(0xa0, tlv(0x04, Buffer.from('content'))),
  );
  // Behind four headers of four bytes or eleven: ContentInfo, its type, [0], SignedData.
  const body = der.subarray(4 + 11 + 4 + 4, at);
  const rebuilt = sequence(
    Buffer.from('06092a864886f70d010702', 'hex'),
    tlv(0xa0, sequence(body, inside, der.subarray(at + detachedContent.length))),
  );
  const checks = verifySignedData(rebuilt, { contentDigest: () => DIGEST, at: AT });
  t.deepEqual(
    checks.filter(({ ok }) => !ok).map(({ name }) => name),
    ['detached'],
  );
});

import { createHash, webcrypto } from 'node:crypto';
import test from 'ava';
import * as pkijs from 'pkijs';
import { buildSignedData } from '#crypto/cms/build.js';
import { pki } from '../../pki/pki.ts';

pkijs.setEngine('node', new pkijs.CryptoEngine({ name: 'node', crypto: webcrypto as never }));

/** Verifies our signature over `content` with another CMS library; needs no installed tool. */
async function judged(der: Buffer, content: Buffer): Promise<boolean> {
  const signedData = new pkijs.SignedData({ schema: pkijs.ContentInfo.fromBER(new Uint8Array(der)).content });
  try {
    return await signedData.verify({ signer: 0, data: Uint8Array.from(content).buffer, checkChain: false });
  } catch {
    return false; // it throws where digests differ
  }
}

for (const kind of ['rsa-2048', 'p-256', 'p-384', 'p-521'] as const) {
  for (const digest of ['sha256', 'sha384', 'sha512'] as const) {
    test(`another CMS library accepts ${kind} with ${digest}, and refuses other content`, async (t) => {
      const content = Buffer.from(`signed with ${kind} and ${digest}`);
      const messageDigest = createHash(digest).update(content).digest();
      const der = buildSignedData({ signer: pki().signer(kind), digest, messageDigest });
      t.true(await judged(der, content));
      t.false(await judged(der, Buffer.concat([content, Buffer.from('.')])));
    });
  }
}

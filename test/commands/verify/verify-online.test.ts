/** `sealwright verify --online` as people run it, against an authority of their own. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signFile } from '@sealwright/signatures';
import test from 'ava';
import { certificatePem } from '#crypto/x509/certificate.js';
import {
  JOURNAL,
  LOCATION,
  listSigner,
  listText,
  lotlText,
  providerText,
  signList,
} from '../../crypto/trust-lists/own-lists.ts';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import type { TestSigner } from '../../pki/pki.ts';
import { freshFolder, start } from '../program.ts';

const DAY = 86_400_000;

let authority: TestAuthority;
test.before(async () => {
  authority = await startAuthority();
});
test.after.always(() => authority.close());

async function verified(
  signer: TestSigner,
  words: readonly string[],
  settings: object = {},
): Promise<{ readonly code: number | string; readonly text: string }> {
  const folder = freshFolder();
  const { pki } = authority;
  writeFileSync(join(folder, 'root.pem'), certificatePem(pki.root.certificate));
  writeFileSync(join(folder, 'appsettings.json'), JSON.stringify(settings));
  writeFileSync(join(folder, 'order.txt'), 'One hundred barrels.\n');
  const output = join(folder, 'order.p7m');
  signFile({ format: 'Cades', input: join(folder, 'order.txt'), output, signer, at: Date.now() });
  const run = start(folder, ['verify', '--trust', 'root.pem', '--revocation', 'hard', ...words, 'order.p7m']);
  const code = await run.ended;
  return { code, text: run.out() + run.err() };
}

test.serial(
  'verify --online asks the authority that the certificate names, and verify without it asks none',
  async (t) => {
    const signer = authority.pki.freshSigner();
    const before = authority.requests.ocsp;
    const alone = await verified(signer, []);
    t.is(alone.code, 1);
    t.regex(alone.text, /Nothing says whether .* was revoked/);
    t.is(authority.requests.ocsp, before);
    const loopback = await verified(signer, ['--online']);
    t.is(loopback.code, 1);
    t.regex(loopback.text, /127\.0\.0\.1 has no public address/);
    t.is(authority.requests.ocsp, before);
    const online = await verified(signer, ['--online', '--allow-private']);
    t.is(online.code, 0, online.text);
    t.regex(online.text, /^good /m);
    t.true(authority.requests.ocsp > before);
  },
);

test.serial('verify --online asks for what ends at a listed service, without any other root', async (t) => {
  const { pki } = authority;
  const scheme = listSigner('scheme', [Date.now() - DAY, Date.now() + DAY]);
  const location = 'https://ec.europa.eu/tools/lotl/eu-lotl.xml';
  const nextUpdate = Date.now() + DAY;
  const pointers = [{ territory: 'XX', signers: [scheme] }];
  const lotl = lotlText([scheme], { pointers, nextUpdate }).replaceAll(LOCATION, location);
  const providers = providerText(pki.issuing.certificate);
  const national = listText({ territory: 'XX', nextUpdate, providers });
  const judged = async (signer: TestSigner, words: readonly string[]) => {
    const folder = freshFolder();
    const lists = join(folder, 'lists');
    mkdirSync(lists);
    const at = Date.now() - 60_000;
    writeFileSync(join(lists, 'eu-lotl.xml'), signList(lotl, scheme, at));
    writeFileSync(join(lists, 'XX.xml'), signList(national, scheme, at));
    writeFileSync(join(lists, 'journal.pem'), certificatePem(scheme.certificate));
    writeFileSync(join(folder, 'appsettings.json'), '{}');
    const output = join(folder, 'order.xml');
    signFile({ format: 'Xades', input: Buffer.from('<order/>'), output, signer, at: Date.now() });
    const of = ['--trust-lists', 'lists', '--list-anchors', 'lists', '--list-journal', JOURNAL];
    const run = start(folder, ['verify', ...of, '--revocation', 'hard', ...words, 'order.xml']);
    return { code: await run.ended, text: run.out() + run.err() };
  };
  const online = ['--online', '--allow-private'];
  const signer = pki.freshSigner();
  const before = authority.requests.ocsp;
  t.is((await judged(signer, [])).code, 1);
  const asked = await judged(signer, online);
  t.is(asked.code, 0, asked.text);
  t.regex(asked.text, /EU status/);
  t.true(authority.requests.ocsp > before);
  authority.revoke(signer.certificate, Date.now() - 3_600_000);
  const revoked = await judged(signer, online);
  t.is(revoked.code, 1, revoked.text);
  t.regex(revoked.text, /was revoked/);
});

test.serial('verify --online fails for a certificate that its authority has revoked', async (t) => {
  const signer = authority.pki.freshSigner();
  authority.revoke(signer.certificate, Date.now() - 3_600_000);
  const { code, text } = await verified(signer, ['--online', '--allow-private']);
  t.is(code, 1, text);
  t.regex(text, /was revoked/);
  const soft = await verified(signer, ['--online', '--allow-private', '--revocation', 'soft']);
  t.is(soft.code, 1, soft.text);
  t.regex(soft.text, /was revoked/);
});

test.serial('verify --online names an unavailable authority, and leaves the signature open', async (t) => {
  authority.break('ocsp', 'missing');
  authority.break('crl', 'missing');
  try {
    const { code, text } = await verified(authority.pki.freshSigner(), ['--online', '--allow-private']);
    t.is(code, 1);
    t.regex(text, /INDETERMINATE/);
    t.true(text.includes(authority.baseUrl), text);
  } finally {
    authority.mend('ocsp');
    authority.mend('crl');
  }
});

test.serial(
  'verify --online fetches missing issuers from the hosts of the configuration alone',
  async (t) => {
    const signer = { ...authority.pki.freshSigner(), chain: [] };
    const words = ['--online', '--allow-private'];
    const plain = await verified(signer, words);
    t.is(plain.code, 1);
    t.regex(plain.text, /NO_CERTIFICATE_CHAIN_FOUND/);
    const listed = { Signing: { Trust: { AllowAia: true, AiaHosts: ['127.0.0.1'] } } };
    const found = await verified(signer, words, listed);
    t.is(found.code, 0, found.text);
  },
);

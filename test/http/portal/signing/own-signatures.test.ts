/** Files signed here are recognized when they are uploaded for validation. Source: docs/portal-values.md §17. */
import { readFileSync } from 'node:fs';
import { validateFile } from '@sealwright/signatures';
import test from 'ava';
import { type Client, sharedProgram, until } from '../../../actors/portal/service.ts';
import {
  type SignerBody,
  selfSigned,
  signatureValue,
  startSignature,
  ticketOf,
} from './certificate-client.ts';

const signer = (name: string) => ({
  user: { name, email: `${name.toLowerCase()}@example.org` },
  allowElectronicSignature: true,
});

async function sign(acme: Client, url: string, id: string, emailAddress: string): Promise<string> {
  const { key, ticket } = await ticketOf(acme, id, emailAddress);
  const answer = await fetch(`${url}/api/documents/keys/${key}/electronic-signature`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ticket }),
  });
  if (answer.status !== 200) throw new Error(await answer.text());
  return key;
}

/** Without the times at which certificates were needed: each node validates when it is first asked. */
function untimed(signers: readonly SignerBody[]): unknown {
  return JSON.parse(JSON.stringify(signers).replace(/needed at [\d:.TZ-]+/g, 'needed'));
}

async function validate(
  client: Client,
  content: Uint8Array,
  type: string,
  more: { readonly certificates?: string } = {},
): Promise<readonly SignerBody[]> {
  const { id } = await client.upload({ name: 'signed', content, type });
  return client.post('/api/documents/validate-signatures', { fileId: id, mimeType: type, ...more });
}

test('a certificate sent with the request is found for a signature that holds none', async (t) => {
  const { acme } = await sharedProgram(t);
  const file = readFileSync('test/fixtures/verdicts/nocerts.p7m');
  const certificates = readFileSync('test/fixtures/verdicts/rsa.crt', 'utf8');
  const type = 'application/pkcs7-mime';
  const [alone] = await validate(acme, file, type);
  t.not(alone?.subjectName, 'Ana rsa');
  const [given] = await validate(acme, file, type, { certificates });
  t.is(given?.subjectName, 'Ana rsa');
  await t.throwsAsync(validate(acme, file, type, { certificates: 'none' }));
});

test('a file signed by the portal is answered with the record of its document, to its organization alone', async (t) => {
  const { acme, url, organization } = await sharedProgram(t);
  const id = await acme.create([signer('Ana'), signer('Bob'), { user: signer('Cy').user }]);
  const content = async () =>
    Buffer.from(await (await acme.fetch(`/api/documents/${id}/content?type=Signatures`)).arrayBuffer());
  const key = await sign(acme, url, id, 'ana@example.org');
  const first = await content();
  await sign(acme, url, id, 'bob@example.org');
  const own = selfSigned('Cy C.');
  const { started, path } = await startSignature(acme, id, 'cy@example.org', own);
  await acme.post(path, { token: started.token, signature: signatureValue(own, started) });
  await until(async () => {
    const { status } = await acme.get<{ status: string }>(`/api/documents/${id}`);
    return status === 'Concluded' ? status : undefined;
  });
  const byKey = await acme.get<{ signers: SignerBody[] }>(`/api/documents/keys/${key}/signatures`);
  t.deepEqual(
    byKey.signers.map(({ subjectName, isElectronic }) => [subjectName, isElectronic]),
    [
      ['Ana', true],
      ['Bob', true],
      ['Cy C.', false],
    ],
  );
  t.deepEqual(untimed(await validate(acme, await content(), 'application/pdf')), untimed(byKey.signers));
  // A copy from before the other signatures is recognized too.
  const [ana, ...others] = await validate(acme, first, 'application/pdf');
  t.is(others.length, 0);
  t.like(ana, { subjectName: 'Ana', isElectronic: true, validationResults: { isValid: true } });
  t.deepEqual(ana?.evidences, byKey.signers[0]?.evidences);
  const otherOrganization = await organization('Strangers');
  const [unknown] = await validate(otherOrganization, first, 'application/pdf');
  t.is(unknown?.isElectronic, false);
  t.is(unknown?.evidences, null);
});

test('seals of XML and CMS name the participant and the digest of the evidence, as those of PDFs do', async (t) => {
  const { acme, url } = await sharedProgram(t);
  const files = [
    ['Xades', { name: 'a.xml', content: Buffer.from('<a>é</a>'), type: 'application/xml' }],
    ['Cades', { name: 'a.txt', content: Buffer.from('text'), type: 'text/plain' }],
  ] as const;
  for (const [format, file] of files) {
    const id = await acme.create([signer('Ana'), signer('Bob')], {}, file);
    const key = await sign(acme, url, id, 'ana@example.org');
    await sign(acme, url, id, 'bob@example.org');
    const { signers } = await acme.get<{ signers: SignerBody[] }>(`/api/documents/keys/${key}/signatures`);
    const answer = await acme.fetch(`/api/documents/${id}/content?type=Signatures`);
    const trust = { anchors: [], intermediates: [], revocation: 'none' } as const;
    const { signatures } = await validateFile({
      format,
      path: Buffer.from(await answer.arrayBuffer()),
      ...(format === 'Cades' && { content: file.content }),
      at: Date.now(),
      trust,
    });
    const roles = signatures.flatMap(({ claimedRoles = [] }) => claimedRoles);
    t.is(roles.length, 2, format);
    for (const { subjectName, evidences } of signers) {
      const person = `${subjectName} (${subjectName.toLowerCase()}@example.org)`;
      const digest = String(Object(evidences).evidencesSha256);
      t.is(digest.length, 44);
      t.true(
        roles.some((role) => role.includes(person) && role.includes(digest)),
        format,
      );
    }
  }
});

test('a detached signature by the portal is answered with the record of its document', async (t) => {
  const { acme, url } = await sharedProgram(t);
  const text = { name: 'a.txt', content: Buffer.from('text'), type: 'text/plain' };
  const id = await acme.create([signer('Ana')], {}, text);
  const key = await sign(acme, url, id, 'ana@example.org');
  const { signers } = await acme.get<{ signers: SignerBody[] }>(`/api/documents/keys/${key}/signatures`);
  const signed = await acme.fetch(`/api/documents/${id}/content?type=Signatures`);
  const content = Buffer.from(await signed.arrayBuffer());
  t.deepEqual(untimed(await validate(acme, content, 'application/pkcs7-signature')), untimed(signers));
});

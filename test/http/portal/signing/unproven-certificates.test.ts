/** A certificate that was accepted without roots has one verdict wherever its signature is shown. */
import test from 'ava';
import { sharedProgram, startProgram } from '../../../actors/portal/service.ts';
import { startAuthority } from '../../../pki/authority.ts';
import { type SignerBody, selfSigned, signatureValue, startSignature } from './certificate-client.ts';

const FLOW = [{ user: { name: 'Ana', email: 'ana@example.org' } }];

test('a permitted self-signed certificate is valid with a warning in each record and on the check page', async (t) => {
  const { acme, url } = await sharedProgram(t);
  const id = await acme.create(FLOW);
  const own = selfSigned('Ana A.');
  const { started, path, key } = await startSignature(acme, id, 'ana@example.org', own);
  const verdict = ({
    validationResults: { isValid, errors, warnings },
  }: Pick<SignerBody, 'validationResults'>) => [isValid, errors, warnings.map(({ type }) => type)];
  const good = [true, [], ['certificate.unproven']];
  t.deepEqual(verdict(started), good);
  const { token } = started;
  t.like(await acme.post(path, { token, signature: signatureValue(own, started) }), { success: true });
  for (const record of [`/api/documents/keys/${key}/signatures`, `/api/documents/${id}/signatures-details`]) {
    const { signers } = await acme.get<{ signers: SignerBody[] }>(record);
    t.is(signers.length, 1, record);
    for (const signer of signers) t.deepEqual(verdict(signer), good, record);
  }
  const page = await (await fetch(`${url}/check/${key}?culture=en`)).text();
  t.true(page.includes('class="verdict good"') && !page.includes('class="bad"'), page);
  t.true(page.includes('No roots are configured'));
});

for (const allowed of [true, false]) {
  const what = allowed ? 'accepted with the fetched one' : 'refused';
  test(`a certificate without its issuer is ${what}, with AllowAia ${allowed} and without checks of revocation`, async (t) => {
    const authority = await startAuthority();
    t.teardown(() => authority.close());
    const { acme } = await startProgram(t, {
      settings: {
        'Signing:Trust:Roots:0': authority.pki.rootFile,
        'Signing:Trust:AllowAia': allowed,
        'Signing:Trust:AiaHosts:0': '127.0.0.1',
        'Signing:Trust:Revocation': 'None',
      },
    });
    const id = await acme.create(FLOW);
    const own = authority.pki.freshSigner();
    const { started, path } = await startSignature(acme, id, 'ana@example.org', own);
    t.is(started.validationResults.isValid, allowed, JSON.stringify(started.validationResults));
    if (!allowed) return;
    const signature = signatureValue(own, started);
    t.like(await acme.post(path, { token: started.token, signature }), { success: true });
    const { signers } = await acme.get<{ signers: SignerBody[] }>(`/api/documents/${id}/signatures-details`);
    t.true(signers[0]?.validationResults.isValid);
  });
}

/** A certificate that was accepted without roots has one verdict wherever its signature is shown. */
import test from 'ava';
import { startProgram } from '../../../actors/portal/service.ts';
import { type SignerBody, selfSigned, signatureValue, startSignature } from './certificate-client.ts';

const FLOW = [{ user: { name: 'Ana', email: 'ana@example.org' } }];

test('a permitted self-signed certificate is valid with a warning in each record and on the check page', async (t) => {
  const { acme, url } = await startProgram(t);
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

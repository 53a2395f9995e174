/**
 * The portal of this project as the remote portal of the batch service: from the input folder through a participant
 * to the output.
 */
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { startProgram } from '../actors/portal/service.ts';
import { clausePdf } from '../crypto/pdf/build.ts';
import { pki } from '../pki/pki.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { pdfsig } from '../verifiers/index.ts';
import { closeBrowser, openSigning, visit } from './browser.ts';

test.after.always(() => closeBrowser());

const ANN = { name: 'Ann Example', email: 'ann@example.org', identifier: '12345678909' };

test('a file dropped into a folder is signed by a person on the page of the portal and comes out in the output folder', async (t) => {
  const portal = await startProgram(t);
  const visited = await visit(t, portal.url, { locale: 'en-US' });
  if (visited === undefined) return;
  const root = await temporaryRoot(t);
  const batch = await Service.start(t, {
    root,
    settings: {
      'Signing:Profiles:0:Name': 'default',
      'Signing:Profiles:0:Format': 'Pades',
      'Signing:Profiles:0:Method': 'RemoteSigner',
      'Signing:Profiles:0:RemoteSigner:Name': ANN.name,
      'Signing:Profiles:0:RemoteSigner:Email': ANN.email,
      'Signing:Profiles:0:RemoteSigner:Identifier': ANN.identifier,
      'Signing:Profiles:0:RemoteSigner:AllowElectronicSignature': true,
      'RemoteSigner:Endpoint': portal.url,
      'RemoteSigner:ApiKey': portal.acme.key,
      'RemoteSigner:PollIntervalSeconds': 1,
    },
  });
  await writeFile(join(root, 'input', 'contract.pdf'), clausePdf(2));
  const { items } = await batch.until('the document to be on the portal', async () => {
    const found = await portal.acme.get<{ items: { id: string; name: string }[] }>(
      `/api/documents?Status=Pending&ParticipantQ=${ANN.email}&ParticipantQueryType=Email`,
    );
    return found.items.length > 0 ? found : undefined;
  });
  t.deepEqual(
    items.map(({ name }) => name),
    ['contract.pdf'],
  );
  const waiting = await batch.until('the job to wait for its signer', async () => {
    const [job] = await batch.jobs();
    return job?.status === 'AwaitingSigner' ? job : undefined;
  });
  t.true(
    existsSync(join(root, 'input', 'contract.pdf')),
    'the original stays while the person has not signed',
  );

  const { url } = await portal.acme.post<{ url: string }>(`/api/documents/${items[0]?.id}/action-url`, {
    emailAddress: ANN.email,
  });
  const { page } = visited;
  await page.goto(url);
  await openSigning(page);
  await page.getByRole('button', { name: 'Sign the document' }).click();
  await page.getByText('You signed the document.').waitFor();

  const job = await batch.finished(waiting.id);
  t.is(job.status, 'Completed', job.errorMessage ?? '');
  const [output = ''] = await readdir(join(root, 'output'));
  const verdicts = await pdfsig(join(root, 'output', output), pki());
  t.deepEqual(
    verdicts.map(({ signature }) => signature),
    ['Signature is Valid.'],
  );
  await batch.until('the original to be gone', async () =>
    existsSync(join(root, 'input', 'contract.pdf')) ? undefined : true,
  );
});

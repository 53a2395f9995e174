/** The certificate of the portal's seals where no signing profile signs here. Source: docs/configuration.md, `Portal:SealProfile`. */
import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { type PortalProgram, startProgram, until } from '../../../actors/portal/service.ts';
import { keyPemOf, pki } from '../../../pki/pki.ts';
import { Service, temporaryRoot } from '../../../service/service.ts';
import { profile } from '../../../service/signing/profiles.ts';

const REMOTE = {
  ...profile(0, {
    Name: 'contracts',
    Format: 'Pades',
    Method: 'RemoteSigner',
    'RemoteSigner:Name': 'Ann Example',
    'RemoteSigner:Email': 'ann@example.org',
    'RemoteSigner:Identifier': '12345678909',
  }),
  'RemoteSigner:Endpoint': 'http://127.0.0.1:9',
  'RemoteSigner:ApiKey': 'App|secret',
};

interface Records {
  readonly signers: readonly {
    readonly issuerName: string;
    readonly validationResults: { readonly isValid: boolean };
  }[];
}

/** Signs a document electronically; returns the records of its signatures. */
async function sealed(acme: PortalProgram['acme']): Promise<Records['signers']> {
  const id = await acme.create([
    { user: { name: 'Ana', email: 'a@example.org' }, allowElectronicSignature: true },
  ]);
  const { flowActions } = await acme.get<{ flowActions: { id: string }[] }>(`/api/documents/${id}`);
  await acme.post(`/api/documents/${id}/electronic-signature`, { flowActionId: flowActions[0]?.id });
  const { signers } = await until(async () => {
    const answer = await acme.fetch(`/api/documents/${id}/signatures-details`);
    return answer.status === 200 ? ((await answer.json()) as Records) : undefined;
  });
  return signers;
}

test('without a local signing profile the portal seals with the development certificate', async (t) => {
  const { acme, service } = await startProgram(t, { settings: REMOTE });
  t.deepEqual(
    (await sealed(acme)).map(({ validationResults }) => validationResults.isValid),
    [true],
  );
  const { profiles } = await service.json<{ profiles: { name: string }[] }>('/api/profiles');
  t.deepEqual(
    profiles.map(({ name }) => name),
    ['contracts'],
    'the batch service does not offer it',
  );
});

test('without a local signing profile the portal seals with Signing:Certificate where it is configured', async (t) => {
  const root = await temporaryRoot(t);
  const certificates = join(root, 'chain.pem');
  const key = join(root, 'key.pem');
  const signer = pki().signer('p-256');
  const chain = [signer.certificate, ...signer.chain].map((der) => `${new X509Certificate(der)}`);
  await writeFile(certificates, chain.join(''));
  await writeFile(key, keyPemOf(signer.key.keyObject), { mode: 0o600 });
  const { acme, service } = await startProgram(t, {
    settings: {
      ...REMOTE,
      'Signing:AllowSelfSigned': false,
      'Signing:Trust:Roots:0': pki().rootFile,
      'Signing:Certificate:Source': 'Pem',
      'Signing:Certificate:Pem:CertificatePath': certificates,
      'Signing:Certificate:Pem:KeyPath': key,
    },
  });
  const [record] = await sealed(acme);
  t.true(record?.validationResults.isValid);
  t.is(record?.issuerName, 'Test Issuing CA');
  t.notRegex(service.printed, /development certificate|Signing:Certificate is not used/);
  const { profiles } = await service.json<{ profiles: { name: string }[] }>('/api/profiles');
  t.deepEqual(
    profiles.map(({ name }) => name),
    ['contracts'],
  );
});

test('the portal is not served without a certificate when development certificates are forbidden', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, {
    root,
    settings: { ...REMOTE, 'Portal:Enabled': true, 'Signing:AllowSelfSigned': false },
  });
  const said = await service.until('the banner', async () =>
    /The portal is not served/.test(service.printed) ? service.printed : undefined,
  );
  t.false(/Portal\s+http/.test(said));
});

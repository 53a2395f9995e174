/** The certificate of the portal's seals where no signing profile signs here. Source: docs/configuration.md, `Portal:SealProfile`. */
import test from 'ava';
import { startProgram, until } from '../../../actors/portal/service.ts';
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

test('without a local signing profile the portal seals with the development certificate', async (t) => {
  const { acme, service } = await startProgram(t, { settings: REMOTE });
  const id = await acme.create([
    { user: { name: 'Ana', email: 'a@example.org' }, allowElectronicSignature: true },
  ]);
  const { flowActions } = await acme.get<{ flowActions: { id: string }[] }>(`/api/documents/${id}`);
  await acme.post(`/api/documents/${id}/electronic-signature`, { flowActionId: flowActions[0]?.id });
  const { signers } = await until(async () => {
    const answer = await acme.fetch(`/api/documents/${id}/signatures-details`);
    return answer.status === 200
      ? ((await answer.json()) as { signers: { validationResults: { isValid: boolean } }[] })
      : undefined;
  });
  t.deepEqual(
    signers.map(({ validationResults }) => validationResults.isValid),
    [true],
  );
  const { profiles } = await service.json<{ profiles: { name: string }[] }>('/api/profiles');
  t.deepEqual(
    profiles.map(({ name }) => name),
    ['contracts'],
    'the batch service does not offer it',
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

/** Tests that the shown pages are evidence of the action, and may be required. Source: docs/decisions/0320-signed-as-read.md. */
import test from 'ava';
import { type Client, sharedProgram } from '../../../actors/portal/service.ts';
import { assertRefused } from '../../refused.ts';
import { selfSigned, signatureValue, startSignature, ticketOf } from './certificate-client.ts';

const person = (name: string) => ({ name, email: `${name.toLowerCase()}@example.org` });
const ANA = { user: person('Ana'), allowElectronicSignature: true };
const EVE = { type: 'Approver', user: person('Eve') };
const ALL = { pages: '1-3', pageCount: 3 };

async function act(
  acme: Client,
  id: string,
  { email, action, body }: { readonly email: string; readonly action: string; readonly body: object },
): Promise<Response> {
  const { key, ticket } = await ticketOf(acme, id, email);
  return fetch(`${acme.url}/api/documents/keys/${key}/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ticket, ...body }),
  });
}

test('the reading of each kind of action is in its evidence, and an action without one is as before', async (t) => {
  const { acme } = await sharedProgram(t);
  const signers = [ANA, { ...ANA, user: person('Bob') }, { user: person('Cy') }];
  const id = await acme.create(signers);
  const sign = (email: string, body: object) =>
    act(acme, id, { email, action: 'electronic-signature', body });
  for (const reading of [
    { pages: '3-1', pageCount: 3 },
    { pages: '1,1', pageCount: 3 },
    { pages: '0-2', pageCount: 3 },
    { pages: '1-4', pageCount: 3 },
    { pages: 'all', pageCount: 3 },
    { pages: `1${',2'.repeat(2_000)}`, pageCount: 3 },
    { pages: '1', pageCount: -1 },
  ])
    await assertRefused(t, await sign('ana@example.org', { reading }), 'BadRequest');
  t.is((await sign('ana@example.org', { reading: { ...ALL, downloaded: true } })).status, 200);
  t.is((await sign('bob@example.org', {})).status, 200);
  const { signers: made } = await acme.get<{ signers: { evidences: { reading?: object; file: string } }[] }>(
    `/api/documents/${id}/signatures-details`,
  );
  const reading = { ...ALL, downloaded: true, declared: false };
  t.deepEqual(
    made.map(({ evidences }) => evidences.reading),
    [reading, undefined],
  );
  const [file] = made.map(({ evidences }) => JSON.parse(Buffer.from(evidences.file, 'base64').toString()));
  t.deepEqual(file.reading, reading, 'the sealed evidence has it');
});

test('where reading is required each way to act is refused without it, with a ticket and with a key', async (t) => {
  const { acme } = await sharedProgram(t);
  const id = await acme.create(
    [
      { ...EVE, step: 1 },
      { ...ANA, step: 2 },
      { user: person('Cy'), step: 3 },
    ],
    {
      requireReading: true,
    },
  );
  t.true((await acme.get<{ requireReading: boolean }>(`/api/documents/${id}`)).requireReading);
  const some = { pages: '1-2', pageCount: 3 };
  const none = { pages: '', pageCount: 0 };
  const wanting = [undefined, some, none, { ...none, declared: true }, { ...none, downloaded: true }];
  for (const reading of wanting)
    await assertRefused(
      t,
      await act(acme, id, { email: EVE.user.email, action: 'approval', body: { reading } }),
      'DocumentNotRead',
    );
  t.is(
    (await act(acme, id, { email: EVE.user.email, action: 'approval', body: { reading: ALL } })).status,
    200,
  );
  const byKey = (body: object) => acme.send(`/api/documents/${id}/electronic-signature`, body);
  for (const reading of wanting) {
    const given = await act(acme, id, {
      email: ANA.user.email,
      action: 'electronic-signature',
      body: { reading },
    });
    await assertRefused(t, given, 'DocumentNotRead');
    await assertRefused(t, await byKey({ reading }), 'DocumentNotRead');
  }
  t.is((await byKey({ reading: { ...none, declared: true, downloaded: true } })).status, 200);
  const own = selfSigned('Cy C.');
  const { started, path } = await startSignature(acme, id, 'cy@example.org', own);
  const complete = { token: started.token, signature: signatureValue(own, started) };
  await assertRefused(t, await acme.send(path, complete), 'DocumentNotRead');
  t.like(await acme.post(path, { ...complete, reading: ALL }), { success: true });
});

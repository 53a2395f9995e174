/** The typed client against the real program. */
import test from 'ava';
import { ApiError, Client, items } from '../../../../clients/typescript/client.ts';
import type { PortalOperations } from '../../../../clients/typescript/portal.d.ts';
import { SAMPLE, sharedProgram } from '../../../actors/portal/service.ts';

test('the typed client uploads, creates, lists by cursor, downloads, and rejects with code and status', async (t) => {
  const { acme } = await sharedProgram(t);
  const client = new Client<PortalOperations>({ url: acme.url, key: acme.key });
  const form = new FormData();
  form.set('file', new Blob([Buffer.from(SAMPLE.content)], { type: 'application/pdf' }), 'contract.pdf');
  const { id, name, contentType } = await client.call('POST /api/uploads', { body: form });
  const file = { id, name, contentType };
  const user = { name: 'Ana Silva', email: 'ana@example.com' };
  const titles = ['Lease 1', 'Lease 2', 'Lease 3'];
  const made = await client.call('POST /api/documents', {
    body: {
      files: titles.map((displayName) => ({ ...file, displayName })),
      flowActions: [{ type: 'Signer', user, allowElectronicSignature: true }],
    },
  });
  t.is(made.length, 3);
  const found: string[] = [];
  const page = (cursor: string) => client.call('GET /api/documents', { query: { cursor, limit: 2 } });
  for await (const { name } of items(page)) found.push(name);
  t.deepEqual(found.sort(), titles);
  const params = { id: made[0]?.documentId ?? '' };
  const content = await client.response('GET /api/documents/{id}/content', { params });
  t.deepEqual(Buffer.from(await content.arrayBuffer()), Buffer.from(SAMPLE.content));
  const error = await t.throwsAsync(
    client.call('GET /api/documents/{id}', { params: { id: '99999999-9999-4999-8999-999999999999' } }),
    { instanceOf: ApiError },
  );
  t.like(error, { status: 422, code: 'DocumentNotFound', details: {}, errors: {} });
  const [first] = made;
  const refused = async (title: string, documentId: string) =>
    t.throwsAsync(
      client.call('POST /api/documents/{id}/cancellation', {
        params: { id: documentId },
        body: { reason: title },
      }),
      { instanceOf: ApiError },
    );
  t.deepEqual((await refused('', first?.documentId ?? ''))?.errors, {
    Reason: ['The Reason field is required.'],
  });
});

test('errors of the typed client have the details of the answer, and its address may have a path', async (t) => {
  const sent: string[] = [];
  const answer = (body: object, status: number) =>
    new Client<PortalOperations>({
      url: 'https://host.example.org/sign/',
      fetch: async (address) => {
        sent.push(String(address));
        return Response.json(body, { status });
      },
    }).call('GET /api/folders');
  const limit = { code: 'LimitExceeded', message: 'Too many.', details: { limit: '30' } };
  const refused = await t.throwsAsync(answer(limit, 422), { instanceOf: ApiError });
  t.like(refused, { code: 'LimitExceeded', message: 'Too many.', details: { limit: '30' }, errors: {} });
  const without = await t.throwsAsync(answer({ code: 'x', details: null }, 422), { instanceOf: ApiError });
  t.deepEqual(without?.details, {});
  t.deepEqual(sent, Array(2).fill('https://host.example.org/sign/api/folders'));
});

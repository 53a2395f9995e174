/** Options of a creation request are obeyed or refused. Source: docs/portal-values.md §§5, 6, 14, 15. */
import anyTest, { type TestFn } from 'ava';
import { type PortalProgram, sharedProgram } from '../../actors/portal/service.ts';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { endedAfter } from '../../project/ended-after.ts';
import { assertRefused } from '../refused.ts';
import { selfSigned, ticketOf } from './signing/certificate-client.ts';

const test = anyTest as TestFn<PortalProgram>;

const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await sharedProgram(shared);
});

const ana = (more: object = {}) => ({ user: { name: 'Ana', email: 'ana@example.org' }, ...more });
const mark = (pageNumber: number | null) => ({ topLeftX: 1, topLeftY: 1, width: 9, height: 9, pageNumber });

async function requestOf({ acme }: PortalProgram, more: object, count = 1) {
  const uploads = await Promise.all(Array.from({ length: count }, () => acme.upload()));
  const files = uploads.map((upload) => ({ ...upload, displayName: 'A' }));
  return { files, flowActions: [ana()], ...more };
}

test('timestampEnabled without a time-stamp authority is refused', async (t) => {
  const { acme } = t.context;
  const refused = await acme.send('/api/documents', await requestOf(t.context, { timestampEnabled: true }));
  await assertRefused(t, refused, 'TimestampNotAvailable');
  t.truthy(await acme.create([ana()], { timestampEnabled: false }));
});

test('a templateId that no template has is ignored, and the document is made of the request', async (t) => {
  const { acme } = t.context;
  const withoutTemplate = await acme.create([ana()], { description: 'Plain' });
  const detailOf = async (id: string) => {
    const { status, description, flowActions } = await acme.get<{
      status: string;
      description: string | null;
      flowActions: readonly { readonly type: string; readonly user: { readonly name: string } }[];
    }>(`/api/documents/${id}`);
    return { status, description, actions: flowActions.map(({ type, user }) => [type, user.name]) };
  };
  const expected = await detailOf(withoutTemplate);
  for (const templateId of [crypto.randomUUID(), '00000000-0000-0000-0000-000000000000', null]) {
    const made = await acme.create([ana()], { description: 'Plain', templateId });
    t.deepEqual(await detailOf(made), expected, `${templateId}`);
  }
  // That of an existing template is ignored too: its documents are made by an operation of its own.
  const template = await acme.post<{ id: string }>('/api/templates/from-document', {
    name: 'Known',
    documentId: withoutTemplate,
  });
  const made = await acme.create([ana()], { templateId: template.id });
  t.deepEqual(await detailOf(made), { ...expected, description: null });
});

test('a qualified document refuses participants with electronic signatures, at creation and later', async (t) => {
  const { acme } = t.context;
  const electronic = ana({ allowElectronicSignature: true });
  const qualified = { signatureType: 'Qualified' };
  const request = await requestOf(t.context, { ...qualified, flowActions: [ana(), electronic] });
  await assertRefused(t, await acme.send('/api/documents', request), 'InvalidFlowAction');
  const byCertificate = ana({ requiredCertificateTypeToSign: 'A3' });
  const id = await acme.create([byCertificate, { ...electronic, type: 'Approver' }], qualified);
  const edit = { addedFlowActions: [electronic] };
  await assertRefused(t, await acme.send(`/api/documents/${id}/flow`, edit), 'InvalidFlowAction');
  // The type of a certificate applies only to participants who sign with one.
  t.truthy(await acme.create([{ ...byCertificate, allowElectronicSignature: true }]));
});

test('isEnvelope and EnvelopeName are read from the query, and the body wins', async (t) => {
  const { acme } = t.context;
  const create = async (query: string, more: object = {}) =>
    acme.post<{ documentId: string }[]>(`/api/documents?${query}`, await requestOf(t.context, more, 2));
  const [made, ...others] = await create('isEnvelope=true&EnvelopeName=Both');
  t.is(others.length, 0);
  t.like(await acme.get(`/api/documents/${made?.documentId}`), { isEnvelope: true, name: 'Both' });
  t.is((await create('isEnvelope=true&EnvelopeName=Both', { isEnvelope: false })).length, 2);
  t.is((await create('isEnvelope=')).length, 2);
  const headers = { 'Idempotency-Key': crypto.randomUUID() };
  const request = await requestOf(t.context, {}, 2);
  const send = (query: string) => acme.send(`/api/documents?${query}`, request, 'POST', headers);
  t.is((await send('isEnvelope=true&envelopeName=E')).status, 200);
  await assertRefused(t, await send(''), 'IdempotencyConflict');
});

test('a reason over its limit is refused and changes nothing, by key and by participants', async (t) => {
  const { acme, url } = t.context;
  const id = await acme.create([ana()]);
  const reason = 'r'.repeat(2_001);
  const { key, ticket } = await ticketOf(acme, id, 'ana@example.org');
  const refusal = await fetch(`${url}/api/documents/keys/${key}/participant-refusal`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ticket, reason }),
  });
  await assertRefused(t, refusal, 'BadRequest');
  for (const end of ['refusal', 'cancellation'])
    await assertRefused(t, await acme.send(`/api/documents/${id}/${end}`, { reason }), 'BadRequest');
  t.like(await acme.get(`/api/documents/${id}`), { status: 'Pending', statusUpdateReason: null });
  await acme.post(`/api/documents/${id}/cancellation`, { reason: reason.slice(1) });
  t.like(await acme.get(`/api/documents/${id}`), { statusUpdateReason: reason.slice(1) });
});

test('marks on pages that do not exist are refused in documents, envelopes, versions and edits', async (t) => {
  const { acme } = t.context;
  const marked = (page: number | null) => [ana({ prePositionedMarks: [mark(page)] })];
  const refused = async (path: string, body: object) => {
    const answer = await acme.send(path, body);
    const { message } = (await answer.clone().json()) as { message: string };
    await assertRefused(t, answer, 'InvalidFlowAction');
    t.is(message, 'A mark is on page 2, and its file has 1 page.');
  };
  await refused('/api/documents', await requestOf(t.context, { flowActions: marked(2) }));
  const envelope = { isEnvelope: true, envelopeName: 'E', flowActions: marked(2) };
  await refused('/api/documents', await requestOf(t.context, envelope, 2));
  for (const page of [1, null]) t.truthy(await acme.create(marked(page)));
  const id = await acme.create([ana()]);
  const { flowActions } = await acme.get<{ flowActions: { id: string }[] }>(`/api/documents/${id}`);
  const flowActionId = flowActions[0]?.id;
  const file = { ...(await acme.upload()), displayName: 'B' };
  const prePositionedMarks = [{ flowActionId, prePositionedDocumentMarks: [mark(2)] }];
  await refused(`/api/documents/${id}/versions`, { file, prePositionedMarks });
  const editedFlowActions = [{ flowActionId, prePositionedMarks: [mark(2)] }];
  await refused(`/api/documents/${id}/flow`, { editedFlowActions });
  // A participant's own places as well, before a code is used up.
  const signing = await acme.create([ana({ allowElectronicSignature: true })]);
  const detail = await acme.get<{ flowActions: { id: string }[] }>(`/api/documents/${signing}`);
  const places = { flowActionId: detail.flowActions[0]?.id, signaturePositions: [mark(2)] };
  await refused(`/api/documents/${signing}/electronic-signature`, places);
  const certificate = selfSigned('Ana').certificate.toString('base64');
  await refused(`/api/documents/${signing}/signature/certificate`, { ...places, certificate });
  const first = { ...places, signaturePositions: [mark(1)] };
  await acme.post(`/api/documents/${signing}/electronic-signature`, first);
  // Marks that stay with a version count too, unless it gives others.
  const two = { name: 'two.pdf', content: clausePdf(2), type: 'application/pdf' };
  const long = await acme.create(marked(2), {}, two);
  const versionOf = (more: object) => acme.send(`/api/documents/${long}/versions`, { file, ...more });
  const kept = await versionOf({});
  t.regex(
    ((await kept.clone().json()) as { message: string }).message,
    /on page 2, and the new version has 1 page/,
  );
  await assertRefused(t, kept, 'InvalidFlowAction');
  const actions = await acme.get<{ flowActions: { id: string }[] }>(`/api/documents/${long}`);
  const moved = { flowActionId: actions.flowActions[0]?.id, prePositionedDocumentMarks: [mark(1)] };
  t.is((await versionOf({ prePositionedMarks: [moved] })).status, 200);
  // Marks of a file without pages are for its printed version, which has as many as it needs.
  const text = { name: 'a.txt', content: Buffer.from('text'), type: 'text/plain' };
  t.truthy(await acme.create(marked(2), {}, text));
});

/** Operations on documents, and the export of lists, over HTTP. Source: docs/decisions/0127-operations-on-documents.md. */
import test from 'ava';
import { csvCell } from '../../../../http/core/csv-reply.ts';
import { type Client, sharedProgram, startProgram, until } from '../../../actors/portal/service.ts';
import { temporaryRoot } from '../../../service/service.ts';
import { clockedPortal, DAY } from '../requests/clocked-portal.ts';

interface Operation {
  readonly id: string;
  readonly status: string;
  readonly matchedCount: number;
  readonly doneCount: number;
  readonly skippedCount: number;
  readonly skippedByCode: Readonly<Record<string, number>>;
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly totalCount: number;
}

const PATH = '/api/documents/operations';
const FLOW = [{ user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true }];

/** Filters that find every document. */
const UNRESTRICTED = [
  {},
  { filterByPendingSignature: false },
  { filterByDocumentType: false },
  { documentType: 'Deed' },
  { folderType: 'Normal' },
  { tags: ',' },
  { tags: ' , ' },
  { q: '' },
  { queryType: 'Name' },
  { participantQ: ' ' },
  { participantQueryType: 'Email' },
];

/** Makes documents of one upload, at most 50 in each call. */
async function makeMany(client: Client, count: number): Promise<readonly string[]> {
  const file = { ...(await client.upload()), displayName: 'Letter' };
  const ids: string[] = [];
  while (ids.length < count) {
    const made = await client.post<{ documentId: string }[]>('/api/documents', {
      files: Array.from({ length: Math.min(50, count - ids.length) }, () => file),
      flowActions: FLOW,
      disablePendingActionNotifications: true,
    });
    ids.push(...made.map(({ documentId }) => documentId));
  }
  return ids;
}

function ended(client: Client, id: string): Promise<Operation> {
  return until(async () => {
    const operation = await client.get<Operation>(`${PATH}/${id}`);
    return operation.status === 'Completed' || operation.status === 'Canceled' ? operation : undefined;
  });
}

const historyOf = async (client: Client, id: string) =>
  (await client.get<Page<{ type: string }>>(`/api/documents/${id}/history?limit=100`)).items.map(
    ({ type }) => type,
  );

test('operations killed midway process every document once, and count exactly', async (t) => {
  const root = await temporaryRoot(t);
  const faults = 'effect.done.before-outcome/operateDocuments=kill:1';
  const first = await startProgram(t, { root, faults });
  const ids = await makeMany(first.acme, 150);
  await first.acme.post(`/api/documents/${ids[3]}/cancellation`, { reason: 'By hand.' });
  const counted = await first.acme.post<object>(PATH, { action: 'Remind', filter: {}, dryRun: true });
  t.deepEqual(counted, { matchedCount: 149 });
  const begun = await first.acme.post<Operation>(PATH, { action: 'Remind', filter: {} });
  t.is(begun.matchedCount, 149);
  t.is(await first.service.ended, 'SIGKILL');

  const second = await startProgram(t, { root, faults: faults.replace('kill:1', 'kill:4') });
  t.like(await ended(second.acme, begun.id), { status: 'Completed', doneCount: 149, skippedCount: 0 });
  for (const id of [ids[0], ids[63], ids[64], ids[149]])
    t.is((await historyOf(second.acme, id ?? '')).filter((type) => type === 'Reminded').length, 1);

  const cancel = { action: 'Cancel', filter: { createdTo: '2999-01-01' }, reason: 'Campaign over.' };
  const canceling = await second.acme.post<Operation>(PATH, cancel);
  t.is(await second.service.ended, 'SIGKILL');
  const third = await startProgram(t, { root });
  t.like(await ended(third.acme, canceling.id), { status: 'Completed', doneCount: 149, skippedCount: 0 });
  const list = await third.acme.get<Page<object>>('/api/documents?Status=Canceled');
  t.is(list.totalCount, 150);
  const detail = await third.acme.get<{ statusUpdateReason: string }>(`/api/documents/${ids[149]}`);
  t.is(detail.statusUpdateReason, 'Campaign over.');
  const operations = await third.acme.get<Page<Operation>>(PATH);
  t.deepEqual(
    operations.items.map(({ id }) => id),
    [canceling.id, begun.id],
  );
});

test('an operation acts within its filter and organization, skips documents that refuse, and can be canceled', async (t) => {
  const { acme, organization } = await sharedProgram(t);
  const other = await organization('Other');
  const [kept] = await makeMany(other, 1);
  const ids = await makeMany(acme, 70);
  await acme.post(`/api/documents/${ids[0]}/cancellation`, { reason: 'By hand.' });

  const all = { action: 'Cancel', filter: { status: 'CanceledOrExpired' }, reason: 'Again.' };
  const skipping = await ended(acme, (await acme.post<Operation>(PATH, all)).id);
  t.like(skipping, { doneCount: 0, skippedCount: 1, skippedByCode: { DocumentAlreadyCanceled: 1 } });

  for (const filter of UNRESTRICTED)
    for (const dryRun of [true, false]) {
      const refused = await acme.send(PATH, { action: 'Delete', filter, dryRun });
      t.is(refused.status, 400, `${JSON.stringify(filter)}: ${await refused.text()}`);
    }
  // A text without letters or digits is no part of a key.
  const hyphen = { action: 'Delete', filter: { q: '-', queryType: 'Key' }, dryRun: true };
  t.deepEqual(await acme.post(PATH, hyphen), { matchedCount: 0 });
  t.is((await acme.send(PATH, { action: 'Cancel', filter: {} })).status, 400, 'a reason is needed');
  const tooLong = { action: 'Cancel', filter: { q: 'none' }, reason: 'x'.repeat(2001), dryRun: true };
  t.is((await acme.send(PATH, tooLong)).status, 400, 'a reason has at most 2,000 characters');
  t.is((await acme.send(PATH, { ...tooLong, reason: 'x'.repeat(2000) })).status, 200);
  const deleting = await acme.post<Operation>(PATH, { action: 'Delete', filter: { q: 'letter' } });
  for (const method of ['GET', 'POST']) {
    const path = method === 'GET' ? `${PATH}/${deleting.id}` : `${PATH}/${deleting.id}/cancellation`;
    t.is((await other.fetch(path, { method })).status, 422, 'of another organization');
  }
  const stopped = await acme.fetch(`${PATH}/${deleting.id}/cancellation`, { method: 'POST' });
  const end = await ended(acme, deleting.id);
  // The operation may have ended before the request to cancel it.
  t.is(end.status, stopped.status === 200 ? 'Canceled' : 'Completed');
  t.is((await acme.get<Page<object>>('/api/documents')).totalCount, 70 - end.doneCount);
  t.is((await acme.send(`${PATH}/${deleting.id}/cancellation`, {})).status, 422);
  t.is((await other.get<Page<{ id: string }>>('/api/documents')).items[0]?.id, kept);
});

test('an operation finds the documents made before the clock was set back', async (t) => {
  const { client, forward } = await clockedPortal(t);
  forward(DAY);
  const id = await client.create(FLOW);
  forward(-DAY);
  const cancel = { action: 'Cancel', filter: {}, reason: 'Over.' };
  t.deepEqual(await client.post<object>(PATH, { ...cancel, dryRun: true }), { matchedCount: 1 });
  t.like(await ended(client, (await client.post<Operation>(PATH, cancel)).id), { doneCount: 1 });
  t.like(await client.get<object>(`/api/documents/${id}`), { status: 'Canceled' });
});

test('a repeated batch of reminders sends reminders for many actions of a document once', async (t) => {
  const root = await temporaryRoot(t);
  const faults = 'effect.done.before-outcome/operateDocuments=kill:1';
  const first = await startProgram(t, { root, faults });
  // More than a document remembers ids of messages.
  const flow = Array.from({ length: 40 }, (_, index) => ({
    user: { name: `Signer ${index}`, email: `signer${index}@example.org` },
    type: 'Approver',
    step: 1,
  }));
  const id = await first.acme.create(flow, { disablePendingActionNotifications: true });
  const { id: operation } = await first.acme.post<Operation>(PATH, { action: 'Remind', filter: {} });
  t.is(await first.service.ended, 'SIGKILL');

  const { acme } = await startProgram(t, { root });
  t.like(await ended(acme, operation), { doneCount: 1, skippedCount: 0 });
  // Mails are made after the steps that ask for them.
  const reminded = await until(async () => {
    const mails = await acme.get<{ about: string; to: string }[]>(`/api/documents/${id}/mails`);
    const found = mails.filter(({ about }) => about === 'reminder').map(({ to }) => to);
    return found.length >= flow.length ? found : undefined;
  });
  t.deepEqual(reminded.sort(), flow.map(({ user }) => user.email).sort());
});

test('the export has every document of the filter and no formula', async (t) => {
  const { acme, organization } = await sharedProgram(t);
  await makeMany(await organization('Other'), 1);
  await makeMany(acme, 220);
  const formula = await acme.create(FLOW, {
    externalId: '=HYPERLINK("http://x")',
    tags: [{ label: 'a', value: '@b' }],
  });
  const response = await acme.fetch('/api/documents/export?Order=Desc');
  t.is(response.headers.get('content-type'), 'text/csv; charset=utf-8');
  t.regex(response.headers.get('content-disposition') ?? '', /filename="documents\.csv"/);
  const text = Buffer.from(await response.arrayBuffer()).toString();
  const [head, newest, ...others] = text.split('\r\n');
  t.is(head, '\ufeff"id","externalId","name","status","type","folder","tags","creationDate","updateDate"');
  t.regex(newest ?? '', new RegExp(`^"${formula}","'=HYPERLINK\\(""http://x""\\)",.*,"a\\|@b",`));
  t.is(others.length, 221, 'the others and the end');
  const few = await (await acme.fetch(`/api/documents/export?ExternalId=none`)).text();
  t.is(few.split('\r\n').length, 2);
  t.is(csvCell(' =1+1'), `"' =1+1"`);
  t.is(csvCell('\t1'), `"'\t1"`);
  t.is(csvCell('\uff1d1'), `"'\uff1d1"`);
  t.is(csvCell('1 = 1'), '"1 = 1"');
  t.is(csvCell('a; =1;b;;@1'), `"a; '=1;b;;'@1"`);
  t.is(csvCell('a\t\t\uff0d1'), `"a\t\t'\uff0d1"`);
});

test('aborted exports free their places', async (t) => {
  const { acme } = await sharedProgram(t);
  await makeMany(acme, 150);
  for (let count = 0; count < 5; count += 1) {
    const abort = new AbortController();
    const response = await until(async () => {
      const answer = await acme.fetch('/api/documents/export', { signal: abort.signal });
      return answer.status === 200 ? answer : undefined;
    });
    t.is(response.status, 200);
    abort.abort();
  }
});

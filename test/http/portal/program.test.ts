/** The portal of the real program over HTTP. */

import { createHash } from 'node:crypto';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { type Client, type PortalProgram, SAMPLE, startProgram, until } from '../../actors/portal/service.ts';
import { structureFaults } from '../../crypto/validation/report-structure.ts';
import { NODES } from '../../postgres/test-store.ts';
import { endedAfter } from '../../project/ended-after.ts';
import { assertRefused } from '../refused.ts';

const test = anyTest as TestFn<PortalProgram>;

const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await startProgram(shared);
});

interface Document {
  readonly id: string;
  readonly key: string;
  readonly status: string;
  readonly checksumMd5: string;
  readonly hasSignature: boolean;
  readonly flowActions: readonly { readonly id: string; readonly status: string; readonly step: number }[];
}

const person = (name: string) => ({ name, identifier: `id-${name}`, email: `${name}@example.com` });
const signer = (name: string, step = 1) => ({
  type: 'Signer',
  step,
  user: person(name),
  allowElectronicSignature: true,
});

const detail = (client: Client, id: string) => client.get<Document>(`/api/documents/${id}`);

/** The body of the signing endpoints for a participant. */
async function ticketOf(client: Client, id: string, name: string) {
  const { url } = await client.post<{ url: string }>(`/api/documents/${id}/action-url`, {
    emailAddress: `${name}@example.com`,
  });
  const [, key = '', ticket = ''] = /\/key\/([^/]+)\/.*\?ticket=(.*)$/.exec(url) ?? [];
  return { key, ticket };
}

/** Sends a request without a key, as the participant's browser does. */
async function participant(t: ExecutionContext<PortalProgram>, key: string, what: string, body: object) {
  return fetch(`${t.context.url}/api/documents/keys/${key}/${what}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

interface Entry {
  readonly id: number;
  readonly type: string;
  readonly date: string;
  readonly message: string;
  readonly by: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly state: string;
  readonly cause: string;
  readonly data: Readonly<Record<string, string | null>> | null;
  readonly salt: string | null;
  readonly hash: string | null;
}

/** The history of a flow that ann signed and bob approved, with hashes computed as its description says. */
async function assertHistory(t: ExecutionContext<PortalProgram>, client: Client, id: string) {
  const path = `/api/documents/${id}/history`;
  // Lines may come at the end meanwhile, so the page is read before the whole.
  const second = await client.get<{ items: Entry[]; totalCount: number }>(`${path}?limit=3&offset=1`);
  const history = await client.get<{ items: Entry[]; totalCount: number; proof: object | null }>(path);
  // Mails and downloads are recorded after their answers, at any time.
  const changes = history.items.filter(({ type }) => !type.startsWith('Mail') && type !== 'Downloaded');
  t.deepEqual(
    changes.map(({ type, by }) => [type, by]),
    [
      ['Created', history.items[0]?.by ?? ''],
      ['Signed', 'ann'],
      ['Approved', 'bob'],
      ['Concluded', null],
    ],
  );
  for (const { ipAddress, userAgent } of changes.slice(0, 3)) {
    t.regex(ipAddress ?? '', /127\.0\.0\.1|::1/);
    t.truthy(userAgent);
  }
  let before = '';
  const digest = (content: unknown) => createHash('sha256').update(JSON.stringify(content)).digest('hex');
  for (const { id: number, date, state, message, cause, data, salt, hash } of history.items) {
    const at = Date.parse(date);
    const pairs = data === null ? null : Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1));
    t.regex(salt ?? '', /^[\w-]{22}$/);
    const content = digest([salt, message, pairs]);
    before = digest([2, before, 'document', id, number, at, state, cause, content]);
    t.is(hash, before, `${number}`);
  }
  t.true(second.items.length > 0);
  t.deepEqual(second.items, history.items.slice(3, 3 + second.items.length));
  await assertRefused(
    t,
    await client.fetch('/api/documents/99999999-9999-4999-8999-999999999999/history'),
    'DocumentNotFound',
  );
}

test('a document goes from its upload through two steps to its conclusion, and its signatures are validated', async (t) => {
  const { acme } = t.context;
  const id = await acme.create([signer('ann'), { type: 'Approver', step: 2, user: person('bob') }]);
  const begun = await detail(acme, id);
  t.like(begun, {
    status: 'Pending',
    hasSignature: false,
    checksumMd5: createHash('md5').update(SAMPLE.content).digest('base64'),
    flowActions: [{ status: 'Pending' }, { status: 'Created' }],
  });
  await assertRefused(
    t,
    await acme.fetch(`/api/documents/keys/${begun.key}/signatures`),
    'DocumentHasNoSignatures',
  );
  await assertRefused(
    t,
    await acme.fetch(`/api/documents/${id}/content?type=Signatures`),
    'DocumentHasNoSignatures',
  );
  const early = await acme.send(`/api/documents/${id}/action-url`, { emailAddress: 'bob@example.com' });
  await assertRefused(t, early, 'NoPendingActionFoundForEmailAndIdentifier');

  const { key, ticket } = await ticketOf(acme, id, 'ann');
  t.is(key, begun.key);
  const signed = await participant(t, key, 'electronic-signature', { ticket });
  t.is(signed.status, 200, await signed.text());
  const bob = await until(async () => {
    const document = await detail(acme, id);
    return document.flowActions[1]?.status === 'Pending' ? ticketOf(acme, id, 'bob') : undefined;
  });
  const approved = await participant(t, key, 'approval', { ticket: bob.ticket });
  t.is(approved.status, 200, await approved.text());
  await until(async () => ((await detail(acme, id)).status === 'Concluded' ? true : undefined));

  const content = await acme.fetch(`/api/documents/${id}/content?type=Signatures`);
  const bytes = Buffer.from(await content.arrayBuffer());
  t.true(bytes.subarray(0, SAMPLE.content.length).equals(SAMPLE.content), 'an addition to the original');
  const base64 = await acme.get<{ bytes: string }>(`/api/documents/${id}/content-b64?type=Signatures`);
  t.true(Buffer.from(base64.bytes, 'base64').equals(bytes));
  const { location } = await acme.get<{ location: string }>(`/api/documents/${id}/ticket?type=Original`);
  t.regex(location, /^\/api\//);
  const original = await fetch(`${acme.url}${location}`);
  t.true(Buffer.from(await original.arrayBuffer()).equals(SAMPLE.content));
  t.is(original.headers.get('content-type'), 'application/pdf');
  t.regex(original.headers.get('content-disposition') ?? '', /filename\*=UTF-8''Vertrag%20%C3%A4\.pdf/);

  const record = await acme.get<{ isConcluded: boolean; signers: { validationResults: object }[] }>(
    `/api/documents/keys/${key.toLowerCase()}/signatures`,
  );
  t.true(record.isConcluded);
  t.is(record.signers.length, 1);
  t.like(record.signers[0], { isElectronic: true, validationResults: { isValid: true } });
  await assertHistory(t, acme, id);
  // Each node validates at its own time.
  const withoutTimes = (shown: object) => JSON.stringify(shown).replace(/needed at [^"]*/g, '');
  t.is(withoutTimes(await acme.get(`/api/documents/${id}/signatures-details`)), withoutTimes(record));
  const report = await acme.fetch(`/api/documents/${id}/validation-report`);
  t.is(report.headers.get('content-type'), 'application/xml; charset=utf-8');
  t.deepEqual(structureFaults(await report.text()), []);
});

test('lists find documents by status, participant, name and folder, with exact totals', async (t) => {
  const client = await t.context.organization('Lists');
  const folder = await client.post<{ id: string }>('/api/folders', { name: 'Ordner' });
  const ids: string[] = [];
  for (const name of ['ann', 'bob', 'cat']) {
    ids.push(await client.create([signer(name)], name === 'cat' ? { folderId: folder.id } : {}));
  }
  await client.post(`/api/documents/${ids[0]}/cancellation`, { reason: 'x' });
  const list = async (query: string) => {
    const page = await client.get<{ items: { id: string }[]; totalCount: number }>(`/api/documents?${query}`);
    return [page.items.map(({ id }) => id), page.totalCount] as const;
  };
  t.deepEqual(await list(''), [ids, 3]);
  t.deepEqual(await list('Order=Desc&Limit=1&Offset=1'), [[ids[1]], 3]);
  t.deepEqual(await list('Status=Canceled'), [[ids[0]], 1]);
  t.deepEqual(await list('Status=Pending&ParticipantQ=bob@example.com&ParticipantQueryType=Email'), [
    [ids[1]],
    1,
  ]);
  t.deepEqual(await list(`FolderId=${folder.id}`), [[ids[2]], 1]);
  t.deepEqual(await list('FolderType=WithoutFolder&Q=VERTRAG'), [ids.slice(0, 2), 2]);
  await client.post(`/api/documents/${ids[1]}`, undefined, 'DELETE').catch(() => {});
  t.deepEqual(await list('IsDeleted=true'), [[ids[1]], 1]);
  await assertRefused(t, await client.fetch(`/api/documents/${ids[1]}`), 'DocumentIsDeleted');
});

test('an address that no mail can reach is refused wherever one is given, and an internationalized one is found in both forms', async (t) => {
  const client = await t.context.organization('Addresses');
  const at = (email: string) => ({ ...signer('ann'), user: { name: 'Ann', identifier: '1', email } });
  const id = await client.create([at('ann@b\u00fccher.example')]);
  const [action] = (await detail(client, id)).flowActions;
  const upload = await client.upload(SAMPLE);
  const files = [{ ...upload, displayName: 'a' }];
  for (const email of ['ann@[192.0.2.1]', 'ann(x)@example.com', 'ann@b..c', `ann@${'a'.repeat(64)}.com`]) {
    const refused = async (path: string, body: object) =>
      assertRefused(t, await client.send(path, body), 'InvalidFlowAction');
    await refused('/api/documents', { files, flowActions: [at(email)] });
    const good = { files, flowActions: [at('ann@example.com')] };
    await refused('/api/documents', { ...good, observers: [{ user: at(email).user }] });
    await refused('/api/documents', { ...good, notifiedEmails: [email] });
    const edit = { flowActionId: action?.id, participantEmailAddress: email };
    await refused(`/api/documents/${id}/flow`, { editedFlowActions: [edit] });
  }
  for (const text of ['ann@b\u00fccher.example', 'ann@xn--bcher-kva.example', 'B\u00dcCHER.example']) {
    const query = `ParticipantQ=${encodeURIComponent(text)}&ParticipantQueryType=Email`;
    t.is((await client.get<{ totalCount: number }>(`/api/documents?${query}`)).totalCount, 1, text);
  }
  const { key } = await ticketOf(client, id, 'ann').catch(() => ({ key: '' }));
  t.is(key, '', 'another domain');
  const { url } = await client.post<{ url: string }>(`/api/documents/${id}/action-url`, {
    emailAddress: 'ann@xn--bcher-kva.example',
  });
  t.regex(url, /ticket=/);
});

test('a canceled and a deleted document refuse with the documented codes', async (t) => {
  const { acme } = t.context;
  const id = await acme.create([signer('ann')]);
  await acme.post(`/api/documents/${id}/cancellation`, { reason: 'wrong file' });
  t.like(await detail(acme, id), { status: 'Canceled', statusUpdateReason: 'wrong file' });
  await assertRefused(
    t,
    await acme.send(`/api/documents/${id}/cancellation`, { reason: 'x' }),
    'DocumentAlreadyCanceled',
  );
  await assertRefused(
    t,
    await acme.send(`/api/documents/${id}/refusal`, { reason: 'x' }),
    'InvalidDocumentStatus',
  );
  await acme.fetch(`/api/documents/${id}`, { method: 'DELETE' });
  for (const path of ['', '/content', '/ticket', '/signatures-details']) {
    await assertRefused(t, await acme.fetch(`/api/documents/${id}${path}`), 'DocumentIsDeleted');
  }
});

for (const sizes of [[131_072, 1], [1_048_576, 50_000], [100_000, 100_000, 50_000], [10]]) {
  test(`a file that is sent in segments of ${sizes.join(', ')} bytes is stored, and the repeated last one has its answer`, async (t) => {
    const { acme } = t.context;
    const content = Buffer.concat(sizes.map((size, at) => Buffer.alloc(size, 65 + at)));
    const ticket = await acme.post<string>('/api/uploads/segmented-upload-ticket', {});
    const send = async (from: number, to: number) => {
      const body = new FormData();
      body.append('file', new Blob([content.subarray(from, to)]), 'big.bin');
      const headers = { 'content-range': `bytes ${from}-${to - 1}/${content.length}` };
      const path = `/api/uploads?ticket=${encodeURIComponent(ticket)}`;
      return (await acme.fetch(path, { method: 'POST', headers, body })).text();
    };
    let from = 0;
    const answers: string[] = [];
    for (const size of [...sizes, 0]) {
      if (size === 0) from -= sizes.at(-1) ?? 0;
      const to = from + (size || (sizes.at(-1) ?? 0));
      answers.push(await send(from, to));
      from = to;
    }
    t.deepEqual(answers.slice(0, sizes.length - 1), Array(sizes.length - 1).fill(''));
    const upload = JSON.parse(answers.at(-2) ?? '');
    t.is(JSON.parse(answers.at(-1) ?? '').id, upload.id);
    const files = [{ ...upload, displayName: 'big.bin' }];
    const [made] = await acme.post<{ documentId: string }[]>('/api/documents', {
      files,
      flowActions: [signer('ann')],
    });
    const stored = await acme.fetch(`/api/documents/${made?.documentId}/content?type=Original`);
    t.true(Buffer.from(await stored.arrayBuffer()).equals(content));
  });
}

test('a repeated creation under its key makes no second document, over a kill', async (t) => {
  const tasks: (() => unknown)[] = [];
  const program = await startProgram(
    { teardown: (task) => void tasks.push(task) },
    { faults: 'portal.request.done=kill:1' },
  );
  t.teardown(async () => {
    for (const task of tasks.reverse()) await task();
  });
  const upload = await program.acme.upload();
  const body = {
    files: [{ ...upload, displayName: 'A' }],
    flowActions: [signer('ann')],
  };
  const again = { 'Idempotency-Key': 'order 7' };
  await t.throwsAsync(program.acme.send('/api/documents', body, 'POST', again));
  await program.service.ended;
  const second = await startProgram(t, { root: program.service.root });
  const first = await second.acme.send('/api/documents', body, 'POST', again);
  t.is(first.status, 200, await first.clone().text());
  const text = await first.text();
  t.is(await (await second.acme.send('/api/documents', body, 'POST', again)).text(), text);
  const { totalCount } = await second.acme.get<{ totalCount: number }>('/api/documents');
  t.is(totalCount, 1);
  const other = await second.acme.send('/api/documents', { ...body, description: 'x' }, 'POST', again);
  await assertRefused(t, other, 'IdempotencyConflict');
});

test('monitors count documents and fetch reports, and administrators create organizations and keys', async (t) => {
  const { monitor, administrator, acme } = t.context;
  await acme.create([signer('ann')]);
  const range = { startDateUtc: '2020-01-01', endDateUtc: '2099-12-31' };
  const totals = await monitor.post<{ totalDocuments: number }>('/api/documents/date', range);
  t.true(totals.totalDocuments >= 1);
  const { location } = await monitor.post<{ location: string }>('/api/reports/documents/date', range);
  t.regex(location, /^\/api\/reports\/[0-9a-f-]{36}\?access_ticket=/);
  const report = await fetch(`${monitor.url}${location}`);
  t.is(
    report.headers.get('content-type'),
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  );
  t.is(
    Buffer.from(await report.arrayBuffer())
      .subarray(0, 2)
      .toString(),
    'PK',
  );
  await assertRefused(
    t,
    await monitor.send('/api/documents/date', { ...range, endDateUtc: '2019-01-01' }),
    'BadRequest',
  );

  const name = 'Made by hand';
  const made = await administrator.post<{ id: string }>('/api/admin/organizations', { name });
  await assertRefused(t, await administrator.send('/api/admin/organizations', { name }), 'NameTaken');
  const all = await administrator.get<{ items: { id: string }[] }>('/api/admin/organizations?q=by%20hand');
  t.deepEqual(
    all.items.map(({ id }) => id),
    [made.id],
  );
  const path = `/api/admin/organizations/${made.id}/applications`;
  const application = await administrator.post<{ id: string }>(path, { name: 'Handy' });
  const keys: { id: string; key: string }[] = [];
  const make = async () => keys.push(await administrator.post(`${path}/${application.id}/keys`, {}));
  for (let count = 0; count < 2; count += 1) await make();
  const status = async ({ key }: { key: string }) =>
    (await fetch(`${acme.url}/api/documents`, { headers: { 'X-Api-Key': key } })).status;
  // One after the other, since the order of use matters.
  for (const key of keys) t.is(await status(key), 200);
  const third = await administrator.send(`${path}/${application.id}/keys`, {});
  const { details } = await assertRefused(t, third, 'KeyLimitReached');
  const named = keys.findIndex(({ id }) => id === details?.['keyId']);
  // Each node records uses after its answers: several nodes may record them in another order.
  if (NODES === 1) t.is(named, 0, 'the key that was used least recently is named');
  t.true(keys[named]?.key.split('|')[1]?.startsWith(details?.['prefix'] ?? '-'));
  await administrator.post(`${path}/${application.id}/keys/${details?.['keyId']}`, undefined, 'DELETE');
  await make();
  const statuses = keys.map((_, at) => (at === named ? 401 : 200));
  t.deepEqual(await Promise.all(keys.map(status)), statuses);
});

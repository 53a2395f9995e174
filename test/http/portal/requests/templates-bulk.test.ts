/** Documents of a template for each row of a table, over HTTP. */
import test from 'ava';
import exceljs from 'exceljs';
import { spreadsheet, textCells } from '../../../actors/pool/tables/spreadsheet.ts';
import { type Client, startProgram, until } from '../../../actors/portal/service.ts';
import { casesOf } from '../../../project/rounds.ts';
import { temporaryRoot } from '../../../service/service.ts';
import { clockedPortal } from './clocked-portal.ts';
import { at, pdf } from './tagged-files.ts';

const PLACE = { topLeftX: 10, topLeftY: 10, width: 80, height: 20 };
const SHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

interface Generation {
  readonly id: string;
  readonly status: string;
  readonly initializedCount: number;
  readonly refusedRowsCount: number;
}

interface Rows {
  readonly totalCount: number;
  readonly items: readonly {
    readonly row: number;
    readonly status: string;
    readonly documentIds: readonly string[];
    readonly error: { readonly code: string; readonly message: string } | null;
  }[];
}

async function templateOf(client: Client): Promise<string> {
  const { id, name, contentType } = await client.upload();
  const document = {
    files: [{ id, displayName: 'Lease', name, contentType }],
    flowActions: [
      {
        title: 'Tenant',
        allowElectronicSignature: true,
        fields: [{ name: 'Rent', type: 'Number', readOnly: true, ...PLACE }],
      },
    ],
    disableNotifications: true,
  };
  return (await client.post<{ id: string }>('/api/templates', { name: 'Lease', document })).id;
}

async function tableOf(client: Client, content: string | Uint8Array, contentType = 'text/csv') {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const name = contentType === SHEET ? 'people.xlsx' : 'people.csv';
  const { id } = await client.upload({ name, content: bytes, type: contentType });
  return { id, name, contentType };
}

function csv(count: number): string {
  const rows = Array.from({ length: count }, (_, at) => `P${at},p${at}@example.org,${100 + at},lease-${at}`);
  return ['tenant.Name,TENANT.E-Mail,rent,externalId', ...rows].join('\r\n');
}

function ended(client: Client, id: string): Promise<Generation> {
  return until(async () => {
    const view = await client.get<Generation>(`/api/documents/generation/${id}`);
    if (view.status === 'Error') throw new Error(JSON.stringify(view));
    return view.status === 'Pending' || view.status === 'Init' || view.status === 'Canceling'
      ? undefined
      : view;
  });
}

test('each row of a CSV or XLSX table becomes a document of the template, with the person and values of the row', async (t) => {
  const { client } = await clockedPortal(t);
  const template = await templateOf(client);
  const path = `/api/templates/${template}/generation`;
  const body = { dataFile: await tableOf(client, csv(3)), newFolderName: 'Leases' };
  const start = async () =>
    (await (await client.send(path, body, 'POST', { 'idempotency-key': 'k' })).json()) as Generation;
  const { id } = await start();
  t.is((await start()).id, id);
  t.like(await ended(client, id), {
    status: 'WaitingSignatures',
    totalDocumentsCount: 3,
    initializedCount: 3,
    refusedRowsCount: 0,
    template: { id: template, version: 1 },
  });
  const rows = await client.get<Rows>(`/api/documents/generation/${id}/rows?Limit=2&Offset=1`);
  t.like(rows, { totalCount: 3, items: [{ row: 3, status: 'Made', error: null }] });
  const detail = await client.get<{ flowActions: { user: object; fields: object[] }[] }>(
    `/api/documents/${rows.items[0]?.documentIds[0]}`,
  );
  t.like(detail, {
    externalId: 'lease-2',
    folder: { name: 'Leases' },
    template: { id: template, version: 1 },
  });
  t.like(detail.flowActions[0], {
    user: { name: 'P2', email: 'p2@example.org' },
    fields: [{ presetValue: '102', readOnly: true }],
  });

  const book = new exceljs.Workbook();
  const sheet = book.addWorksheet('People');
  sheet.addRow(['Tenant.name', 'Tenant.email', 'Rent', 'documentName']);
  sheet.addRow(['Ana', 'ana@example.org', 950.5, 'Flat 7']);
  const content = new Uint8Array(await book.xlsx.writeBuffer());
  const second = await client.post<Generation>(path, { dataFile: await tableOf(client, content, SHEET) });
  await ended(client, second.id);
  const made = await client.get<Rows>(`/api/documents/generation/${second.id}/rows`);
  t.like(await client.get(`/api/documents/${made.items[0]?.documentIds[0]}`), { name: 'Flat 7' });
  t.like(await client.get('/api/documents'), { totalCount: 4 });
  // It has ended.
  const late = await client.send(`/api/documents/generation/${id}/cancellation`, {});
  t.like(await late.json(), { code: 'DocumentOperationEnded' });
});

test('a column fills a field that only a tag in the text names, and an unknown column is refused', async (t) => {
  const { client } = await clockedPortal(t);
  const tags = ['{{number:tenant:Rent}}', '{{checkbox:tenant:Pets}}', '{{sig:tenant}}'];
  const file = pdf(tags.map((tag, line) => at(40, 400 - 40 * line, tag)).join(' '));
  const { id, name, contentType } = await client.upload(file);
  const document = {
    files: [{ id, displayName: 'Lease', name, contentType }],
    flowActions: [{ title: 'Tenant', allowElectronicSignature: true }],
    textTags: true,
  };
  const template = await client.post<{ id: string }>('/api/templates', { name: 'Tagged', document });
  const path = `/api/templates/${template.id}/generation`;
  const table = (column: string) =>
    tableOf(client, `tenant.name,tenant.email,RENT,${column}\r\nAna,ana@example.org,950,TRUE`);
  const refused = await client.send(path, { dataFile: await table('colour') });
  const fault = (await refused.json()) as { code: string; message: string };
  t.is(fault.code, 'InvalidGenerationFile');
  t.regex(fault.message, /The column colour is neither/);
  const made = await client.post<Generation>(path, { dataFile: await table('pets') });
  t.like(await ended(client, made.id), { initializedCount: 1, refusedRowsCount: 0 });
  const { items } = await client.get<Rows>(`/api/documents/generation/${made.id}/rows`);
  const { flowActions } = await client.get<{
    flowActions: { fields: { name: string; presetValue: string }[] }[];
  }>(`/api/documents/${items[0]?.documentIds[0]}`);
  t.deepEqual(
    flowActions[0]?.fields.map((field) => [field.name, field.presetValue]),
    [
      ['Rent', '950'],
      ['Pets', 'true'],
    ],
  );
});

test('refused rows are listed by number, and refuse the call unless it skips them', async (t) => {
  const { client } = await clockedPortal(t);
  const path = `/api/templates/${await templateOf(client)}/generation`;
  const head = 'Tenant.name,Tenant.email,Rent\n';
  const dataFile = await tableOf(
    client,
    `${head}Ana,ana@example.org,1\nBo,nowhere,2\nCy,cy@example.org,much\n,,4\n ,dy@example.org,5\n`,
  );
  const refused = await client.send(path, { dataFile });
  t.is(refused.status, 422);
  const { message, details } = (await refused.json()) as { message: string; details: Record<string, string> };
  t.regex(message, /^Row 2: /);
  t.deepEqual(Object.keys(details), ['row 2', 'row 3', 'row 4', 'row 5']);
  t.regex(details['row 3'] ?? '', /Rent: The value must be a number/);
  t.regex(details['row 4'] ?? '', /Tenant: This role needs a participant/);
  t.regex(details['row 5'] ?? '', /no name/);
  t.like(await client.get('/api/documents'), { totalCount: 0 });
  for (const bad of [
    'Tenant.name,Tenant.age\nAna,7\n',
    `${head.replace('Rent', 'Colour')}Ana,a@example.org,1\n`,
  ]) {
    const answer = await client.send(path, { dataFile: await tableOf(client, bad) });
    t.like(await answer.json(), { code: 'InvalidGenerationFile' });
  }

  const { id } = await client.post<Generation>(path, { dataFile, skipRefusedRows: true });
  t.like(await ended(client, id), { status: 'WaitingSignatures', initializedCount: 1, refusedRowsCount: 4 });
  const { items } = await client.get<Rows>(`/api/documents/generation/${id}/rows`);
  t.deepEqual(
    items.map(({ row, status, documentIds, error }) => [row, status, documentIds.length, error?.code]),
    [
      [1, 'Made', 1, undefined],
      [2, 'Refused', 0, 'InvalidFlowAction'],
      [3, 'Refused', 0, 'InvalidFieldValue'],
      [4, 'Refused', 0, 'InvalidFlowAction'],
      [5, 'Refused', 0, 'InvalidFlowAction'],
    ],
  );
});

/** A table of which a row is hidden. */
function filtered(count: number): Buffer {
  const row = (at: number) => textCells(`P${at}`, `p${at}@example.org`, String(at), `lease-${at}`);
  const rows = Array.from({ length: count }, (_, at) => `<row>${row(at)}</row>`).join('');
  return spreadsheet(
    `<row r="1">${textCells('tenant.name', 'tenant.email', 'rent', 'externalId')}</row><row r="2" hidden="1">${row(999)}</row>${rows}`,
  );
}

test('a person in a hidden row gets no document, and without the member the call is refused by row', async (t) => {
  const { client } = await clockedPortal(t);
  const path = `/api/templates/${await templateOf(client)}/generation`;
  const dataFile = await tableOf(client, filtered(2), SHEET);
  const refused = await client.send(path, { dataFile });
  const fault = (await refused.json()) as { code: string; message: string };
  t.is(fault.code, 'InvalidGenerationFile');
  t.regex(fault.message, /rows that are hidden, by a filter or by hand: 2\. .*skipHiddenRows/);
  const { id } = await client.post<Generation>(path, { dataFile, skipHiddenRows: true });
  t.like(await ended(client, id), { initializedCount: 2, refusedRowsCount: 0 });
  const { items } = await client.get<{ items: { externalId: string }[] }>('/api/documents');
  t.deepEqual(items.map(({ externalId }) => externalId).toSorted(), ['lease-0', 'lease-1']);
});

test('more than 1,000 refused rows refuse the call, with and without the member', async (t) => {
  const { client } = await clockedPortal(t);
  const path = `/api/templates/${await templateOf(client)}/generation`;
  const table = (count: number) => {
    const bad = Array.from({ length: count }, (_, at) => `P${at},nowhere,${at}`).join('\n');
    return tableOf(client, `Tenant.name,Tenant.email,Rent\nAna,ana@example.org,1\n${bad}\n`);
  };
  const refused = await client.send(path, { dataFile: await table(1_001), skipRefusedRows: true });
  t.is(refused.status, 422);
  const { id } = await client.post<Generation>(path, { dataFile: await table(1_000), skipRefusedRows: true });
  t.like(await ended(client, id), { initializedCount: 1, refusedRowsCount: 1_000 });
});

test('refused rows are stored in groups, since each step rewrites all of them', async (t) => {
  const { client, fixture } = await clockedPortal(t);
  const path = `/api/templates/${await templateOf(client)}/generation`;
  const bad = Array.from({ length: 250 }, (_, at) => `P${at},nowhere,${at}`);
  const dataFile = await tableOf(
    client,
    `Tenant.name,Tenant.email,Rent\nAna,ana@example.org,1\n${bad.join('\n')}\n`,
  );
  const { id } = await client.post<Generation>(path, { dataFile, skipRefusedRows: true });
  t.like(await ended(client, id), { initializedCount: 1, refusedRowsCount: 250 });
  const stored = await fixture.store.load({ kind: 'generation', id });
  // Its creation, three groups, and its end.
  t.is(stored?.revision, 5);
  const { items } = await client.get<Rows>(`/api/documents/generation/${id}/rows?Limit=1&Offset=250`);
  t.like(items, [{ row: 251, status: 'Refused', error: { code: 'InvalidFlowAction' } }]);
});

test('a canceled generation keeps its documents, and makes no more', async (t) => {
  const { client, fixture } = await clockedPortal(t);
  const path = `/api/templates/${await templateOf(client)}/generation`;
  let cancel = () => Promise.resolve();
  fixture.faults.arm('portal.create.all', () => cancel());
  const began = new Promise<string>((resolve) => {
    cancel = async () => {
      const { id } = await view;
      await client.post(`/api/documents/generation/${id}/cancellation`, {});
      resolve(id);
    };
  });
  const view = client.post<Generation>(path, { dataFile: await tableOf(client, csv(30)) });
  const id = await began;
  const { status, initializedCount } = await ended(client, id);
  t.is(status, 'Canceled');
  t.true(initializedCount >= 1 && initializedCount <= 4, String(initializedCount));
  const { items } = await client.get<Rows>(`/api/documents/generation/${id}/rows?Limit=100`);
  t.is(items.filter((row) => row.status === 'Made').length, initializedCount);
  t.is(items.filter((row) => row.status === 'Pending').length, 30 - initializedCount);
});

for (const faults of casesOf(
  ['portal.create.some=kill:6', 'effect.done.before-outcome/generateDocuments=kill:1'],
  ['portal.create.all=kill:6', 'effect.leased.before-run/generateDocuments=kill:1'],
))
  test.serial(`a kill by ${faults} neither loses a document of a table nor makes it twice`, async (t) => {
    const root = await temporaryRoot(t);
    const first = await startProgram(t, { root, faults });
    const template = await templateOf(first.acme);
    // A spreadsheet is read again after the kill, and has the same rows.
    const isSheet = faults.startsWith('portal.create.some');
    const dataFile = isSheet
      ? await tableOf(first.acme, filtered(12), SHEET)
      : await tableOf(first.acme, `${csv(12)}\r\nBad,nowhere,1,lease-bad`);
    const body = { dataFile, skipRefusedRows: true, skipHiddenRows: isSheet };
    const path = `/api/templates/${template}/generation`;
    // The kill may come before the answer.
    await first.acme.send(path, body, 'POST', { 'idempotency-key': 'k' }).catch(() => undefined);
    t.is(await first.service.ended, 'SIGKILL');
    const { acme } = await startProgram(t, { root });
    const answer = await acme.send(path, body, 'POST', { 'idempotency-key': 'k' });
    const { id } = (await answer.json()) as Generation;
    t.like(await ended(acme, id), { initializedCount: 12, refusedRowsCount: isSheet ? 0 : 1 });
    const page = await acme.get<{ totalCount: number; items: { id: string; externalId: string }[] }>(
      '/api/documents?Limit=100',
    );
    t.is(page.totalCount, 12);
    t.is(new Set(page.items.map(({ externalId }) => externalId)).size, 12);
    const { items } = await acme.get<Rows>(`/api/documents/generation/${id}/rows?Limit=100`);
    const ids = items.flatMap(({ documentIds }) => documentIds);
    t.deepEqual(ids.toSorted(), page.items.map((one) => one.id).toSorted());
  });

import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineActor, systemIds } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import exceljs from 'exceljs';
import { setup } from 'xstate';
import { readSheet } from '../../../../actors/pool/tables/index.ts';
import { type CreatedDocumentRow, dayOf } from '../../../../actors/portal/document-records/document-index.ts';
import { ReportWriter } from '../../../../actors/portal/reports/report-writer.ts';
import { makeReportHandler, REPORT, Reports } from '../../../../actors/portal/reports/reports.ts';
import { StepWaits } from '../../../../actors/shared/coordination/step-waits.ts';
import { REPORT_RETENTION_MS } from '../../../../machines/portal/report.ts';
import { handlersByName } from '../../../runtime/any-effect.ts';
import { folderFor } from '../../../runtime/folder.ts';
import { type PortalStoreFixture, portalStoreFixture } from '../uploads/upload-harness.ts';

/** As much of a document as reports see. */
interface Paper {
  readonly order: number;
  readonly facts: CreatedDocumentRow;
}

const paper = defineActor('paper', {
  version: 1,
  machine: setup({ types: { context: {} as Paper, input: {} as Paper } }).createMachine({
    id: 'paper',
    context: ({ input }) => input,
    initial: 'There',
    states: { There: {} },
  }),
  rows: ({ context: { order, facts } }) => [{ view: 'documents-created', key: [order], value: { ...facts } }],
  counters: ({ context: { facts } }) => ({
    [`documents-made/${dayOf(facts.creationDate)}/${facts.isEnvelope ? 'envelope' : 'document'}`]: 1,
  }),
});

async function reportFixture(
  t: ExecutionContext,
  root?: string,
): Promise<PortalStoreFixture & { readonly reports: Reports }> {
  let waits: StepWaits | undefined;
  const it: PortalStoreFixture = await portalStoreFixture(t, {
    ...(root !== undefined && { root }),
    definitions: [REPORT, paper],
    handlers: handlersByName([REPORT], {
      makeReport: {
        ...makeReportHandler({} as never, {} as never, {} as never).handler,
        run: (effect, attempt, context) =>
          makeReportHandler(it.store, it.blobs, it.faults).handler.run(effect, attempt, context),
      },
    }),
    observe: (step) => waits?.observe(step),
  });
  const { runtime: actors, store, clock, blobs, tickets } = it;
  waits = new StepWaits(clock);
  const reports = new Reports({ actors, store, clock, ids: systemIds }, blobs, tickets, waits);
  return { ...it, reports };
}

let lastOrder = 0;

async function addPaper(
  it: PortalStoreFixture,
  at: string,
  more: Partial<CreatedDocumentRow> = {},
): Promise<void> {
  const creationDate = Date.parse(at);
  lastOrder = Math.max(lastOrder + 1, creationDate * 1000);
  const facts: CreatedDocumentRow = {
    id: crypto.randomUUID() as CreatedDocumentRow['id'],
    name: 'Contract',
    organizationId: crypto.randomUUID() as CreatedDocumentRow['organizationId'],
    organizationName: 'Acme',
    createdBy: 'Script',
    creationDate,
    updateDate: creationDate + 1_500,
    status: 'Pending',
    isDeleted: false,
    isEnvelope: false,
    signatures: 0,
    ...more,
  };
  const input = { order: lastOrder, facts };
  const made = await it.runtime.create(paper, facts.id, input);
  if (!made.accepted) throw new Error(made.reason);
}

async function sheetOf(path: string): Promise<unknown[][]> {
  const book = new exceljs.Workbook();
  await book.xlsx.load((await readFile(path)) as never);
  const rows: unknown[][] = [];
  book.worksheets[0]?.eachRow((row) => {
    rows.push((row.values as unknown[]).slice(1));
  });
  return rows;
}

function partsOf(location: string): [id: string, ticket: string] {
  const [, id = '', ticket = ''] = /^\/api\/reports\/([^?]+)\?access_ticket=(.+)$/.exec(location) ?? [];
  return [id, ticket];
}

const ALL = { from: null, to: null };
const day = (text: string) => ({
  from: Date.parse(`${text}T00:00:00.000Z`),
  to: Date.parse(`${text}T23:59:59.999Z`),
});

test('totals are exact at every limit, and count envelopes separately and documents of all organizations', async (t) => {
  const it = await reportFixture(t);
  await addPaper(it, '2026-05-16T23:59:59.999Z');
  await addPaper(it, '2026-05-17T00:00:00.000Z', { organizationName: 'Other' });
  await addPaper(it, '2026-05-17T12:00:00.000Z', { isEnvelope: true });
  await addPaper(it, '2026-05-17T23:59:59.999Z', { isDeleted: true });
  await addPaper(it, '2026-05-18T00:00:00.000Z', { isEnvelope: true });
  const totals = async (range: { from: number | null; to: number | null }) =>
    Object.values(await it.reports.totals(range));
  t.deepEqual(await totals(ALL), [3, 2]);
  t.deepEqual(await totals(day('2026-05-17')), [2, 1]);
  const at = Date.parse('2026-05-17T12:00:00.000Z');
  t.deepEqual(await totals({ from: at, to: at }), [0, 1]);
  t.deepEqual(await totals({ from: at + 1, to: null }), [1, 1]);
  t.deepEqual(await totals({ from: null, to: at - 1 }), [2, 0]);
  t.deepEqual(await totals({ from: day('2026-05-17').from + 1, to: day('2026-05-18').from - 1 }), [1, 1]);
  t.deepEqual(await totals(day('2030-01-01')), [0, 0]);
  await t.throwsAsync(it.reports.totals({ from: at, to: at - 1 }), { code: 'BadRequest' });
  await t.throwsAsync(it.reports.documents({ from: at, to: at - 1 }), { code: 'BadRequest' });
});

test('a report lists the documents of its range with all columns, and texts stay texts', async (t) => {
  const it = await reportFixture(t);
  it.runtime.start();
  await addPaper(it, '2026-05-16T08:00:00.000Z', { name: 'before' });
  const names = ['=1+1', '<b>&"Ação"</b>', 'bell\u0007 half\ud800', 'a_x0041_x0042_', 'x'.repeat(40_000)];
  for (const name of names) await addPaper(it, '2026-05-17T08:00:00.123Z', { name, signatures: 3 });
  await addPaper(it, '2026-05-17T09:00:00.000Z', { name: 'env', isEnvelope: true, status: 'Concluded' });
  const { location } = await it.reports.documents(day('2026-05-17'));
  const file = await it.reports.file(...partsOf(location));
  t.is(file.contentType, 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
  t.is(file.fileName, 'documents_2026-05-17_2026-05-17.xlsx');
  const [head, ...rows] = await sheetOf(file.path);
  t.deepEqual(head, [
    'id',
    'name',
    'organization',
    'createdBy',
    'creationDate',
    'updateDate',
    'status',
    'isEnvelope',
    'number of signatures',
  ]);
  const texts = readSheet(await readFile(file.path), 'refuse').lines.slice(1);
  t.deepEqual(
    texts.map((line) => line[1]),
    ['=1+1', '<b>&"Ação"</b>', 'bell half', 'a_x0041_x0042_', 'x'.repeat(32_767), 'env'],
  );
  const [, , ...rest] = rows[0] ?? [];
  const created = new Date('2026-05-17T08:00:00.123Z');
  t.deepEqual(rest, ['Acme', 'Script', created, new Date(created.getTime() + 1_500), 'Pending', false, 3]);
  t.deepEqual(rows[5]?.slice(6), ['Concluded', true, 0]);
});

test('a report of many documents is complete and in the order of creation', async (t) => {
  const it = await reportFixture(t);
  it.runtime.start();
  const start = Date.parse('2026-05-17T00:00:00.000Z');
  const made: Promise<void>[] = [];
  for (let at = 0; at < 1_500; at++) {
    made.push(addPaper(it, new Date(start + at * 100_000).toISOString(), { name: `n${at}` }));
  }
  await Promise.all(made);
  const { location } = await it.reports.documents(ALL);
  const file = await it.reports.file(...partsOf(location));
  t.is(file.fileName, 'documents.xlsx');
  const rows = await sheetOf(file.path);
  t.deepEqual(
    rows.slice(1).map((row) => row[1]),
    Array.from({ length: 1_500 }, (_, at) => `n${at}`),
  );
  const range = { from: start + 50_000_000, to: start + 100_000_000 };
  const part = await it.reports.documents(range);
  const rowsOfPart = await sheetOf((await it.reports.file(...partsOf(part.location))).path);
  t.is(rowsOfPart.length - 1, 501);
  t.is((await it.reports.totals(range)).totalDocuments, 501);
});

test('a report is fetched by its own ticket only, and expires after an hour', async (t) => {
  const it = await reportFixture(t);
  it.runtime.start();
  await addPaper(it, '2026-05-17T08:00:00.000Z');
  const [first, second] = await Promise.all([it.reports.documents(ALL), it.reports.documents(ALL)]);
  const [id, ticket] = partsOf(first.location);
  const [otherId, otherTicket] = partsOf(second.location);
  const notFound = { code: 'NotFound' };
  await t.throwsAsync(it.reports.file(id, otherTicket), notFound);
  await t.throwsAsync(it.reports.file(otherId, ticket), notFound);
  await t.throwsAsync(it.reports.file(id, ''), notFound);
  await t.throwsAsync(it.reports.file('nonsense', ticket), notFound);
  const { path } = await it.reports.file(id, ticket);
  await it.reports.file(id, ticket);
  await it.reports.file(otherId, otherTicket);
  it.clock.forward(3_601_000);
  await t.throwsAsync(it.reports.file(id, ticket), notFound);
  it.clock.forward(REPORT_RETENTION_MS);
  await it.close();

  const later = await reportFixture(t, it.root);
  later.clock.forward(2 * REPORT_RETENTION_MS);
  await later.settle(async () => {
    const left = [id, otherId].map((one) => later.runtime.read(REPORT, one));
    return (await Promise.all(left)).every((report) => report === undefined);
  });
  await later.blobs.sweep(later.store);
  t.false(existsSync(path));
});

test('a promised report is made after a restart', async (t) => {
  const it = await reportFixture(t);
  await addPaper(it, '2026-05-17T08:00:00.000Z', { name: 'kept' });
  // The runtime was not started: nothing of the stored work is done in this life.
  const { location } = await it.reports.documents(ALL);
  await it.close();
  const again = await reportFixture(t, it.root);
  const waiting = again.reports.file(...partsOf(location));
  again.runtime.start();
  t.is((await sheetOf((await waiting).path))[1]?.[1], 'kept');
});

test('further lines of a report are requested only after earlier ones are on disk, so that memory stays bounded', async (t) => {
  const path = join(folderFor(t), 'many.xlsx');
  const writer = new ReportWriter(path);
  t.teardown(() => writer.close());
  for (let piece = 0; piece < 100; piece++) {
    const lines = Array.from({ length: 256 }, () => crypto.randomUUID()).map(
      (id) => [id, 'Contract', 'Acme', 'Script', 0, 0, 'Pending', false, 0] as const,
    );
    await writer.write(lines);
  }
  const written = statSync(path).size;
  await writer.end();
  t.true(written > 0.9 * statSync(path).size, `${written} of ${statSync(path).size}`);
});

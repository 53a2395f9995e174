/** Documents made of a template and a table. Source: docs/portal-values.md §20. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import test from 'ava';
import exceljs from 'exceljs';
import type { Tenant } from '../../../../actors/portal/api.ts';
import type {
  GenerationView,
  NewGeneration,
} from '../../../../contracts/portal/saved-requests/generations.ts';
import { reached } from '../../../project/waiting.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { type PortalFixture, portalFixture, refusedAs } from '../documents/flow-harness.ts';

const toolTest = withTools(test, 'pdftotext');

const FLOW: NewGeneration['flowActions'] = [
  {
    type: 'Signer',
    allowElectronicSignature: true,
    user: { name: '{{Name}}', email: '{{E-Mail}}', identifier: '{{ number }}' },
  },
];
const TABLE =
  '\ufeffName;E-Mail;Number\r\n"Ana; the ""first""";ana@example.org;1\r\n\r\nBo <&>;bo@example.org;2\r\n';

async function wanted(
  fixture: PortalFixture,
  {
    data = TABLE,
    template = 'Dear {{name}},\n\nyour number is {{NUMBER}}.',
    name = 'Letter to {{name}}.txt',
    templateType = 'text/plain',
    dataType = 'text/csv',
    ...more
  }: {
    readonly data?: string | Buffer;
    readonly template?: string;
    readonly name?: string;
    readonly templateType?: string;
    readonly dataType?: string;
  } & Partial<NewGeneration> = {},
): Promise<NewGeneration> {
  const file = async (bytes: Buffer, fileName: string, contentType: string) => {
    const { displayName: _, ...rest } = await fixture.file(fileName, bytes, contentType);
    return rest;
  };
  return {
    flowActions: FLOW,
    skipHiddenRows: false,
    dataFile: await file(typeof data === 'string' ? Buffer.from(data) : data, 'people.csv', dataType),
    templateFile: await file(Buffer.from(template), name, templateType),
    ...more,
  };
}

async function until(
  fixture: PortalFixture,
  id: string,
  status: GenerationView['status'],
): Promise<GenerationView> {
  let view = await fixture.portal.generations.get(fixture.tenant, id);
  await reached(async () => {
    view = await fixture.portal.generations.get(fixture.tenant, id);
    return view.status === status || view.status === 'Error';
  });
  if (view.status !== status) throw new Error(JSON.stringify(view));
  return view;
}

async function documents(fixture: PortalFixture) {
  const { items } = await fixture.portal.documents.list(fixture.tenant, {
    limit: 100,
    offset: 0,
    newestFirst: false,
  });
  const found = await Promise.all(items.map(({ id }) => fixture.get(id)));
  return found.sort((one, other) => (one.name < other.name ? -1 : 1));
}

toolTest.serial(
  'each row of a table becomes a PDF for the person it names, and is counted until all are concluded',
  async (t) => {
    const fixture = await portalFixture(t);
    const begun = await fixture.portal.generations.create(fixture.tenant, {
      ...(await wanted(fixture)),
      newFolderName: 'Letters',
      type: 'Deed',
      notifiedEmails: ['all@example.org'],
    });
    t.like(begun, { totalDocumentsCount: 2, completedCount: 0, type: 'Deed', error: null });
    t.true(begun.status === 'Pending' || begun.status === 'Init', begun.status);
    const waiting = await until(fixture, begun.id, 'WaitingSignatures');
    t.like(waiting, { totalDocumentsCount: 2, initializedCount: 2, completedCount: 0 });
    const made = await documents(fixture);
    t.deepEqual(
      made.map(({ name, filename, mimeType, folder, type }) => [
        name,
        filename,
        mimeType,
        folder?.name,
        type,
      ]),
      [
        [
          'Letter to Ana; the "first"',
          'Letter to Ana; the "first".pdf',
          'application/pdf',
          'Letters',
          'Deed',
        ],
        ['Letter to Bo <&>', 'Letter to Bo <&>.pdf', 'application/pdf', 'Letters', 'Deed'],
      ],
    );
    t.deepEqual([made[0]?.folder?.id, made[1]?.folder?.id], [begun.folderId, begun.folderId] as unknown[]);
    t.like(made[1]?.flowActions[0]?.user, { name: 'Bo <&>', email: 'bo@example.org', identifier: '2' });
    const [first, second] = made;
    if (first === undefined || second === undefined) return t.fail();
    const { path } = await fixture.portal.documents.content(fixture.tenant, first.id, 'Original');
    const { stdout } = await runTool('pdftotext', [path, '-']);
    t.regex(stdout, /Dear Ana; the "first",\s+your number is 1\./);
    await fixture.sign(first.id, 'ana@example.org');
    await fixture.until(first.id, ({ status }) => status === 'Concluded');
    t.like(await fixture.portal.generations.get(fixture.tenant, begun.id), {
      status: 'WaitingSignatures',
      completedCount: 1,
    });
    await fixture.sign(second.id, 'bo@example.org');
    await fixture.until(second.id, ({ status }) => status === 'Concluded');
    t.like(await until(fixture, begun.id, 'Completed'), { completedCount: 2 });
    const otherTenant: Tenant = {
      ...fixture.tenant,
      organization: { id: randomUUID() as never, name: 'Other' },
    };
    await refusedAs(t, 'DocumentGenerationNotFound', fixture.portal.generations.get(otherTenant, begun.id));
  },
);

test.serial('a template in markup stays markup, with escaped values', async (t) => {
  const fixture = await portalFixture(t);
  const request = await wanted(fixture, {
    template: '<p>{{name}}</p>',
    name: 'p.xml',
    templateType: 'application/xml',
    data: JSON.stringify([{ name: 'A <&> B\u0001', 'e-mail': 'a@example.org', number: 7 }]),
    dataType: 'application/json',
  });
  const { id } = await fixture.portal.generations.create(fixture.tenant, request);
  await until(fixture, id, 'WaitingSignatures');
  const [made] = await documents(fixture);
  t.like(made, { name: 'p 1', filename: 'p 1.xml', mimeType: 'application/xml' });
  if (made === undefined) return;
  const { path } = await fixture.portal.documents.content(fixture.tenant, made.id, 'Original');
  t.is(await readFile(path, 'utf8'), '<p>A &lt;&amp;&gt; B</p>');
});

const SHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

async function sheetOf(rows: readonly (readonly exceljs.CellValue[])[]): Promise<Buffer> {
  const workbook = new exceljs.Workbook();
  for (const row of rows) (workbook.worksheets[0] ?? workbook.addWorksheet('People')).addRow([...row]);
  workbook.addWorksheet('Notes').addRow(['not read']);
  return Buffer.from(await workbook.xlsx.writeBuffer());
}

/** A packed archive of one member. @param claimed length it says the member has, unpacked */
function archiveOf(content: Buffer, claimed = content.length): Buffer {
  const packed = deflateRawSync(content);
  const name = Buffer.from('xl/workbook.xml');
  const local = Buffer.alloc(30);
  const entry = Buffer.alloc(46);
  const end = Buffer.alloc(22);
  local.writeUInt32LE(0x04034b50, 0);
  entry.writeUInt32LE(0x02014b50, 0);
  for (const [header, at] of [
    [local, 8],
    [entry, 10],
  ] as const) {
    header.writeUInt16LE(8, at);
    header.writeUInt32LE(crc32(content), at + 6);
    header.writeUInt32LE(packed.length, at + 10);
    header.writeUInt32LE(claimed, at + 14);
    header.writeUInt16LE(name.length, at + 18);
  }
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(entry.length + name.length, 12);
  end.writeUInt32LE(local.length + name.length + packed.length, 16);
  return Buffer.concat([local, name, packed, entry, name, end]);
}

test.serial(
  'a spreadsheet is read as a table: its first sheet, results of formulas, and dates as written',
  async (t) => {
    const fixture = await portalFixture(t);
    const data = await sheetOf([
      ['Name', 'E-Mail', 'Number', 'Day', 'Hour', 'Sum'],
      [
        { richText: [{ text: 'Ana ' }, { text: 'Lima' }] },
        { text: 'ana@example.org', hyperlink: 'mailto:ana@example.org' },
        39053344705,
        new Date(Date.UTC(2030, 0, 31)),
        new Date(Date.UTC(2030, 0, 31, 9, 30)),
        { formula: '1+1', result: 2 },
      ],
      [],
      ['Bo', 'bo@example.org', '2', null, '', true],
    ]);
    const template = '{{day}}|{{hour}}|{{sum}}';
    const request = await wanted(fixture, {
      data,
      template,
      dataType: SHEET,
      templateType: 'text/x-any',
      name: '{{name}}.any',
    });
    const { id } = await fixture.portal.generations.create(fixture.tenant, request);
    await until(fixture, id, 'WaitingSignatures');
    const made = await documents(fixture);
    t.deepEqual(
      made.map(({ name, flowActions }) => [
        name,
        flowActions[0]?.user?.email,
        flowActions[0]?.user?.identifier,
      ]),
      [
        ['Ana Lima', 'ana@example.org', '39053344705'],
        ['Bo', 'bo@example.org', '2'],
      ],
    );
    const texts = await Promise.all(
      made.map(async (one) => {
        const { path } = await fixture.portal.documents.content(fixture.tenant, one.id, 'Original');
        return readFile(path, 'utf8');
      }),
    );
    t.deepEqual(texts, ['2030-01-31|2030-01-31T09:30:00|2', '||true']);
  },
);

test.serial(
  'an unreadable spreadsheet, or one that would exhaust memory, is refused with the reason',
  async (t) => {
    const fixture = await portalFixture(t);
    const head = ['Name', 'E-Mail', 'Number'];
    const good = await sheetOf([head, ['Ana', 'ana@example.org', 1]]);
    for (const [data, code, said] of [
      [Buffer.from('Name,E-Mail'), 'InvalidGenerationFile', /no spreadsheet/],
      [good.subarray(0, good.length - 30), 'InvalidGenerationFile', /no spreadsheet/],
      [
        Buffer.concat([good.subarray(0, 40), Buffer.alloc(200), good.subarray(240)]),
        'InvalidGenerationFile',
        /damaged/,
      ],
      [archiveOf(Buffer.from('nothing of a sheet')), 'InvalidGenerationFile', /workbook.xml is damaged/],
      [archiveOf(Buffer.alloc(64 * 1024 * 1024, ' ')), 'InvalidGenerationFile', /unpacks to more than/],
      [archiveOf(Buffer.alloc(64 * 1024 * 1024, ' '), 10), 'InvalidGenerationFile', /damaged/],
      [
        await sheetOf([head, ['Ana', { error: '#N/A' }, 1]]),
        'InvalidGenerationFile',
        /cell B2: It holds an error/,
      ],
      [await sheetOf([head, ['Ana', 'ana@example.org', 1, 'more']]), 'InvalidGenerationFile', /more cells/],
      [
        await sheetOf([head, ['Ana', { formula: '"ana@"&"example.org"' }, { formula: '1+1' }]]),
        'InvalidGenerationFile',
        /cell B2: Its formula has no result/,
      ],
      [
        await sheetOf([head, ['Ana', 'ana@example.org', 1], ['', 'bo@example.org', 2]]),
        'InvalidFlowAction',
        /^Row 2: .*no name/,
      ],
      [
        await sheetOf([head, ...Array.from({ length: 10_001 }, () => ['A', 'a@example.org', 1])]),
        'LimitExceeded',
        /10000/,
      ],
    ] as const) {
      const request = await wanted(fixture, { data, dataType: SHEET });
      const error = await t.throwsAsync(fixture.portal.generations.create(fixture.tenant, request));
      t.like(error, { code });
      t.regex(error?.message ?? '', said);
    }
    t.is((await documents(fixture)).length, 0);
  },
);

test.serial('a spreadsheet whose ranges span a whole sheet is read like one without them', async (t) => {
  const fixture = await portalFixture(t);
  const workbook = new exceljs.Workbook();
  const sheet = workbook.addWorksheet('People');
  sheet.addRow(['Name', 'E-Mail', 'Number']);
  sheet.addRow(['Ana', 'ana@example.org', 1]);
  const { dataValidations } = sheet as unknown as {
    readonly dataValidations: { add(range: string, rule: exceljs.DataValidation): void };
  };
  dataValidations.add('A1:XFD1048576', { type: 'list', formulae: ['"Ana,Bo"'] });
  const data = Buffer.from(await workbook.xlsx.writeBuffer());
  const request = await wanted(fixture, { data, dataType: SHEET });
  t.is((await fixture.portal.generations.create(fixture.tenant, request)).totalDocumentsCount, 1);
  sheet.getCell('A1048577').value = 'beyond';
  const beyond = await wanted(fixture, {
    data: Buffer.from(await workbook.xlsx.writeBuffer()),
    dataType: SHEET,
  });
  await t.throwsAsync(fixture.portal.generations.create(fixture.tenant, beyond), {
    message: /beyond the last/,
  });
});

test.serial('a missing column of a row has an empty value, for any name of the column', async (t) => {
  const fixture = await portalFixture(t);
  const person = { name: 'Ana', 'e-mail': 'ana@example.org', number: '1' };
  const data = JSON.stringify([{ ...person, constructor: 'Mill Ltd' }, person]);
  const template = '<p>{{name}}: {{constructor}}.</p>';
  const more = { name: 'Site.html', templateType: 'text/html', dataType: 'application/json' } as const;
  const begun = await fixture.portal.generations.create(
    fixture.tenant,
    await wanted(fixture, { data, template, ...more }),
  );
  await until(fixture, begun.id, 'WaitingSignatures');
  const texts = (await documents(fixture)).map(async ({ id }) => {
    const { path } = await fixture.portal.documents.content(fixture.tenant, id, 'Original');
    return readFile(path, 'utf8');
  });
  t.deepEqual((await Promise.all(texts)).sort(), ['<p>Ana: .</p>', '<p>Ana: Mill Ltd.</p>']);
});

test.serial('a generation with an invalid row is refused before a document is made', async (t) => {
  const fixture = await portalFixture(t);
  const { generations } = fixture.portal;
  const refused = async (more: Parameters<typeof wanted>[1], code: string) =>
    refusedAs(t, code, generations.create(fixture.tenant, await wanted(fixture, more)));
  await refused({ template: 'Dear {{nobody}}' }, 'InvalidGenerationFile');
  await refused({ name: 'x {{nobody}}.txt' }, 'InvalidGenerationFile');
  await refused({ data: 'Name;E-Mail;Number\n' }, 'InvalidGenerationFile');
  await refused({ data: 'Name;E-Mail;Number\n"open' }, 'InvalidGenerationFile');
  await refused({ data: 'Name;E-Mail;Number\n"a"b;c;d' }, 'InvalidGenerationFile');
  await refused({ data: 'Name;name;E-Mail;Number\na;b;c;d' }, 'InvalidGenerationFile');
  await refused({ data: 'Name;E-Mail;Number\na;a@example.org;1;surplus' }, 'InvalidGenerationFile');
  await refused({ data: 'PK\u0003\u0004\u0000\u0000', dataType: 'application/zip' }, 'InvalidGenerationFile');
  await refused({ data: '[{"name": {}}]', dataType: 'application/json' }, 'InvalidGenerationFile');
  await refused({ data: `${TABLE}Cy;no address;3` }, 'InvalidFlowAction');
  await refused({ data: `${TABLE} ;cy@example.org;3` }, 'InvalidFlowAction');
  const bomb = {
    template: '{{name}}'.repeat(20_000),
    data: `Name;E-Mail;Number\n${'x'.repeat(9_000)};a@x.org;1`,
  };
  await refused(bomb, 'InvalidGenerationFile');
  await refused({ template: 'x'.repeat(300_000) }, 'InvalidGenerationFile');
  const row = 'A;a@example.org;1\n';
  await refused({ data: `Name;E-Mail;Number\n${row.repeat(10_001)}` }, 'LimitExceeded');
  const { templateFile, dataFile } = await wanted(fixture);
  const missing = { ...dataFile, id: randomUUID() };
  const request = {
    flowActions: FLOW,
    skipHiddenRows: false,
    templateFile,
    newFolderName: 'Never',
    dataFile: missing,
  };
  await refusedAs(t, 'UploadNotFound', generations.create(fixture.tenant, request));
  t.deepEqual(await documents(fixture), []);
  const { totalCount } = await fixture.portal.folders.list(fixture.tenant, {
    limit: 1,
    offset: 0,
  });
  t.is(totalCount, 0);
});

test.serial(
  'an interrupted generation continues after the restart, and makes no document twice',
  async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'sealwright-generation-'));
    t.teardown(() => rm(root, { recursive: true, force: true }));
    const rows = Array.from({ length: 40 }, (_, at) => `P${at};p${at}@example.org;${at}`);
    const first = await portalFixture(t, { root });
    const request = await wanted(first, { data: `Name;E-Mail;Number\n${rows.join('\n')}` });
    const { id } = await first.portal.generations.create(first.tenant, request, 'seed');
    t.is((await first.portal.generations.create(first.tenant, request, 'seed')).id, id);
    await until(first, id, 'Init');
    await first.close(1);
    const again = await portalFixture(t, { root });
    const before = (await again.portal.generations.get(again.tenant, id)).initializedCount;
    t.true(before < 40, 'there was something left to do');
    t.is((await until(again, id, 'WaitingSignatures')).initializedCount, 40);
    t.deepEqual(
      (await documents(again)).map(({ name }) => name).sort(),
      rows.map((_, at) => `Letter to P${at}`).sort(),
    );
  },
);

/** Fields that others show and require, from the creation request to the signed file and its evidence. */

import { readFile } from 'node:fs/promises';
import test from 'ava';
import { documentAddress } from '../../../../actors/portal/document-records/document-index.ts';
import type { NewField } from '../../../../contracts/portal/flow.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { type PortalFixture, portalFixture, refusedAs, signer } from '../documents/flow-harness.ts';

const toolTest = withTools(test, 'pdftotext', 'qpdf');

const place = (topLeftY: number) => ({ topLeftX: 20, topLeftY, width: 150, height: 12, pageNumber: 1 });
const is = (field: string, value: string | boolean) => ({
  all: [{ field, operator: 'Equals' as const, value }],
});

const ANA: readonly NewField[] = [
  { name: 'plan', type: 'Choice', options: ['Basic', 'Full'], ...place(20), required: true },
  { name: 'bank', label: 'Secretly asked bank', ...place(40), required: true, shownWhen: is('plan', 'Full') },
  { name: 'fee', value: 'Full fee 40', readOnly: true, ...place(60), shownWhen: is('plan', 'Full') },
  { name: 'mail', ...place(80) },
  { name: 'phone', ...place(100), requiredWhen: { any: [{ field: 'mail', operator: 'IsEmpty' }] } },
];
const BOB: readonly NewField[] = [
  { name: 'reason', label: 'Reason of Bob', ...place(120), required: true, shownWhen: is('plan', 'Basic') },
  { name: 'limit', type: 'Number', ...place(140), shownWhen: is('plan', 'Full') },
];

function create(fixture: PortalFixture) {
  return fixture.create([signer('Ana', 1, { fields: [...ANA] }), signer('Bob', 2, { fields: [...BOB] })]);
}

async function contentOf(fixture: PortalFixture, id: Parameters<PortalFixture['get']>[0]) {
  const path = await fixture.signedFile(id, `${Math.random()}.pdf`);
  const { stdout } = await runTool('pdftotext', ['-enc', 'UTF-8', '-layout', path, '-']);
  const plain = `${path}.plain`;
  await runTool('qpdf', ['--qdf', '--object-streams=disable', path, plain]).catch(() => undefined);
  return { text: stdout, raw: (await readFile(plain)).toString('latin1') };
}

toolTest('what a condition hides is in no signed file, and the evidence names it', async (t) => {
  const fixture = await portalFixture(t);
  const id = await create(fixture);
  const ana = (fieldValues: Record<string, string>) => fixture.sign(id, 'ana@example.org', { fieldValues });
  await refusedAs(t, 'InvalidFieldValue', ana({ plan: 'Basic', mail: 'a@b.pt', bank: 'smuggled' }));
  await refusedAs(t, 'InvalidFieldValue', ana({ plan: 'Basic', mail: 'a@b.pt', fee: 'Full fee 40' }));
  await refusedAs(t, 'InvalidFieldValue', ana({ plan: 'Full', mail: 'a@b.pt' }));
  await refusedAs(t, 'InvalidFieldValue', ana({ plan: 'Basic' }));
  await ana({ plan: 'Basic', phone: '1234', bank: '' });
  // The first signed file: what Bob may see or not has neither value nor label.
  const first = await contentOf(fixture, id);
  t.true(first.text.includes('1234'), first.text);
  for (const hidden of ['Full fee', 'Secretly', 'Reason of Bob']) t.false(first.raw.includes(hidden), hidden);

  const bob = (fieldValues: Record<string, string | number>) =>
    fixture.sign(id, 'bob@example.org', { fieldValues });
  await refusedAs(t, 'InvalidFieldValue', bob({}));
  await refusedAs(t, 'InvalidFieldValue', bob({ reason: 'so', limit: 5 }));
  await bob({ reason: 'so be it' });
  await fixture.until(id, ({ status }) => status === 'Concluded');
  const last = await contentOf(fixture, id);
  t.true(last.text.includes('so be it'));
  t.true(last.raw.includes('Reason of Bob'));
  for (const hidden of ['Full fee', 'Secretly']) t.false(last.raw.includes(hidden), hidden);

  const { flowActions, key } = await fixture.get(id);
  t.deepEqual(
    flowActions.map(({ fields = [] }) => fields.map(({ name, hidden, value }) => [name, hidden, value])),
    [
      [
        ['plan', undefined, 'Basic'],
        ['bank', true, null],
        ['fee', true, null],
        ['mail', undefined, null],
        ['phone', undefined, '1234'],
      ],
      [
        ['reason', false, 'so be it'],
        ['limit', true, null],
      ],
    ],
  );
  const { signers } = await fixture.portal.validation.byKey(fixture.tenant, key);
  t.deepEqual(
    signers.map(({ evidences }) => {
      const { hiddenFields, file } = evidences as { hiddenFields: unknown; file: string };
      t.deepEqual(JSON.parse(Buffer.from(file, 'base64').toString()).hiddenFields, hiddenFields);
      return hiddenFields;
    }),
    [['bank', 'fee'], ['limit']],
  );
  const signed = fixture.events.filter(({ type }) => type === 'DocumentSigned');
  t.deepEqual(
    signed.map(({ values }) => values?.map(({ name }) => name)),
    [['plan', 'phone'], ['reason']],
  );
});

test('a condition that cannot be decided is refused by name when the document is created', async (t) => {
  const fixture = await portalFixture(t);
  const later = [signer('Ana', 2, { fields: [...ANA] }), signer('Bob', 1, { fields: [...BOB] })];
  const refusal = await t.throwsAsync<Error>(fixture.create(later));
  t.regex(refusal.message, /reason names plan, which another participant fills in/);
  const empty = [signer('Ana', 1, { fields: [{ name: 'x', ...place(20), shownWhen: {} }] })];
  await refusedAs(t, 'InvalidFlowAction', fixture.create(empty));
  // A field of another document of the same call.
  const one = await fixture.file('one.pdf');
  const two = await fixture.file('two.pdf');
  const fields = [
    { name: 'a', ...place(20), uploadId: one.id },
    { name: 'b', ...place(20), uploadId: two.id, shownWhen: is('a', 'x') },
  ];
  await refusedAs(
    t,
    'InvalidFlowAction',
    fixture.create([signer('Ana', 1, { fields })], { files: [one, two] }),
  );
});

toolTest('who does not take part gets no mail, and history and manifest say why', async (t) => {
  const fixture = await portalFixture(t);
  const amount = { name: 'amount', type: 'Number' as const, required: true, ...place(20) };
  const above = { all: [{ field: 'amount', operator: 'Above' as const, value: 1000 }] };
  const make = (last: object = {}) =>
    fixture.create([
      signer('Ana', 1, { fields: [amount] }),
      { ...signer('Dora', 2), takesPartWhen: above },
      { ...signer('Zoe', 3), ...last },
    ]);
  const statuses = async (id: Awaited<ReturnType<typeof make>>) =>
    (await fixture.get(id)).flowActions.map(({ status }) => status);
  const large = await make();
  await fixture.sign(large, 'ana@example.org', { fieldValues: { amount: '1000.01' } });
  t.deepEqual(await statuses(large), ['Completed', 'Pending', 'Created']);

  const small = await make();
  const before = fixture.mails.length;
  await fixture.sign(small, 'ana@example.org', { fieldValues: { amount: 1000 } });
  t.deepEqual(await statuses(small), ['Completed', 'Skipped', 'Pending']);
  const refused = fixture.sign(small, 'dora@example.org');
  await t.throwsAsync(refused);
  await fixture.sign(small, 'zoe@example.org');
  await fixture.until(small, ({ status }) => status === 'Concluded');

  // Nobody is left after the first: the document is concluded with that signature.
  const alone = await make({ takesPartWhen: above });
  await fixture.sign(alone, 'ana@example.org', { fieldValues: { amount: 1 } });
  await fixture.until(alone, ({ status }) => status === 'Concluded');
  t.deepEqual(await statuses(alone), ['Completed', 'Skipped', 'Skipped']);
  const manifest = await fixture.portal.documents.content(fixture.tenant, alone, 'SignaturesManifest');
  const { stdout } = await runTool('pdftotext', ['-enc', 'UTF-8', '-layout', manifest.path, '-']);
  t.regex(stdout, /Did not take part\s+Dora: amount > "1000"/);
  const told = fixture.mails.slice(before).map(({ to }) => JSON.stringify(to));
  t.false(
    told.some((to) => to.includes('dora')),
    told.join(),
  );
  const lines = await fixture.store.journal(documentAddress(alone), { after: 0, limit: 50 });
  const why = lines.map(({ message }) => message).filter((message) => /not take part/.test(message));
  t.deepEqual(why, [
    'Dora does not take part: it is not so that amount > "1000".',
    'Zoe does not take part: it is not so that amount > "1000".',
  ]);
});

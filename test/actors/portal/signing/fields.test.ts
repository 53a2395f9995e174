/** Fields that participants fill, and marks of all who have signed, in the signed file. */

import test from 'ava';
import type { NewFlowAction } from '../../../../contracts/portal/flow.ts';
import type { DocumentId } from '../../../../machines/ids.ts';
import { classicPdf, documentObjects } from '../../../crypto/pdf/build.ts';
import { pki } from '../../../pki/pki.ts';
import { pdfsig, runTool, withTools } from '../../../verifiers/index.ts';
import { type PortalFixture, person, portalFixture, refusedAs, signer } from '../documents/flow-harness.ts';

const toolTest = withTools(test, 'pdftotext', 'pdfsig', 'certutil');

const BOX = { width: 150, height: 20, pageNumber: 1 };
const place = (topLeftX: number, topLeftY: number) => ({ ...BOX, topLeftX, topLeftY });

/** Ana with every type of field, and two marks. */
const ANA: Partial<NewFlowAction> = {
  prePositionedMarks: [place(20, 300), { ...place(220, 300), type: 'SignatureInitials' }],
  fields: [
    { name: 'city', ...place(20, 20), required: true, maxLength: 20 },
    { name: 'amount', type: 'Number', ...place(20, 50), minimum: 1, maximum: 100 },
    { name: 'day', type: 'Date', ...place(20, 80) },
    { name: 'agreed', type: 'Checkbox', ...place(20, 110), width: 20, required: true },
    { name: 'plan', type: 'Choice', ...place(20, 140), options: ['Basic', 'Full'] },
    { name: 'mark', type: 'Initials', ...place(20, 170) },
    { name: 'mail', ...place(20, 200), format: 'Email' },
  ],
};
const GOOD = {
  city: 'Łódź',
  amount: 12.5,
  day: '2030-01-31',
  agreed: true,
  plan: 'Full',
  mark: 'AS',
  mail: 'a@b.pt',
};
const BOB: Partial<NewFlowAction> = {
  prePositionedMarks: [place(20, 340), place(220, 340)],
  fields: [{ name: 'note', ...place(220, 20) }],
};

/** A document of one large page. */
async function document(fixture: PortalFixture, flowActions: readonly NewFlowAction[]): Promise<DocumentId> {
  const objects = documentObjects({ text: 'Contract' });
  objects.set(10, (objects.get(10) ?? '').replace('[0 0 200 200]', '[0 0 500 500]'));
  return fixture.create(flowActions, { files: [await fixture.file('large.pdf', classicPdf(objects))] });
}

async function textOf(fixture: PortalFixture, id: DocumentId): Promise<string> {
  const path = await fixture.signedFile(id, `${Math.random()}.pdf`);
  return (await runTool('pdftotext', ['-enc', 'UTF-8', '-layout', path, '-'])).stdout;
}

toolTest(
  'values and marks of all earlier signers are in the signed file, the reply and the event',
  async (t) => {
    const fixture = await portalFixture(t);
    const id = await document(fixture, [signer('Ana', 1, ANA), signer('Bob', 2, BOB)]);
    await fixture.sign(id, 'ana@example.org', { typedName: 'Ana Souza', fieldValues: GOOD });
    const first = await textOf(fixture, id);
    for (const word of ['Łódź', '12.5', '2030-01-31', '☑', 'Full', 'AS', 'a@b.pt', 'Ana Souza'])
      t.true(first.includes(word), first);
    t.false(first.includes('Bob'));

    await fixture.sign(id, 'bob@example.org', { fieldValues: { note: 'agreed 张' } });
    await fixture.until(id, ({ status }) => status === 'Concluded');
    const text = await textOf(fixture, id);
    for (const word of ['Łódź', 'Ana Souza', 'agreed 张']) t.true(text.includes(word), text);
    t.is(text.split('Bob').length - 1, 2, text);
    const found = await pdfsig(await fixture.signedFile(id), pki());
    t.deepEqual(
      found.map(({ signature }) => signature),
      ['Signature is Valid.', 'Signature is Valid.'],
    );
    t.true(found[0]?.okEarlier);
    t.true(found[1]?.coversWholeFile);

    const { flowActions } = await fixture.get(id);
    const [ana] = flowActions;
    const filledIn = (name: string) => ana?.fields?.find((field) => field.name === name)?.value;
    t.is(filledIn('city'), 'Łódź');
    t.is(filledIn('agreed'), 'true');
    const signed = fixture.events.filter(({ type }) => type === 'DocumentSigned');
    t.deepEqual(
      signed[1]?.values?.map(({ name, value }) => [name, value]),
      [['note', 'agreed 张']],
    );
    const { signers } = await fixture.portal.validation.byKey(fixture.tenant, (await fixture.get(id)).key);
    t.deepEqual(
      signers.map(({ validationResults }) => validationResults.isValid),
      [true, true],
    );
  },
);

toolTest('fields of the form of a PDF get the values of participants', async (t) => {
  const fixture = await portalFixture(t);
  const objects = documentObjects({ text: 'Form' });
  const form = '/Type /Catalog /AcroForm << /Fields [50 0 R 51 0 R] >>';
  objects.set(1, (objects.get(1) ?? '').replace('/Type /Catalog', form));
  objects.set(10, (objects.get(10) ?? '').replace('[0 0 200 200]', '[0 0 400 400] /Annots [50 0 R 51 0 R]'));
  const widget = (name: string, bottom: number) =>
    `<< /Type /Annot /Subtype /Widget /F 4 /P 10 0 R /FT /Tx /T (${name}) /Rect [20 ${bottom} 220 ${bottom + 20}] >>`;
  objects.set(50, widget('town', 300));
  objects.set(51, widget('rent', 260));
  const ofForm = (name: string, formField: string, more = {}) => ({ fields: [{ name, formField, ...more }] });
  const id = await fixture.create(
    [
      signer('Ana', 1, ofForm('city', 'town')),
      signer('Bob', 2, ofForm('amount', 'rent', { type: 'Number' })),
    ],
    { files: [await fixture.file('form.pdf', classicPdf(objects))] },
  );
  await fixture.sign(id, 'ana@example.org', { fieldValues: { city: 'Braga' } });
  await fixture.sign(id, 'bob@example.org', { fieldValues: { amount: 950 } });
  await fixture.until(id, ({ status }) => status === 'Concluded');
  const text = await textOf(fixture, id);
  for (const value of ['Braga', '950']) t.true(text.includes(value), text);
  for (const { signature } of await pdfsig(await fixture.signedFile(id), pki()))
    t.is(signature, 'Signature is Valid.');
});

test('an invalid value of a field is refused with the name of the field, without a signature', async (t) => {
  const fixture = await portalFixture(t);
  const id = await fixture.create([signer('Ana', 1, ANA)]);
  const wrong: readonly (readonly [Record<string, string | number | boolean>, string])[] = [
    [{ ...GOOD, city: '' }, 'city'],
    [{ ...GOOD, city: 'x'.repeat(21) }, 'city'],
    [{ ...GOOD, amount: '101' }, 'amount'],
    [{ ...GOOD, amount: 'ten' }, 'amount'],
    [{ ...GOOD, day: '2030-02-30' }, 'day'],
    [{ ...GOOD, agreed: false }, 'agreed'],
    [{ ...GOOD, plan: 'Other' }, 'plan'],
    [{ ...GOOD, mark: 'LONGINITIALS' }, 'mark'],
    [{ ...GOOD, mail: 'nobody' }, 'mail'],
    [{ ...GOOD, other: 'x' }, 'other'],
  ];
  for (const [fieldValues, name] of wrong) {
    const error = await t.throwsAsync(fixture.sign(id, 'ana@example.org', { fieldValues }), undefined, name);
    t.is((error as { code?: string }).code, 'InvalidFieldValue');
    t.deepEqual(Object.keys((error as { details?: object }).details ?? {}), [name]);
  }
  await refusedAs(t, 'InvalidFieldValue', fixture.sign(id, 'ana@example.org'));
  t.false((await fixture.get(id)).hasSignature);
});

test('a field for buttons of the form that cannot take its answers is refused at creation', async (t) => {
  const fixture = await portalFixture(t);
  const objects = documentObjects({ text: 'Form' });
  const form = '/Type /Catalog /AcroForm << /Fields [50 0 R] >>';
  objects.set(1, (objects.get(1) ?? '').replace('/Type /Catalog', form));
  objects.set(10, (objects.get(10) ?? '').replace('[0 0 200 200]', '[0 0 400 400] /Annots [51 0 R 52 0 R]'));
  objects.set(50, '<< /FT /Btn /Ff 32768 /T (plan) /Kids [51 0 R 52 0 R] >>');
  for (const [number, state] of [
    [51, 'Basic'],
    [52, 'Full'],
  ] as const)
    objects.set(
      number,
      `<< /Type /Annot /Subtype /Widget /F 4 /P 10 0 R /Parent 50 0 R /Rect [20 ${number} 40 90] /AP << /N << /${state} 53 0 R /Off 53 0 R >> >> >>`,
    );
  objects.set(53, '<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 1 >>\nstream\n\n\nendstream');
  const file = await fixture.file('form.pdf', classicPdf(objects));
  const asked = (field: object) =>
    fixture.create([signer('Ana', 1, { fields: [{ name: 'x', formField: 'plan', ...field }] as never })], {
      files: [file],
    });
  await refusedAs(t, 'InvalidFlowAction', asked({ type: 'Choice', options: ['Basic', 'Other'] }));
  await refusedAs(t, 'InvalidFlowAction', asked({ type: 'Checkbox' }));
  await refusedAs(t, 'InvalidFlowAction', asked({ type: 'Text' }));
  await t.notThrowsAsync(asked({ type: 'Text', value: 'Full', readOnly: true }));
  const id = await asked({ type: 'Choice', options: ['Basic', 'Full'] });
  await fixture.sign(id, 'ana@example.org', { fieldValues: { x: 'Full' } });
  t.true((await fixture.get(id)).hasSignature);
});

test('invalid fields are refused at creation', async (t) => {
  const fixture = await portalFixture(t);
  const asked = (field: object, more: Partial<NewFlowAction> = {}) =>
    fixture.create([signer('Ana', 1, { ...more, fields: [{ name: 'x', ...field }] as never })]);
  await refusedAs(t, 'InvalidFlowAction', asked({}));
  await refusedAs(t, 'InvalidFlowAction', asked({ ...place(1, 1), pageNumber: 9 }));
  await refusedAs(t, 'InvalidFlowAction', asked({ formField: 'missing' }));
  await refusedAs(t, 'InvalidFlowAction', asked({ ...place(1, 1), type: 'Choice' }));
  await refusedAs(t, 'InvalidFlowAction', asked({ ...place(1, 1), maxLength: 5_000 }));
  await refusedAs(t, 'InvalidFlowAction', asked(place(1, 1), { type: 'Approver' }));
  const twice = { fields: [{ name: 'x', ...place(1, 1) }] };
  await refusedAs(t, 'InvalidFlowAction', fixture.create([signer('Ana', 1, twice), signer('Bob', 2, twice)]));
  const text = await fixture.file('a.txt', Buffer.from('text'), 'text/plain');
  await refusedAs(t, 'InvalidFlowAction', fixture.create([signer('Ana', 1, twice)], { files: [text] }));
});

toolTest(
  'a participant with a certificate fills fields before the signature, before and after other participants',
  async (t) => {
    const fixture = await portalFixture(t);
    const own = pki().signer('rsa-2048');
    const id = await document(fixture, [
      signer('Ana', 1, ANA),
      {
        type: 'Signer',
        step: 2,
        user: person('Cy'),
        fields: [{ name: 'cy', ...place(220, 60), required: true }],
      },
      signer('Bob', 3, BOB),
    ]);
    await fixture.sign(id, 'ana@example.org', { fieldValues: GOOD });
    const access = await fixture.ticket(id, 'cy@example.org');
    const { signing } = fixture.portal;
    const begin = (fieldValues: Record<string, string>) =>
      signing.startCertificate(access, { certificate: own.certificate, positions: [], fieldValues });
    await refusedAs(t, 'InvalidFieldValue', begin({}));
    const started = await begin({ cy: 'certified' });
    const signature = own.key.sign(Buffer.from(started.toSign ?? '', 'base64'), {
      scheme: 'rsa-pkcs1',
      digest: 'sha256',
    });
    const done = await signing.completeCertificate(
      access,
      { token: started.token ?? '', signature },
      { ipAddress: '::1', userAgent: 'x' },
    );
    t.true(done.success);
    await fixture.sign(id, 'bob@example.org', { fieldValues: { note: 'last' } });
    await fixture.until(id, ({ status }) => status === 'Concluded');
    const text = await textOf(fixture, id);
    for (const word of ['Łódź', 'certified', 'last']) t.true(text.includes(word), text);
    for (const { signature: verdict } of await pdfsig(await fixture.signedFile(id), pki()))
      t.is(verdict, 'Signature is Valid.');
    const { signers } = await fixture.portal.validation.byKey(fixture.tenant, (await fixture.get(id)).key);
    t.deepEqual(
      signers.map(({ validationResults }) => validationResults.isValid),
      [true, true, true],
    );
  },
);

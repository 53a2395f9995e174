/** Templates of documents, over HTTP. Source: docs/decisions/0120-templates.md. */
import test from 'ava';
import { clientOf, clockedPortal, DAY } from './clocked-portal.ts';

const PLACE = { topLeftX: 10, topLeftY: 10, width: 80, height: 20, pageNumber: 1 };
const person = (name: string) => ({ name, email: `${name.toLowerCase()}@example.org` });

interface Detail {
  readonly name: string;
  readonly description: string | null;
  readonly template: object | null;
  readonly observers: readonly object[];
  readonly attachments: readonly { readonly filename: string }[];
  readonly flowActions: readonly {
    readonly title: string | null;
    readonly type: string;
    readonly step: number;
    readonly user: { readonly name: string } | null;
    readonly marks: readonly object[];
    readonly signRuleUsers?: readonly { readonly email: string }[];
    readonly fields?: readonly { readonly name: string; readonly presetValue: string | null }[];
  }[];
}

test('a document becomes a template without its people, which survives the document and makes equal documents', async (t) => {
  const portal = await clockedPortal(t);
  const { client } = portal;
  const { id, name, contentType } = await client.upload();
  const attached = await client.upload();
  const [made] = await client.post<{ documentId: string }[]>('/api/documents', {
    files: [{ id, displayName: 'Lease of Ana', name, contentType }],
    attachments: [{ ...attached, displayName: 'Annex', isPrivate: true }],
    description: 'Please sign.',
    observers: [{ user: person('Eve') }],
    flowActions: [
      {
        title: 'Tenant',
        step: 1,
        user: person('Ana'),
        allowElectronicSignature: true,
        prePositionedMarks: [{ type: 'SignatureVisualRepresentation', ...PLACE, topLeftY: 60 }],
        fields: [
          { name: 'rent', type: 'Number', minimum: 100, readOnly: true, value: 950, ...PLACE },
          { name: 'city', value: 'Braga', ...PLACE, topLeftY: 40 },
        ],
      },
      { title: 'Tenant', step: 1, user: person('Bo'), allowElectronicSignature: true },
      { type: 'Approver', step: 2, user: person('Cy') },
      {
        type: 'SignRule',
        step: 3,
        ruleName: 'Board',
        numberRequiredSignatures: 1,
        signRuleUsers: [person('Di'), person('Ed')],
      },
    ],
  });
  const documentId = made?.documentId ?? '';
  const template = await client.post<{ id: string; roles: readonly string[] }>(
    '/api/templates/from-document',
    { documentId, name: 'Lease', expirationDays: 10 },
  );
  t.like(template, { name: 'Lease', version: 1, expirationDays: 10 });
  t.deepEqual(template.roles, ['Tenant', 'Tenant 2', 'Approver 3']);
  const kept = JSON.stringify(await client.get(`/api/templates/${template.id}`));
  // Random ids contain digits, so the number is read with its punctuation.
  for (const word of ['Ana', 'bo@', 'cy@', 'eve@', 'Braga', ':950', '"950"'])
    t.false(kept.replace('Lease of Ana', '').includes(word), word);
  t.is((await client.fetch(`/api/documents/${documentId}`, { method: 'DELETE' })).status, 200);
  portal.forward(10 * DAY);

  const use = (body: object) => client.send(`/api/templates/${template.id}/documents`, body);
  const participants = [
    { role: 'Tenant', user: person('Flo') },
    { role: 'Tenant 2', user: person('Gus') },
    { role: 'Approver 3', user: person('Hal') },
  ];
  t.like(await (await use({ participants })).json(), { code: 'InvalidFieldValue' });
  const answer = await use({ participants, fieldValues: { rent: 700 }, documentName: 'Lease of Flo' });
  const [again] = (await answer.json()) as { documentId: string }[];
  const detail = await client.get<Detail>(`/api/documents/${again?.documentId}`);
  t.like(detail, { name: 'Lease of Flo', description: 'Please sign.', observers: [] });
  t.deepEqual(
    detail.flowActions.map(({ type, step, user }) => [type, step, user?.name]),
    [
      ['Signer', 1, 'Flo'],
      ['Signer', 1, 'Gus'],
      ['Approver', 2, 'Hal'],
      ['SignRule', 3, undefined],
    ],
  );
  t.is(detail.flowActions[0]?.marks.length, 1);
  t.deepEqual(
    detail.flowActions[0]?.fields?.map((field) => [field.name, field.presetValue]),
    [
      ['rent', '700'],
      ['city', null],
    ],
  );
  t.is(detail.attachments.length, 1);

  const other = clientOf(portal, 'Other');
  const foreign = await other.send('/api/templates/from-document', { documentId: again?.documentId });
  t.like(await foreign.json(), { code: 'DocumentNotFound' });
  const gone = await client.send('/api/templates/from-document', { documentId });
  t.like(await gone.json(), { code: 'DocumentIsDeleted' });
});

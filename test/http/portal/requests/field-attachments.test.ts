/** Files that participants attach when they sign, over HTTP. Source: docs/fields.md. */
import { createHash } from 'node:crypto';
import anyTest, { type TestFn } from 'ava';
import { MAX_FIELD_FILE_BYTES } from '../../../../contracts/portal/signing/signing.ts';
import { type PortalProgram, SAMPLE, sharedProgram, until } from '../../../actors/portal/service.ts';
import { startReceiver } from '../../../actors/portal/webhooks/receiver.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { assertRefused } from '../../refused.ts';
import { type Started, selfSigned, signatureValue, ticketOf } from '../signing/certificate-client.ts';

const test = anyTest as TestFn<PortalProgram>;

const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await sharedProgram(shared);
});

interface Detail {
  readonly status: string;
  readonly organization: { readonly id: string };
  readonly flowActions: readonly {
    readonly id: string;
    readonly fields: readonly { readonly id: string; readonly value: string | null }[];
  }[];
  readonly attachments: readonly {
    readonly id: string;
    readonly filename: string;
    readonly isPrivate: boolean;
    readonly fieldId?: string;
  }[];
}

interface SignedEvent {
  readonly type: string;
  readonly data: { readonly signature: { readonly fieldValues?: Readonly<Record<string, string>> } };
}

const FIELDS = [
  { name: 'id', type: 'Attachment', required: true },
  { name: 'photo', type: 'Attachment', topLeftX: 10, topLeftY: 10, width: 100, height: 18 },
];
const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex');

const signer = (name: string, step: number, fields: readonly object[]) => ({
  step,
  fields,
  user: { name, email: `${name.toLowerCase()}@example.org` },
  allowElectronicSignature: true,
});

/** Key of a document and ticket of a participant. */
type Link = Awaited<ReturnType<typeof ticketOf>>;

/** Uploads a file as the signing page does. */
function attach(
  url: string,
  { key, ticket }: Link,
  field: string,
  { content, name = 'annex.pdf' }: { readonly content: Uint8Array; readonly name?: string },
): Promise<Response> {
  const body = new FormData();
  // The declared type does not count.
  body.set('file', new Blob([new Uint8Array(content)], { type: 'text/plain' }), name);
  const query = new URLSearchParams({ ticket, field });
  return fetch(`${url}/api/documents/keys/${key}/uploads?${query}`, { method: 'POST', body });
}

async function attached(...given: Parameters<typeof attach>): Promise<FieldUpload> {
  return (await (await attach(...given)).json()) as FieldUpload;
}

interface FieldUpload {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
}

const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

test.serial(
  'files are attached by page and by upload, with either kind of signature, and stay private',
  async (t) => {
    const { acme, url } = t.context;
    const other = { name: 'contract', type: 'Attachment', required: true };
    const id = await acme.create([signer('Ana', 1, FIELDS), signer('Bob', 2, [other])]);
    const path = `/api/documents/${id}`;
    const { flowActions, organization } = await acme.get<Detail>(path);
    const [ana, bob] = flowActions;
    const receiver = await startReceiver(t);
    await acme.post(`/api/organizations/${organization.id}/webhooks`, { url: receiver.url });
    const sign = (fieldValues: object) =>
      acme.send(`${path}/electronic-signature`, { flowActionId: ana?.id, fieldValues });
    const text = await acme.upload({ name: 'a.pdf', content: Buffer.from('Hello'), type: 'application/pdf' });
    for (const values of [{}, { id: true }, { id: text.id }])
      await assertRefused(t, await sign(values), 'InvalidFieldValue');
    await assertRefused(t, await sign({ id: crypto.randomUUID() }), 'UploadNotFound');
    const otherOrganization = await t.context.organization('Other');
    const theirs = await otherOrganization.upload();
    await assertRefused(t, await sign({ id: theirs.id }), 'UploadNotFound');
    t.is((await acme.get<Detail>(path)).attachments.length, 0);

    const own = await acme.upload();
    const picture = await acme.upload({ name: '../me.png', content: PNG, type: 'text/plain' });
    t.is((await sign({ id: own.id, photo: picture.id })).status, 200);

    const link = await ticketOf(acme, id, 'bob@example.org');
    const { key, ticket } = link;
    const content = Buffer.from(SAMPLE.content);
    const upload = await attached(url, link, 'contract', { content });
    t.like(upload, { name: 'annex.pdf', contentType: 'application/pdf', size: content.length });
    t.is(upload.sha256, sha256(content));
    const signer2 = selfSigned('Bob');
    const begin = `/api/documents/keys/${key}/signature`;
    const started = await acme.post<Started>(`${begin}/certificate`, {
      ticket,
      certificate: signer2.certificate.toString('base64'),
      fieldValues: { contract: upload.id },
    });
    t.is((await acme.get<Detail>(path)).attachments.length, 2);
    await acme.post(begin, { token: started.token, signature: signatureValue(signer2, started) });
    const done = await until(async () => {
      const now = await acme.get<Detail>(path);
      return now.status === 'Concluded' ? now : undefined;
    });
    t.deepEqual(
      done.flowActions.map(({ fields }) => fields.map(({ value }) => value)),
      [[own.name, 'me.png'], ['annex.pdf']],
    );
    t.deepEqual(
      done.attachments.map(({ filename, isPrivate, fieldId }) => [filename, isPrivate, fieldId]),
      [
        [own.name, true, ana?.fields[0]?.id],
        ['me.png', true, ana?.fields[1]?.id],
        ['annex.pdf', true, bob?.fields[0]?.id],
      ],
    );
    // Events have the names of the files, and no content.
    const signedEvents = await until(async () => {
      const events = receiver.calls.map(({ body }) => JSON.parse(body) as SignedEvent);
      const signed = events.filter(({ type }) => type === 'DocumentSigned');
      return signed.length === 2 ? signed : undefined;
    });
    t.deepEqual(
      signedEvents.map(({ data }) => data.signature.fieldValues),
      [{ id: own.name, photo: 'me.png' }, { contract: 'annex.pdf' }],
    );
    const [, photo, annex] = done.attachments;
    const sent = await acme.fetch(`${path}/attachments/${photo?.id}/content`);
    t.deepEqual(Buffer.from(await sent.arrayBuffer()), PNG);
    t.is(sent.headers.get('content-type'), 'image/png');
    t.is((await acme.fetch(`${path}/attachments/${annex?.id}/content`)).status, 200);
    t.not(
      (await fetch(`${url}/api/documents/keys/${key}/attachments/${photo?.id}?ticket=${ticket}`)).status,
      200,
    );
    // Nothing is left to attach.
    await assertRefused(t, await attach(url, link, 'contract', { content }), 'InvalidDocumentStatus');

    // They belong to these people, and not to others who sign such a document later.
    const template = await acme.post<{ id: string }>('/api/templates/from-document', { documentId: id });
    const { document } = await acme.get<{ document: { attachments?: readonly object[] } }>(
      `/api/templates/${template.id}`,
    );
    t.deepEqual(document.attachments ?? [], []);
  },
);

test.serial('only the participant who uploaded a file can sign with it', async (t) => {
  const { acme, url } = t.context;
  const fields = (name: string) => [{ name, type: 'Attachment', required: true }];
  const id = await acme.create([signer('Cid', 1, fields('cid')), signer('Dora', 1, fields('dora'))]);
  const { flowActions } = await acme.get<Detail>(`/api/documents/${id}`);
  const cid = await ticketOf(acme, id, 'cid@example.org');
  const dora = await ticketOf(acme, id, 'dora@example.org');
  const otherOrganization = await t.context.organization('Third');
  const elsewhere = await otherOrganization.create([signer('Cid', 1, fields('cid'))]);
  const upload = await attached(url, cid, 'cid', { content: PNG, name: 'id.png' });
  const foreign = await attached(
    url,
    await ticketOf(otherOrganization, elsewhere, 'cid@example.org'),
    'cid',
    { content: PNG },
  );
  const sign = ({ key, ticket }: Link, fieldValues: object) =>
    fetch(`${url}/api/documents/keys/${key}/electronic-signature`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ticket, fieldValues }),
    });
  const refused = async (answer: Response) => assertRefused(t, answer, 'UploadNotFound');
  await refused(await sign(dora, { dora: upload.id }));
  await refused(await sign(cid, { cid: foreign.id }));
  await refused(await sign(cid, { cid: (await acme.upload()).id }));
  // Nor do applications find it, for any purpose.
  await refused(
    await acme.send(`/api/documents/${id}/electronic-signature`, {
      flowActionId: flowActions[0]?.id,
      fieldValues: { cid: upload.id },
    }),
  );
  const file = { id: upload.id, name: 'a.pdf', displayName: 'A', contentType: 'application/pdf' };
  await refused(
    await acme.send('/api/documents', { files: [file], flowActions: [signer('Eve', 1, fields('eve'))] }),
  );

  t.is((await sign(cid, { cid: upload.id })).status, 200);
  const [signature] = await until(async () => {
    const { signers } = await acme.get<{ signers: readonly { evidences: { file: string } | null }[] }>(
      `/api/documents/${id}/signatures-details`,
    );
    return signers.length > 0 ? signers : undefined;
  });
  const evidence = JSON.parse(Buffer.from(signature?.evidences?.file ?? '', 'base64').toString());
  t.deepEqual(evidence.attachments, [{ field: 'cid', name: 'id.png', sha256: sha256(PNG) }]);
});

test.serial('invalid uploads of participants are refused', async (t) => {
  const { acme, url } = t.context;
  const id = await acme.create([
    signer('Ana', 1, [...FIELDS, { name: 'city', topLeftX: 1, topLeftY: 50, width: 90, height: 18 }]),
    signer('Bob', 2, [{ name: 'bob', type: 'Attachment' }]),
  ]);
  const ana = await ticketOf(acme, id, 'ana@example.org');
  const path = `/api/documents/keys/${ana.key}/uploads?field=id`;
  await assertRefused(t, await fetch(`${url}${path}`, { method: 'POST' }), 'Unauthorized');
  await assertRefused(t, await acme.fetch(path, { method: 'POST' }), 'InvalidTicket');
  const wrongTicket = { ...ana, ticket: `${ana.ticket}x` };
  await assertRefused(t, await attach(url, wrongTicket, 'id', { content: PNG }), 'InvalidTicket');
  const wrongKey = { ...ana, key: 'ABCDEFGHIJ0123456789' };
  await assertRefused(t, await attach(url, wrongKey, 'id', { content: PNG }), 'InvalidTicket');
  for (const field of ['bob', 'city', 'none'])
    await assertRefused(t, await attach(url, ana, field, { content: PNG }), 'InvalidFieldValue');
  const { details } = await assertRefused(
    t,
    await attach(url, ana, 'id', { content: Buffer.from('Hello'), name: 'a.pdf' }),
    'InvalidFieldValue',
  );
  t.deepEqual(details, { id: 'The file must be a PDF, PNG or JPEG.' });
  const around = Buffer.concat([
    Buffer.from('308006092a864886f70d010702a080', 'hex'),
    Buffer.from('%PDF-1.7'),
  ]);
  await assertRefused(
    t,
    await attach(url, ana, 'id', { content: around, name: 'a.pdf' }),
    'InvalidFieldValue',
  );
  await assertRefused(t, await attach(url, ana, 'id', { content: Buffer.alloc(0) }), 'BadRequest');
  const large = Buffer.concat([PNG, Buffer.alloc(MAX_FIELD_FILE_BYTES)]);
  await assertRefused(t, await attach(url, ana, 'id', { content: large }), 'PayloadTooLarge');
  const most = await attached(url, ana, 'id', { content: large.subarray(0, MAX_FIELD_FILE_BYTES) });
  t.is(most.size, MAX_FIELD_FILE_BYTES);
});

test.serial('invalid attachment fields are refused at creation', async (t) => {
  const { acme } = t.context;
  const upload = await acme.upload();
  const attempt = (fields: readonly object[]) =>
    acme.send('/api/documents', {
      files: [{ ...upload, displayName: 'A' }],
      flowActions: [signer('Ana', 1, fields)],
    });
  const asked = { name: 'x', type: 'Attachment' };
  await assertRefused(t, await attempt([{ ...asked, value: 'x' }]), 'InvalidFlowAction');
  await assertRefused(t, await attempt([{ ...asked, formField: 'x' }]), 'InvalidFlowAction');
  const many = Array.from({ length: 21 }, (_, index) => ({ ...asked, name: `x${index}` }));
  await assertRefused(t, await attempt(many), 'LimitExceeded');
});

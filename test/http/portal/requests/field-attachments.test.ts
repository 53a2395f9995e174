/** Files that participants attach when they sign, over HTTP. Source: docs/fields.md. */
import anyTest, { type TestFn } from 'ava';
import { type PortalProgram, SAMPLE, startProgram, until } from '../../../actors/portal/service.ts';
import { assertRefused } from '../harness.ts';
import { type Started, selfSigned, signatureValue, ticketOf } from '../signing/certificate-client.ts';

const test = anyTest as TestFn<PortalProgram>;

let ending: (() => Promise<void>) | undefined;
test.before(async (t) => {
  const tasks: (() => unknown)[] = [];
  t.context = await startProgram({ teardown: (task) => void tasks.push(task) });
  ending = async () => {
    for (const task of tasks.reverse()) await task();
  };
});
test.after.always(() => ending?.());

interface Detail {
  readonly status: string;
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

const FIELDS = [
  { name: 'id', type: 'Attachment', required: true },
  { name: 'photo', type: 'Attachment', topLeftX: 10, topLeftY: 10, width: 100, height: 18 },
];
const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex');

const signer = (name: string, step: number, fields: readonly object[]) => ({
  ...{ step, fields, user: { name, email: `${name.toLowerCase()}@example.org` } },
  allowElectronicSignature: true,
});

test.serial(
  'files are attached by page and by upload, with either signature, and stay private',
  async (t) => {
    const { acme, url } = t.context;
    const other = { name: 'contract', type: 'Attachment', required: true };
    const id = await acme.create([signer('Ana', 1, FIELDS), signer('Bob', 2, [other])]);
    const path = `/api/documents/${id}`;
    const { flowActions } = await acme.get<Detail>(path);
    const [ana, bob] = flowActions;
    const sign = (body: object) =>
      acme.send(`${path}/electronic-signature`, { flowActionId: ana?.id, ...body });
    const file = (field: string, content: Buffer, name = 'a.pdf') => ({
      ...{ field, name, contentB64: content.toString('base64') },
    });
    const text = await acme.upload({ name: 'a.pdf', content: Buffer.from('Hello'), type: 'application/pdf' });
    const wrong: readonly object[] = [
      {},
      { fieldValues: { id: true } },
      { fieldValues: { id: text.id } },
      { fieldFiles: [file('id', Buffer.from('Hello'))] },
      { fieldFiles: [file('id', PNG), file('other', PNG)] },
    ];
    for (const body of wrong) await assertRefused(t, await sign(body), 'InvalidFieldValue');
    await assertRefused(t, await sign({ fieldValues: { id: crypto.randomUUID() } }), 'UploadNotFound');
    const stranger = await t.context.organization('Other');
    const theirs = await stranger.upload();
    await assertRefused(t, await sign({ fieldValues: { id: theirs.id } }), 'UploadNotFound');
    t.is((await acme.get<Detail>(path)).attachments.length, 0);

    const own = await acme.upload();
    const good = { fieldValues: { id: own.id }, fieldFiles: [file('photo', PNG, '../me.png')] };
    t.is((await sign(good)).status, 200);

    const { key, ticket } = await ticketOf(acme, id, 'bob@example.org');
    const signer2 = selfSigned('Bob');
    const begin = `/api/documents/keys/${key}/signature`;
    const started = await acme.post<Started>(`${begin}/certificate`, {
      ticket,
      certificate: signer2.certificate.toString('base64'),
      fieldFiles: [file('contract', Buffer.from(SAMPLE.content), 'annex.pdf')],
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
    const [, photo, annex] = done.attachments;
    const content = await acme.fetch(`${path}/attachments/${photo?.id}/content`);
    t.deepEqual(Buffer.from(await content.arrayBuffer()), PNG);
    t.is(content.headers.get('content-type'), 'image/png');
    t.is((await acme.fetch(`${path}/attachments/${annex?.id}/content`)).status, 200);
    t.not(
      (await fetch(`${url}/api/documents/keys/${key}/attachments/${photo?.id}?ticket=${ticket}`)).status,
      200,
    );
  },
);

test.serial('attachments that cannot be asked for are refused at the creation', async (t) => {
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

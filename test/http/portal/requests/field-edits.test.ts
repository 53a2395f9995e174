/** Fields that are added and changed while a flow runs, over HTTP. Source: docs/fields.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import anyTest, { type TestFn } from 'ava';
import { type PortalProgram, sharedProgram, until } from '../../../actors/portal/service.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { assertRefused } from '../../refused.ts';
import { selfSigned, signatureValue, startSignature } from '../signing/certificate-client.ts';

const test = anyTest as TestFn<PortalProgram>;

const toolTest = withTools(test, 'pdfsig', 'pdftotext');

const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await sharedProgram(shared);
});

const user = (name: string) => ({ name, email: `${name.toLowerCase()}@example.org` });
const signer = (name: string, step: number, more: object = {}) => ({
  step,
  user: user(name),
  allowElectronicSignature: true,
  ...more,
});
const place = (topLeftY: number) => ({ topLeftX: 10, topLeftY, width: 150, height: 18, pageNumber: 1 });

interface Detail {
  readonly status: string;
  readonly flowActions: readonly {
    readonly id: string;
    readonly fields?: readonly { readonly name: string; readonly value: string | null }[];
  }[];
}

const detail = ({ acme }: PortalProgram, id: string) => acme.get<Detail>(`/api/documents/${id}`);
const namesOf = ({ flowActions }: Detail) =>
  flowActions.map(({ fields = [] }) => fields.map(({ name }) => name));

test.serial('an edit of the flow keeps what conditions name', async (t) => {
  const { acme } = t.context;
  const test = { field: 'plan', operator: 'equals', value: 'Full' };
  const bank = (shownWhen: object) => ({ name: 'bank', shownWhen, ...place(40) });
  const flow = (shownWhen: object) => [
    signer('Ana', 1, { fields: [{ name: 'plan', ...place(10) }] }),
    signer('Bob', 2, { fields: [bank(shownWhen)] }),
  ];
  const id = await acme.create(flow({ all: [test] }));
  const { flowActions } = await acme.get<{
    flowActions: readonly { id: string; fields: readonly { shownWhen?: object }[] }[];
  }>(`/api/documents/${id}`);
  t.deepEqual(flowActions[1]?.fields[0]?.shownWhen, { all: [{ ...test, operator: 'Equals' }] });
  const [ana, bob] = flowActions.map(({ id: action }) => action);
  const edit = (...edited: readonly object[]) =>
    acme.send(`/api/documents/${id}/flow`, { editedFlowActions: edited });
  for (const [fault, edits] of [
    ['no field', [{ flowActionId: ana, fields: [] }]],
    ['at the same time or later', [{ flowActionId: ana, step: 2 }]],
    ['no good value', [{ flowActionId: ana, fields: [{ name: 'plan', type: 'Number', ...place(10) }] }]],
    [
      'without end',
      [{ flowActionId: bob, fields: [bank({ all: [{ field: 'bank', operator: 'IsFilled' }] })] }],
    ],
    ['needs tests', [{ flowActionId: bob, fields: [bank({ al: [test] })] }]],
  ] as const)
    t.true(
      (await assertRefused(t, await edit(...edits), 'InvalidFlowAction')).message.includes(fault),
      fault,
    );
  t.is((await edit({ flowActionId: bob, step: 3 })).status, 200);
  // The bounds of the lists come first.
  const tests = Array.from({ length: 10_000 }, () => test);
  const many = await acme.send('/api/documents', { files: [], flowActions: flow({ any: tests }) });
  const { errors } = await assertRefused(t, many, 'BadRequest');
  t.true(JSON.stringify(errors).includes('at most 20 items'));
});

toolTest.serial('fields of pending participants are added and changed while the flow runs', async (t) => {
  const { acme, service } = t.context;
  const id = await acme.create([
    signer('Ana', 1, { fields: [{ name: 'city', ...place(10) }] }),
    signer('Bob', 2, { fields: [{ name: 'old', ...place(40) }] }),
  ]);
  const { flowActions } = await detail(t.context, id);
  const [ana, bob] = flowActions.map(({ id: action }) => action);
  const sign = (flowActionId: string | undefined, fieldValues: object) =>
    acme.post(`/api/documents/${id}/electronic-signature`, { flowActionId, fieldValues });
  await sign(ana, { city: 'Braga' });

  const edit = (body: object) => acme.send(`/api/documents/${id}/flow`, body);
  const fields = [{ name: 'iban', required: true, ...place(70) }];
  const acted = { editedFlowActions: [{ flowActionId: ana, fields }] };
  await assertRefused(t, await edit(acted), 'InvalidFlowAction');
  const twice = { editedFlowActions: [{ flowActionId: bob, fields: [{ name: 'city', ...place(70) }] }] };
  await assertRefused(t, await edit(twice), 'InvalidFlowAction');
  const beyond = { ...place(70), pageNumber: 9 };
  const nowhere = { editedFlowActions: [{ flowActionId: bob, fields: [{ name: 'x', ...beyond }] }] };
  await assertRefused(t, await edit(nowhere), 'InvalidFlowAction');
  const wrong = { name: 'x', type: 'Number', value: 'ten', ...place(70) };
  const preset = { editedFlowActions: [{ flowActionId: bob, fields: [wrong] }] };
  await assertRefused(t, await edit(preset), 'InvalidFieldValue');

  const rule = {
    type: 'SignRule',
    step: 3,
    ruleName: 'Board',
    numberRequiredSignatures: 1,
    signRuleUsers: [user('Cy'), user('Di')],
    allowElectronicSignature: true,
    fields: [{ name: 'board', ...place(100) }],
  };
  const both = { ...rule, numberRequiredSignatures: 2 };
  await assertRefused(t, await edit({ addedFlowActions: [both] }), 'InvalidFlowAction');
  const added = { addedFlowActions: [rule], editedFlowActions: [{ flowActionId: bob, fields }] };
  t.is((await edit(added)).status, 200);
  const edited = await detail(t.context, id);
  t.deepEqual(namesOf(edited), [['city'], ['iban'], ['board']]);

  const lacking = { flowActionId: bob, fieldValues: {} };
  const refused = await acme.send(`/api/documents/${id}/electronic-signature`, lacking);
  await assertRefused(t, refused, 'InvalidFieldValue');
  await sign(bob, { iban: 'PT50' });
  const { url } = await acme.post<{ url: string }>(`/api/documents/${id}/action-url`, {
    emailAddress: 'di@example.org',
  });
  const [, key = '', ticket = ''] = /\/key\/([^/]+)\/.*\?ticket=(.*)$/.exec(url) ?? [];
  await acme.post(`/api/documents/keys/${key}/electronic-signature`, {
    ticket,
    fieldValues: { board: 'agreed' },
  });
  const done = await until(async () => {
    const now = await detail(t.context, id);
    return now.status === 'Concluded' ? now : undefined;
  });
  t.deepEqual(
    done.flowActions.flatMap(({ fields: own = [] }) => own.map(({ value }) => value)),
    ['Braga', 'PT50', 'agreed'],
  );
  const path = join(service.root, 'edited.pdf');
  const answer = await acme.fetch(`/api/documents/${id}/content?type=Signatures`);
  writeFileSync(path, Buffer.from(await answer.arrayBuffer()));
  const { stdout: verdicts } = await runTool('pdfsig', ['-nocert', path]);
  t.is(verdicts.split('Signature is Valid.').length - 1, 3, verdicts);
  const { stdout: text } = await runTool('pdftotext', ['-layout', path, '-']);
  for (const value of ['Braga', 'PT50', 'agreed']) t.true(text.includes(value), text);
});

test.serial('a file signed by certificate takes no new fields', async (t) => {
  const { acme } = t.context;
  const id = await acme.create([
    signer('Ana', 1),
    signer('Bob', 2, { fields: [{ name: 'old', ...place(40) }] }),
  ]);
  const { flowActions } = await detail(t.context, id);
  const edit = (fields: readonly object[]) =>
    acme.send(`/api/documents/${id}/flow`, {
      editedFlowActions: [{ flowActionId: flowActions[1]?.id, fields }],
    });
  t.is((await edit([])).status, 200);
  t.deepEqual(namesOf(await detail(t.context, id)), [[], []]);
  const own = selfSigned('Ana');
  const { started, path } = await startSignature(acme, id, 'ana@example.org', own);
  const fields = [{ name: 'new', ...place(40) }];
  await assertRefused(t, await edit(fields), 'FieldsNotEditable');
  await acme.post(path, { token: started.token, signature: signatureValue(own, started) });
  await assertRefused(t, await edit(fields), 'FieldsNotEditable');
  t.deepEqual(namesOf(await detail(t.context, id)), [[], []]);
});

test.serial('concurrent edits stay within the field limits and keep names unique', async (t) => {
  const { acme } = t.context;
  const file = (name: string) => ({ name, type: 'Attachment' });
  const files = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => file(`file ${from + index}`));
  const id = await acme.create([signer('Ana', 1, { fields: files(0, 15) })]);
  const add = (name: string, fields: readonly object[]) =>
    acme.send(`/api/documents/${id}/flow`, { addedFlowActions: [signer(name, 2, { fields })] });
  const many = await Promise.all([10, 20, 30, 40].map((from) => add(`P${from}`, files(from + 10, 4))));
  t.deepEqual(many.map(({ status }) => status).sort(), [200, 422, 422, 422]);
  for (const answer of many.filter(({ status }) => status !== 200))
    await assertRefused(t, answer, 'LimitExceeded');
  const same = await Promise.all(['Di', 'Ed', 'Flo'].map((name) => add(name, [file('passport')])));
  t.deepEqual(same.map(({ status }) => status).sort(), [200, 422, 422]);
  for (const answer of same.filter(({ status }) => status !== 200))
    await assertRefused(t, answer, 'InvalidFlowAction');
  t.is(namesOf(await detail(t.context, id)).flat().length, 20);
  // The same code also where the document was read after the edit that came first.
  await assertRefused(t, await add('Gil', [file('passport')]), 'InvalidFlowAction');
});

test.serial('edits at the same time stay within the limit of observers', async (t) => {
  const { acme } = t.context;
  const observers = (from: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      user: { name: `${from} ${index}`, email: `${from}-${index}@example.org` },
    }));
  const quiet = { disablePendingActionNotifications: true, disableNotifications: true };
  const id = await acme.create([signer('Ana', 1)], { observers: observers('first', 60), ...quiet });
  const answers = await Promise.all(
    ['b', 'c', 'd', 'e'].map((from) =>
      acme.send(`/api/documents/${id}/flow`, { addedObservers: observers(from, 20) }),
    ),
  );
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 422, 422]);
  for (const answer of answers.filter(({ status }) => status !== 200))
    await assertRefused(t, answer, 'LimitExceeded');
});

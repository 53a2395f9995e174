/** Codes by SMS and WhatsApp, through the gateway of the operator. */
import { createHmac } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { type Client, sharedProgram, startProgram } from '../../../actors/portal/service.ts';
import { type Receiver, startReceiver, status } from '../../../actors/portal/webhooks/receiver.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { reached } from '../../../project/waiting.ts';

const KEY = Buffer.alloc(32, 9);
const PHONE = '+351 (912) 345-678';

interface Message {
  readonly channel: string;
  readonly phone: string;
  readonly code: string;
  readonly text: string;
}

function signer(flags: object, phone: string | null = PHONE) {
  return {
    user: { name: 'Ana', email: 'ana@example.org', phone },
    allowElectronicSignature: true,
    ...flags,
  };
}

const BY_SMS = { requireSmsAuthenticationToSignElectronically: true };

const shared = endedAfter(test);
let program: ReturnType<typeof startWith> | undefined;
let organizations = 0;

/** The program and the gateway of the tests without further settings, which take turns, and an organization of its own. */
async function start() {
  program ??= startWith(shared);
  const { gateway, organization } = await program;
  gateway.calls.length = 0;
  organizations += 1;
  return { gateway, organization, acme: await organization(`Acme ${organizations}`) };
}

async function startWith(t: Pick<ExecutionContext, 'teardown'>, more: Readonly<Record<string, string>> = {}) {
  const gateway = await startReceiver(t, status(202));
  const { acme, organization } = await startProgram(t, {
    settings: {
      'Portal:MessageGateway:Url': gateway.url,
      'Portal:MessageGateway:Secret': `whsec_${KEY.toString('base64')}`,
      ...more,
    },
  });
  return { gateway, acme, organization };
}

async function actionOf(acme: Client, id: string) {
  const { flowActions } = await acme.get<{ flowActions: { id: string }[] }>(`/api/documents/${id}`);
  return flowActions[0]?.id ?? '';
}

async function message(gateway: Receiver, number: number): Promise<Message> {
  await reached(() => gateway.calls.length >= number);
  return JSON.parse(gateway.calls[number - 1]?.body ?? '') as Message;
}

async function code(response: Response): Promise<string> {
  return ((await response.json()) as { readonly code: string }).code;
}

test.serial('a code by SMS is sent signed, is needed, and is stated in the evidence', async (t) => {
  const { gateway, acme, organization } = await start();
  const id = await acme.create([signer(BY_SMS)], { disablePendingActionNotifications: true });
  const flowActionId = await actionOf(acme, id);
  const sign = (given: object) =>
    acme.send(`/api/documents/${id}/electronic-signature`, { flowActionId, ...given });
  t.is(await code(await sign({})), 'InvalidAuthenticationCode');
  const other = await organization('Other');
  const foreign = await other.send('/api/documents/sms-authentication-code', { flowActionId });
  t.is(await code(foreign), 'FlowActionNotFound');
  await acme.post('/api/documents/sms-authentication-code', { flowActionId });
  const sent = await message(gateway, 1);
  t.like(sent, { channel: 'Sms', phone: '+351912345678' });
  t.true(sent.text.includes(sent.code) && sent.text.includes('Acme'));
  const { headers, body } = gateway.calls[0] ?? t.fail();
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  t.is(headers['webhook-signature'], `v1,${createHmac('sha256', KEY).update(signed).digest('base64')}`);
  const wrong = await sign({ smsCode: sent.code === '000000' ? '000001' : '000000' });
  t.like(await wrong.json(), { code: 'InvalidAuthenticationCode', details: { channel: 'Sms' } });
  t.is((await sign({ whatsappCode: sent.code })).status, 422);
  // The older way of sending one code.
  t.is((await sign({ authenticationType: 'SMS', authenticationCode: sent.code })).status, 200);
  const { signers } = await acme.get<{ signers: { evidences: { file: string } }[] }>(
    `/api/documents/${id}/signatures-details`,
  );
  t.like(signers[0]?.evidences, {
    authenticationTypes: ['SMS', 'Application'],
    authenticatedPhoneNumber: '+351912345678',
    authenticatedPhoneNumberLastDigits: '5678',
  });
  const file = Buffer.from(signers[0]?.evidences.file ?? '', 'base64').toString('utf8');
  t.true(file.includes(`"authenticatedPhoneNumber":"+351912345678"`));
  await reached(async () => {
    const history = await acme.fetch(`/api/documents/${id}/history`);
    const text = await history.text();
    return text.includes('"CodeSent"') && text.includes('"WrongCode"') && text.includes('by Sms');
  });
  t.pass();
});

test.serial(
  'a participant needs each code that the action requires, and an e-mail code only where it is not disabled',
  async (t) => {
    const { gateway, acme } = await start();
    const flags = {
      requireWhatsappAuthenticationToSignElectronically: true,
      disableEmailAuthenticationToSignElectronically: true,
    };
    const id = await acme.create([signer(flags)], { disablePendingActionNotifications: true });
    const link = { emailAddress: 'ana@example.org', requireEmailAuthentication: true };
    const { url } = await acme.post<{ url: string }>(`/api/documents/${id}/action-url`, link);
    const page = await (await fetch(url)).text();
    t.true(page.includes('id="whatsapp-code"'));
    t.false(page.includes('id="email-code"'));
    // Nothing of the number but its last digits; three digits alone also occur in keys and tickets.
    t.notRegex(page, /912\D{0,3}345/);
    const { pathname, searchParams } = new URL(url);
    const key = pathname.split('/')[3] ?? '';
    const ticket = searchParams.get('ticket') ?? '';
    const call = (action: string, body: object) =>
      fetch(`${acme.url}/api/documents/keys/${key}/${action}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ticket, ...body }),
      });
    t.is(await code(await call('email-authentication-code', { channel: 'Sms' })), 'InvalidFlowAction');
    t.is((await call('email-authentication-code', { channel: 'Whatsapp' })).status, 200);
    const sent = await message(gateway, 1);
    t.is(sent.channel, 'Whatsapp');
    const whatsappCode = sent.code;
    t.is((await call('electronic-signature', { typedName: 'Ana', whatsappCode })).status, 200);
  },
);

test.serial('a telephone gets at most ten codes a day from all documents of an organization', async (t) => {
  const { gateway, acme } = await start();
  const ids = await Promise.all(
    [1, 2].map(() => acme.create([signer(BY_SMS)], { disablePendingActionNotifications: true })),
  );
  const [first = '', second = ''] = await Promise.all(ids.map((id) => actionOf(acme, id)));
  const send = (flowActionId: string) =>
    acme.send('/api/documents/sms-authentication-code', { flowActionId, resend: true });
  for (let number = 1; number <= 10; number++) {
    t.is((await send(first)).status, 200);
    await message(gateway, number);
  }
  for (const action of [first, second]) {
    const refused = await send(action);
    t.is(refused.status, 429);
    t.true(Number(refused.headers.get('retry-after')) > 80_000);
  }
  t.is(gateway.calls.length, 10);
});

test('an organization sends no more codes a day than the setting says, to whatever telephones', async (t) => {
  const { gateway, acme, organization } = await startWith(t, { 'Portal:MessageGateway:MessagesPerDay': '2' });
  const actionTo = async (client: Client, phone: string) => {
    const quiet = { disablePendingActionNotifications: true };
    return actionOf(client, await client.create([signer(BY_SMS, phone)], quiet));
  };
  const send = async (client: Client, phone: string) =>
    client.send('/api/documents/sms-authentication-code', { flowActionId: await actionTo(client, phone) });
  for (const number of [1, 2]) {
    t.is((await send(acme, `+35191234567${number}`)).status, 200);
    await message(gateway, number);
  }
  const refused = await send(acme, '+351912345673');
  t.is(refused.status, 429);
  t.true(Number(refused.headers.get('retry-after')) > 80_000);
  t.like(await refused.json(), { code: 'TooManyRequests' });
  const other = await organization('Other');
  t.is((await send(other, '+351912345673')).status, 200, 'others are not concerned');
  await message(gateway, 3);
  t.is(gateway.calls.length, 3);
});

test.serial('flags without a provider, and people without a telephone, are refused', async (t) => {
  const { acme } = await start();
  const upload = await acme.upload();
  const create = async (flowAction: object) => {
    const files = [{ ...upload, displayName: upload.name }];
    const response = await acme.send('/api/documents', { files, flowActions: [flowAction] });
    const { code: refused, message: says } = (await response.json()) as { code?: string; message?: string };
    return `${response.status} ${refused} ${says}`;
  };
  t.regex(await create(signer(BY_SMS, '912 345 678')), /^422 InvalidFlowAction .*phone/);
  t.regex(await create(signer(BY_SMS, null)), /^422 InvalidFlowAction .*phone/);
  t.regex(
    await create(signer({ requireSelfieAuthenticationToSignElectronically: true })),
    /^422 InvalidFlowAction .*Selfie/,
  );
  t.regex(
    await create(signer({ disableEmailAuthenticationToSignElectronically: true })),
    /^422 InvalidFlowAction .*only for actions/,
  );
  const { acme: without } = await sharedProgram(t);
  const files = [{ ...(await without.upload()), displayName: 'a.pdf' }];
  const refused = await without.send('/api/documents', { files, flowActions: [signer(BY_SMS)] });
  t.like(await refused.json(), { code: 'InvalidFlowAction' });
});

import test, { type ExecutionContext } from 'ava';
import { MailFailure } from '../../../../actors/portal/mails/mail-port.ts';
import type { UserId } from '../../../../machines/ids.ts';
import { notice } from '../mailbox.ts';
import { type Answer, startReceiver, status } from '../webhooks/receiver.ts';
import { startMailSystem } from './mail-harness.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const PHONE = '+351912345678';

async function gatewaySystem(t: ExecutionContext, answer: Answer) {
  const receiver = await startReceiver(t, answer);
  const mailer = {
    send: async () => {
      throw new MailFailure('mail.none', 'A code for a telephone went to the relay.', true);
    },
    close() {},
  };
  const mails = await startMailSystem(t, {
    mailer,
    gateway: { url: receiver.url, secret: SECRET, perDay: 1000 },
  });
  const message = { channel: 'Sms', phone: PHONE } as const;
  const send = () => mails.ask([notice('code', '', { message, codeGeneration: 42, userId: 'u' as UserId })]);
  const reach = (state: string, tries: number) =>
    mails.until(async () => {
      const mail = await mails.mail(PHONE);
      return mail?.state === state && mail.context.tries === tries;
    });
  return { receiver, mails, send, reach };
}

test('a message that the gateway does not take is sent again under the same id, and freshly signed', async (t) => {
  const { receiver, mails, send, reach } = await gatewaySystem(t, status(503));
  await send();
  await reach('Waiting', 1);
  receiver.answer = status(202);
  mails.clock.advance(30_000);
  await reach('Sent', 2);
  const [first, second] = receiver.calls;
  t.is(receiver.calls.length, 2);
  t.is(first?.headers['webhook-id'], second?.headers['webhook-id']);
  t.is(first?.body, second?.body);
  t.not(first?.headers['webhook-signature'], second?.headers['webhook-signature']);
});

test('a message that the gateway refuses is not repeated, and its code is not kept', async (t) => {
  const { receiver, mails, send, reach } = await gatewaySystem(t, ({ body }, response) =>
    response.writeHead(422).end(`{"error":"no such number","given":${body}}`),
  );
  await send();
  await reach('Failed', 1);
  const kept = JSON.stringify((await mails.mail(PHONE))?.context);
  const { code } = JSON.parse(receiver.calls[0]?.body ?? '') as { readonly code: string };
  t.regex(code, /^\d{6}$/);
  t.true(kept.includes('no such number'));
  t.false(kept.includes(code));
});

test('a message that nobody takes within ten minutes is a dead letter', async (t) => {
  const { receiver, mails, send } = await gatewaySystem(t, status(429));
  await send();
  await mails.until(async () => {
    const mail = await mails.mail(PHONE);
    if (mail?.state === 'Waiting') mails.clock.advance(60_000);
    return mail?.state === 'Failed';
  });
  const { items } = await mails.mails.newest({ status: 'Failed', limit: 10, offset: 0 });
  t.like(items[0], { to: PHONE, about: 'code', lastError: { code: 'message.gateway' } });
  t.true(receiver.calls.length > 2);
});

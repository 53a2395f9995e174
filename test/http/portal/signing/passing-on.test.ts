/**
 * Participants who hand an action on to another person, over HTTP, and those who attack it.
 *
 * Source: docs/decisions/0550-passing-on.md.
 */
import anyTest, { type TestFn } from 'ava';
import { until } from '../../../actors/portal/service.ts';
import { pki } from '../../../pki/pki.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import {
  type ClockedPortal,
  clockedPortal,
  mailed,
  typesOf,
  untilMailed,
} from '../requests/clocked-portal.ts';
import { startSignature } from './certificate-client.ts';

const test = anyTest as TestFn<ClockedPortal>;
const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await clockedPortal(shared);
});

const ANA = { name: 'Ana', email: 'ana@example.org' };
const MAY = { allowElectronicSignature: true, allowPassingOn: true };
const LOU = { name: 'Lou Lima', email: 'lou@example.org', reason: 'On leave.' };

interface Detail {
  readonly id: string;
  readonly key: string;
  readonly flowActions: readonly {
    readonly id: string;
    readonly status: string;
    readonly user: { readonly email: string };
    readonly passedOn: readonly { readonly email: string; readonly reason: string }[];
  }[];
}

let numbers = 0;

/** A document of which the first person may hand on, with a ticket. @param asks false: the application vouches for the person */
async function started(
  { client }: ClockedPortal,
  {
    actions,
    asks = false,
    more = {},
  }: { actions?: readonly object[]; asks?: boolean; more?: Record<string, unknown> } = {},
) {
  numbers += 1;
  const ana = { ...ANA, email: `ana${numbers}@example.org` };
  const id = await client.create([{ user: ana, ...MAY }, ...(actions ?? [])], more);
  const detail = await client.get<Detail>(`/api/documents/${id}`);
  const ticketOf = async (emailAddress: string) => {
    const given = { emailAddress, requireEmailAuthentication: asks };
    const { url } = await client.post<{ url: string }>(`/api/documents/${id}/action-url`, given);
    return new URL(url).searchParams.get('ticket') ?? '';
  };
  return { id, key: detail.key, ana, ticketOf, ticket: await ticketOf(ana.email) };
}

/** Code of the refusal; empty: it was handed on. */
async function passOn({ client }: ClockedPortal, key: string, given: object): Promise<string> {
  const answer = await client.send(`/api/documents/keys/${key}/passing-on`, { ...LOU, ...given });
  const text = await answer.text();
  return text === '' ? '' : (JSON.parse(text) as { code: string }).code;
}

const pageOf = async ({ client }: ClockedPortal, key: string, ticket: string) =>
  (await fetch(`${client.url}/document/key/${key}/sign?ticket=${ticket}`)).text();

test.serial(
  'another person acts, the old link says who, and the evidence and history keep the chain',
  async (t) => {
    const { client } = t.context;
    const { id, key, ana, ticket, ticketOf } = await started(t.context, {
      more: { observers: [{ user: { name: 'Per', email: 'per@example.org' } }] },
    });
    t.true((await pageOf(t.context, key, ticket)).includes(`/document/key/${key}/pass-on?`));
    t.is(await passOn(t.context, key, { ticket }), '');
    const { flowActions } = await client.get<Detail>(`/api/documents/${id}`);
    t.is(flowActions[0]?.user.email, LOU.email);
    t.like(flowActions[0]?.passedOn, [{ email: ana.email, reason: LOU.reason }]);
    const old = await pageOf(t.context, key, ticket);
    t.regex(old, /data-state="passed-on"/);
    t.true(old.includes(LOU.name));
    t.false(old.includes(LOU.email), 'no address of another person');
    t.is(await passOn(t.context, key, { ticket, email: 'x@example.org' }), 'InvalidTicket');
    const sign = `/api/documents/keys/${key}/electronic-signature`;
    t.is((await client.send(sign, { ticket })).status, 422);
    t.deepEqual(await untilMailed(t.context, id, 'pending', 2), [ana.email, LOU.email]);
    t.deepEqual(await untilMailed(t.context, id, 'flow-edited', 1), ['per@example.org']);
    t.is((await client.send(sign, { ticket: await ticketOf(LOU.email) })).status, 200);
    const checked = JSON.stringify(
      await until(async () => {
        const found = await client.get<{ status: string }>(`/api/documents/${id}`);
        return found.status === 'Concluded'
          ? client.get<object>(`/api/documents/keys/${key}/signatures`)
          : undefined;
      }),
    );
    t.regex(
      checked,
      new RegExp(`"passedOn":\\[\\{"id":"[^"]+","name":"Ana","email":"${ana.email}","reason":"On leave."`),
    );
    t.notRegex(checked, /"file":null/, 'the evidence is the one whose digest was signed');
    const { items } = await client.get<{ items: { message: string }[] }>(
      `/api/documents/${id}/history?limit=100`,
    );
    t.true(items.some(({ message }) => message === 'Ana handed on to Lou Lima: On leave.'));
    t.true((await typesOf(t.context, id)).includes('Edited'));
  },
);

test.serial('a link that was forwarded hands nothing on without the code of its person', async (t) => {
  const { client } = t.context;
  const { id, key, ana, ticket } = await started(t.context, { asks: true });
  t.is(await passOn(t.context, key, { ticket }), 'InvalidAuthenticationCode');
  t.is(await passOn(t.context, key, { ticket, emailCode: '000000' }), 'InvalidAuthenticationCode');
  t.deepEqual(await untilMailed(t.context, id, 'pending', 1), [ana.email]);
  const page = `${client.url}/document/key/${key}/pass-on?ticket=${ticket}`;
  const post = async (form: Record<string, string>) =>
    fetch(page, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ ...LOU, ...form }) });
  t.is((await fetch(page)).status, 200);
  t.is((await post({ email: 'nonsense' })).status, 422);
  t.deepEqual(await mailed(t.context, id, 'code'), [], 'what is wrong is said before a code is sent');
  t.true((await (await post({})).text()).includes('one-time-code'));
  const code = await until(async () =>
    t.context.fixture.mails
      .filter(({ to }) => to.address === ana.email)
      .map((mail) => /\n {4}(\d{6})\n/.exec(mail.text)?.[1])
      .find((found) => found !== undefined),
  );
  t.is((await post({ code: '000000' })).status, 422);
  const done = await post({ code });
  t.is(done.status, 302);
  t.regex(done.headers.get('location') ?? '', /\/sign\?/);
  t.is((await fetch(page, { redirect: 'manual' })).status, 302, 'there is nothing left to hand on');
});

test.serial('nobody hands on what may not be, to whom it may not be, or in a circle', async (t) => {
  const rule = { type: 'SignRule', ruleName: 'Board', numberRequiredSignatures: 1 };
  const bo = { name: 'Bo', email: 'bo@example.org' };
  const both = await started(t.context, { actions: [{ user: bo, allowElectronicSignature: true }] });
  const { key, ana, ticket, ticketOf } = both;
  const refused = async (given: object, code = 'InvalidFlowAction') =>
    t.is(await passOn(t.context, key, { ticket, ...given }), code, JSON.stringify(given));
  await refused({ email: ana.email.toUpperCase() });
  await refused({ email: bo.email });
  await refused({ email: 'no address' });
  await refused({ name: '' });
  await refused({ name: 'See www.example.com' });
  await refused({ name: 'Win https://example.com' });
  await refused({ name: 'x'.repeat(201) }, 'BadRequest');
  await refused({ reason: ' ' }, 'BadRequest');
  await refused({ ticket: await ticketOf(bo.email) });
  await refused({ ticket: `B${ticket.slice(1)}` }, 'InvalidTicket');
  await refused({ documentVersion: 2 }, 'InvalidDocumentStatus');
  let holder = ana.email;
  for (const next of ['c1@example.org', 'c2@example.org', 'c3@example.org']) {
    const now = await ticketOf(holder);
    if (holder !== ana.email) await refused({ ticket: now, email: ana.email });
    t.is(await passOn(t.context, key, { ticket: now, email: next }), '');
    holder = next;
  }
  await refused({ ticket: await ticketOf(holder), email: 'c4@example.org' }, 'LimitExceeded');
  const board = await started(t.context, {
    actions: [{ ...rule, ...MAY, signRuleUsers: [bo, { name: 'Cy', email: 'cy@example.org' }] }],
  });
  t.is(await passOn(t.context, board.key, { ticket: await board.ticketOf(bo.email) }), 'InvalidFlowAction');
});

test.serial('strangers get few mails: limits of the mailbox that is asked, whoever hands on', async (t) => {
  for (let count = 0; count <= 10; count += 1) {
    const { key, ticket } = await started(t.context);
    const email = count % 2 === 0 ? 'victim@example.org' : 'victim+x@example.org';
    t.is(await passOn(t.context, key, { ticket, email }), count < 10 ? '' : 'TooManyRequests');
  }
});

test.serial('of two who hand on at once one is heard, and a silenced document sends nothing', async (t) => {
  const { id, key, ticket } = await started(t.context, { more: { disableNotifications: true } });
  const codes = await Promise.all(
    ['d1', 'd2'].map((name) => passOn(t.context, key, { ticket, email: `${name}@example.org` })),
  );
  t.is(codes.filter((code) => code === '').length, 1, codes.join());
  t.deepEqual(await mailed(t.context, id, 'pending'), []);
});

test.serial('nothing is handed on while its signature with a certificate has begun', async (t) => {
  const { client } = t.context;
  const { id, key, ana, ticket } = await started(t.context);
  const { started: begun } = await startSignature(client, id, ana.email, pki().signer('p-256'));
  t.true(begun.success, JSON.stringify(begun));
  const answer = await client.send(`/api/documents/keys/${key}/passing-on`, { ...LOU, ticket });
  t.regex(await answer.text(), /"InvalidFlowAction".*has begun/);
  t.deepEqual(await untilMailed(t.context, id, 'pending', 1), [ana.email]);
});

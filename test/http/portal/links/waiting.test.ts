/**
 * The page of all documents that wait for a mailbox, over HTTP, and those who attack it. With a clock set forward, so on LMDB alone.
 *
 * Source: docs/decisions/0570-what-waits-for-a-mailbox.md.
 */
import { randomUUID } from 'node:crypto';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { type Client, until } from '../../../actors/portal/service.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { type ClockedPortal, clientOf, clockedPortal, typesOf } from '../requests/clocked-portal.ts';
import { ticketOf } from '../signing/certificate-client.ts';

const test = anyTest as TestFn<ClockedPortal>;
const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await clockedPortal(shared, { trustsProxy: true });
});

const MINUTE = 60_000;
const SOME_TIME = '2030-01-10T09:30:00.000Z';
const SIGNS = { allowElectronicSignature: true };

interface Item {
  readonly documentId: string;
  readonly flowActionId: string;
  readonly userId: string;
  readonly documentVersion: number;
  readonly actionDate: string;
  readonly organizationName: string;
  readonly asked: string;
  readonly alone: string | null;
  readonly title: string | null;
  readonly expirationDate: string | null;
  readonly url: string;
}
interface Listed {
  readonly email: string;
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}
type Results = readonly {
  readonly documentId: string;
  readonly isDone: boolean;
  readonly code: string | null;
}[];

let people = 0;
const newPerson = () => {
  people += 1;
  return { name: `Ana ${people}`, email: `ana${people}@example.org` };
};

let networks = 0;

/** A call from a network of its own. */
async function call(
  { client }: ClockedPortal,
  path: string,
  body: object,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  networks += 1;
  const answer = await fetch(`${client.url}/api/waiting/${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Forwarded-For': `198.51.${networks >> 8}.${networks & 255}`,
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
}

const refusalOf = async (answer: ReturnType<typeof call>) => (await answer).body['code'];

function codesTo({ fixture }: ClockedPortal, email: string): readonly string[] {
  return fixture.mails
    .filter(({ to }) => to.address === email)
    .flatMap((mail) => /\n {4}(\d{10})\n/.exec(mail.text)?.[1] ?? []);
}

async function codeTo(portal: ClockedPortal, email: string, count = 1): Promise<string> {
  const codes = await until(async () => {
    const found = codesTo(portal, email);
    return found.length >= count ? found : undefined;
  });
  return codes.at(-1) ?? '';
}

/** Ticket of a session of the mailbox. */
async function enter(portal: ClockedPortal, email: string, count = 1): Promise<string> {
  await call(portal, 'code', { email });
  const { body } = await call(portal, 'session', { email, code: await codeTo(portal, email, count) });
  return String(body['ticket']);
}

async function list(portal: ClockedPortal, ticket: string, cursor: string | null = null): Promise<Listed> {
  return (await call(portal, 'documents', { ticket, cursor })).body as unknown as Listed;
}

async function sign(
  portal: ClockedPortal,
  ticket: string,
  items: readonly Pick<Item, 'documentId' | 'flowActionId' | 'userId' | 'documentVersion' | 'actionDate'>[],
): Promise<Results> {
  const documents = items.map(({ documentId, flowActionId, userId, documentVersion, actionDate }) => ({
    documentId,
    flowActionId,
    userId,
    documentVersion,
    actionDate,
  }));
  const { body } = await call(portal, 'signatures', { ticket, typedName: 'Ana', documents });
  return body['results'] as Results;
}

const codesOf = (results: Results) => results.map(({ isDone, code }) => (isDone ? '' : code));

const untilConcluded = (client: Client, id: string) =>
  until(async () => {
    const { status } = await client.get<{ status: string }>(`/api/documents/${id}`);
    return status === 'Concluded' ? true : undefined;
  });

test.serial(
  'one code lists the documents of two organizations, and one act signs and approves them',
  async (t) => {
    const portal = t.context;
    const { client } = portal;
    const other = clientOf(portal, 'Other');
    const ana = newPerson();
    const one = await client.create([{ user: ana, ...SIGNS, title: 'Tenant' }], {
      expirationDate: '2100-01-10T00:00:00Z',
    });
    const two = await other.create([{ type: 'Approver', user: { ...ana, email: ana.email.toUpperCase() } }]);
    const ticket = await enter(portal, ana.email);
    const { email, items, nextCursor } = await list(portal, ticket);
    t.is(email, ana.email);
    t.is(nextCursor, null);
    t.deepEqual(
      items.map(({ documentId, organizationName, asked, alone, title }) => [
        documentId,
        organizationName,
        asked,
        alone,
        title,
      ]),
      [
        [one, 'Org', 'Sign', null, 'Tenant'],
        [two, 'Other', 'Approve', null, null],
      ],
    );
    t.regex(String(items[0]?.expirationDate), /^2100-01-10T23:59/);
    const url = String(items[0]?.url).replace(/^https?:\/\/[^/]+/, client.url);
    t.regex(await (await fetch(url)).text(), /<body class="signing">/, 'its address opens the document');
    const results = await sign(portal, ticket, items);
    t.deepEqual(codesOf(results), ['', '']);
    await untilConcluded(client, one);
    await untilConcluded(other, two);
    t.deepEqual((await list(portal, ticket)).items, []);
    t.deepEqual(codesOf(await sign(portal, ticket, items)), ['', ''], 'a repetition signs nothing twice');
    t.is((await typesOf(portal, one)).filter((type) => type === 'Signed').length, 1);
    const record = JSON.stringify(await client.get(`/api/documents/${one}/signatures-details`));
    t.regex(
      record,
      new RegExp(`"authenticatedEmail":"${ana.email}","authenticatedPhone`.replace(',"auth', '.*"auth')),
    );
    t.regex(record, /"emailConfirmedAt":"20/, 'the evidence says when the code was confirmed');
    t.notRegex(record, /"file":null/, 'and is the one that was signed');
  },
);

test.serial('what asks for more stays to be opened, says why, and is not signed by the act', async (t) => {
  const portal = t.context;
  const { client } = portal;
  const ana = newPerson();
  const place = { topLeftX: 10, topLeftY: 10, width: 80, height: 20 };
  const asked: readonly (readonly [string, object, object?])[] = [
    ['certificate', { allowElectronicSignature: false }],
    ['proof', { requireAuthenticatorAppToSignElectronically: true }],
    ['initials', { signatureInitialsMode: 'Required' }],
    ['reading', {}, { requireReading: true }],
    ['fields', { fields: [{ name: 'city', ...place }] }],
    ['fields', { fields: [{ name: 'card', type: 'Attachment' }] }],
  ];
  const ids: string[] = [];
  for (const [, action, more] of asked)
    ids.push(
      await client.create([{ user: ana, ...SIGNS, ...action }], (more ?? {}) as Record<string, unknown>),
    );
  ids.push(
    await client.create([
      { user: ana, ...SIGNS },
      { user: { ...ana, name: 'Bo' }, ...SIGNS },
    ]),
  );
  const ticket = await enter(portal, ana.email);
  const { items } = await list(portal, ticket);
  t.deepEqual(
    items.map(({ alone }) => alone),
    [...asked.map(([why]) => why), 'shared', 'shared'],
  );
  const results = await sign(portal, ticket, items);
  t.true(
    results.every(({ isDone, code }) => !isDone && code === 'InvalidFlowAction'),
    JSON.stringify(results),
  );
  for (const id of ids) t.false((await typesOf(portal, id)).includes('Signed'));
});

test.serial(
  'what an application shows, what is of others, and what is not their turn is neither named nor signed',
  async (t) => {
    const portal = t.context;
    const { client } = portal;
    const ana = newPerson();
    const bo = newPerson();
    await client.create([{ user: ana, ...SIGNS }]);
    const hidden = [
      await client.create([{ user: ana, ...SIGNS }], { disablePendingActionNotifications: true }),
      await client.create([{ user: ana, ...SIGNS }], { disableNotifications: true }),
      await client.create([{ user: bo, ...SIGNS }]),
      await client.create([{ user: { ...ana, email: ana.email.replace('@', '+x@') }, ...SIGNS }]),
      await client.create([
        { user: bo, step: 1, ...SIGNS },
        { user: ana, step: 2, ...SIGNS },
      ]),
    ];
    const ticket = await enter(portal, ana.email);
    t.is((await list(portal, ticket)).items.length, 1);
    for (const documentId of hidden) {
      const { flowActions } = await client.get<{ flowActions: { id: string; user: { id: string } }[] }>(
        `/api/documents/${documentId}`,
      );
      for (const { id, user } of flowActions) {
        const [result] = await sign(portal, ticket, [
          { documentId, flowActionId: id, userId: user.id, documentVersion: 1, actionDate: SOME_TIME },
        ]);
        t.like(result, { isDone: false, code: 'DocumentNotFound' });
      }
    }
    const [unknown] = await sign(portal, ticket, [
      {
        documentId: randomUUID(),
        flowActionId: randomUUID(),
        userId: randomUUID(),
        documentVersion: 1,
        actionDate: SOME_TIME,
      },
    ]);
    t.is(unknown?.code, 'DocumentNotFound', 'as one that there is not');
  },
);

test.serial(
  'what changes between the list and the act is not signed: replaced, new field, cancelled, edited',
  async (t) => {
    const portal = t.context;
    const { client } = portal;
    const ana = newPerson();
    const make = () => client.create([{ user: ana, ...SIGNS }]);
    const replaced = await make();
    const field = await make();
    const cancelled = await make();
    const edited = await make();
    const kept = await make();
    const titled = await make();
    const ticket = await enter(portal, ana.email);
    const { items } = await list(portal, ticket);
    t.is(items.length, 6);
    portal.forward(1_000);
    const { id, name, contentType } = await client.upload();
    await client.post(`/api/documents/${replaced}/versions`, {
      file: { id, displayName: 'Other', name, contentType },
    });
    const actionOf = (document: string) =>
      items.find(({ documentId }) => documentId === document)?.flowActionId;
    await client.post(`/api/documents/${field}/flow`, {
      editedFlowActions: [
        {
          flowActionId: actionOf(field),
          fields: [{ name: 'city', topLeftX: 1, topLeftY: 1, width: 80, height: 20 }],
        },
      ],
    });
    await client.post(`/api/documents/${cancelled}/cancellation`, { reason: 'x' });
    await client.post(`/api/documents/${edited}/flow`, {
      editedFlowActions: [{ flowActionId: actionOf(edited), participantEmailAddress: 'bo@example.org' }],
    });
    await client.post(`/api/documents/${titled}/flow`, {
      editedFlowActions: [{ flowActionId: actionOf(titled), title: 'Guarantor' }],
    });
    const results = await sign(portal, ticket, items);
    const codes = Object.fromEntries(results.map(({ documentId, code }) => [documentId, code]));
    t.deepEqual(codes, {
      [replaced]: 'InvalidDocumentStatus',
      [field]: 'InvalidDocumentStatus',
      [titled]: 'InvalidDocumentStatus',
      [cancelled]: 'DocumentNotFound',
      [edited]: 'DocumentNotFound',
      [kept]: null,
    });
  },
);

test.serial(
  'nobody is told to have signed what another of the rule signed, or what the person refused',
  async (t) => {
    const portal = t.context;
    const { client } = portal;
    const ana = newPerson();
    const bo = newPerson();
    const rule = { type: 'SignRule', ruleName: 'Board', allowElectronicSignature: true };
    const one = await client.create([{ ...rule, numberRequiredSignatures: 1, signRuleUsers: [ana, bo] }]);
    const two = await client.create([
      {
        ...rule,
        numberRequiredSignatures: 1,
        allowRuleFlowToContinueIfRefused: true,
        signRuleUsers: [ana, bo],
      },
    ]);
    const ticket = await enter(portal, ana.email);
    const { items } = await list(portal, ticket);
    t.is(items.length, 2);
    const others = await enter(portal, bo.email);
    t.deepEqual(codesOf(await sign(portal, others, (await list(portal, others)).items.slice(0, 1))), ['']);
    await untilConcluded(client, one);
    const link = await ticketOf(client, two, ana.email);
    await client.post(`/api/documents/keys/${link.key}/participant-refusal`, {
      ticket: link.ticket,
      reason: 'No.',
    });
    const results = await sign(portal, ticket, items);
    t.true(
      results.every(({ isDone }) => !isDone),
      JSON.stringify(results),
    );
  },
);

test.serial('one act is of one person: people who share a mailbox act one by one', async (t) => {
  const portal = t.context;
  const { client } = portal;
  const ana = newPerson();
  await client.create([{ user: ana, ...SIGNS }]);
  await client.create([{ user: { ...ana, name: 'Bo' }, ...SIGNS }]);
  await client.create([{ user: ana, ...SIGNS }]);
  const ticket = await enter(portal, ana.email);
  const { items } = await list(portal, ticket);
  t.deepEqual(codesOf(await sign(portal, ticket, items)), ['', 'InvalidFlowAction', '']);
  t.deepEqual(codesOf(await sign(portal, ticket, items.slice(1, 2))), ['']);
});

test.serial('a session that was left leaves no list behind the links that it has opened', async (t) => {
  const portal = t.context;
  const { client } = portal;
  const ana = newPerson();
  for (let count = 0; count < 2; count += 1) await client.create([{ user: ana, ...SIGNS }]);
  const ticket = await enter(portal, ana.email);
  const { items } = await list(portal, ticket);
  await sign(portal, ticket, items.slice(0, 1));
  const from = `198.51.${networks >> 8}.${networks & 255}`;
  await call(portal, 'session/end', { ticket });
  const url = String(items[0]?.url).replace(/^https?:\/\/[^/]+/, client.url);
  const page = await fetch(url, {
    headers: { 'X-Forwarded-For': from },
  });
  t.notRegex(await page.text(), new RegExp(String(items[1]?.url.split('ticket=')[0]?.split('/key/')[1])));
});

test.serial('calls of one network are counted, whichever client and mailbox they name', async (t) => {
  const portal = t.context;
  const codes = [];
  for (let host = 1; host <= 6; host += 1)
    for (let count = 0; count < 51; count += 1) {
      const answer = await fetch(`${portal.client.url}/api/waiting/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': `203.0.113.${host}` },
        body: JSON.stringify({ email: `n${host}-${count}@example.org`, code: '0000000000' }),
      });
      codes.push(answer.status);
    }
  t.deepEqual(
    [codes.filter((status) => status === 422).length, codes.filter((status) => status === 429).length],
    [300, 6],
  );
});

test.serial('two acts at once sign each document once', async (t) => {
  const portal = t.context;
  const { client } = portal;
  const ana = newPerson();
  for (let count = 0; count < 6; count += 1) await client.create([{ user: ana, ...SIGNS }]);
  const ticket = await enter(portal, ana.email);
  const { items } = await list(portal, ticket);
  const both = await Promise.all([1, 2].map(() => sign(portal, ticket, [...items, ...items.slice(0, 2)])));
  t.true(
    both.flat().every(({ isDone }) => isDone),
    JSON.stringify(both),
  );
  for (const { documentId } of items) {
    await untilConcluded(client, documentId);
    t.is((await typesOf(portal, documentId)).filter((type) => type === 'Signed').length, 1);
  }
});

test.serial(
  'nothing tells whether something waits for a mailbox: answers, refusals and limits are the same',
  async (t) => {
    const portal = t.context;
    const known = newPerson().email;
    const unknown = newPerson().email;
    await portal.client.create([{ user: { name: 'Ana', email: known }, ...SIGNS }]);
    const asked = [];
    for (const email of [known, unknown]) {
      const answers = [await call(portal, 'session', { email, code: '0000000000' })];
      answers.push(await call(portal, 'code', { email }), await call(portal, 'code', { email }));
      answers.push(await call(portal, 'code', { email, resend: true }));
      for (let guess = 0; guess < 6; guess += 1)
        answers.push(await call(portal, 'session', { email, code: `000000000${guess}` }));
      portal.forward(MINUTE + 1);
      for (let count = 0; count < 11; count += 1) {
        answers.push(await call(portal, 'code', { email, resend: true }));
        portal.forward(MINUTE + 1);
      }
      asked.push(answers.map(({ status, body }) => [status, body['code'] ?? '', body['message'] ?? '']));
      portal.forward(60 * MINUTE);
    }
    t.deepEqual(asked[0], asked[1]);
    t.true(
      asked[0]?.some(([status]) => status === 429),
      'the limit was reached',
    );
    t.true(codesTo(portal, known).length > 1);
    t.deepEqual(codesTo(portal, unknown), [], 'strangers get no mail');
  },
);

test.serial(
  'codes are guessed in vain: five guesses of each, fifty in all, and a right one is used up',
  async (t) => {
    const portal = t.context;
    const { email } = newPerson();
    await portal.client.create([{ user: { name: 'Ana', email }, ...SIGNS }]);
    const enterWith = (code: string) => refusalOf(call(portal, 'session', { email, code }));
    await call(portal, 'code', { email });
    const first = await codeTo(portal, email);
    t.is(await enterWith(first), undefined);
    t.is(await enterWith(first), 'InvalidAuthenticationCode', 'used up');
    const wrong = (code: string) => (code === '1111111111' ? '2222222222' : '1111111111');
    let sent = 1;
    for (let round = 0; round < 10; round += 1) {
      portal.forward(7 * MINUTE);
      t.is(await refusalOf(call(portal, 'code', { email, resend: true })), undefined, `round ${round}`);
      sent += 1;
      const code = await codeTo(portal, email, sent);
      for (let guess = 0; guess < 5; guess += 1) await enterWith(wrong(code));
      t.is(
        await enterWith(code),
        round < 9 ? 'InvalidAuthenticationCode' : 'TooManyWrongCodes',
        'the right one comes too late',
      );
    }
    portal.forward(7 * MINUTE);
    t.is(await refusalOf(call(portal, 'code', { email, resend: true })), 'TooManyWrongCodes');
    const { id } = (await portal.client.get<{ items: { id: string }[] }>('/api/documents?order=Desc&limit=1'))
      .items[0] ?? {
      id: '',
    };
    const { key, ticket } = await ticketOf(portal.client, id, email);
    t.is(
      (await portal.client.send(`/api/documents/keys/${key}/electronic-signature`, { ticket })).status,
      200,
      'links go on',
    );
  },
);

test.serial(
  'a session ends by itself and when its person leaves, and tickets of others are none',
  async (t) => {
    const portal = t.context;
    const ana = newPerson();
    await portal.client.create([{ user: ana, ...SIGNS }]);
    const ticket = await enter(portal, ana.email);
    const { items } = await list(portal, ticket);
    const isOver = async (given: string) =>
      t.deepEqual(
        [
          await refusalOf(call(portal, 'documents', { ticket: given })),
          await refusalOf(call(portal, 'signatures', { ticket: given, documents: items })),
        ],
        ['InvalidTicket', 'InvalidTicket'],
      );
    const linked = new URL(String(items[0]?.url)).searchParams.get('ticket') ?? '';
    for (const given of ['', 'x', linked, `${ticket}x`, ticket.slice(1)]) await isOver(given);
    t.is((await call(portal, 'session/end', { ticket })).status, 200);
    t.is((await call(portal, 'session/end', { ticket })).status, 200, 'a repeated call changes nothing');
    await isOver(ticket);
    portal.forward(MINUTE + 1);
    const again = await enter(portal, ana.email, 2);
    portal.forward(29 * MINUTE);
    t.is((await list(portal, again)).items.length, 1);
    portal.forward(MINUTE);
    await isOver(again);
    const url = String(items[0]?.url).replace(/^https?:\/\/[^/]+/, portal.client.url);
    portal.forward(30 * MINUTE);
    t.regex(
      await (await fetch(url)).text(),
      /data-state="ticket-expired"/,
      'addresses of the list end after an hour',
    );
  },
);

/** A browser with its cookie. */
class Browser {
  cookie = '';

  constructor(private readonly url: string) {}

  async open(path: string): Promise<{ readonly status: number; readonly html: string }> {
    const answer = await fetch(`${this.url}${path}`, {
      headers: { cookie: this.cookie },
      redirect: 'manual',
    });
    return this.#read(answer);
  }

  async post(
    path: string,
    form: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly html: string }> {
    networks += 1;
    const from = { 'X-Forwarded-For': `198.52.${networks >> 8}.${networks & 255}` };
    const answer = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { cookie: this.cookie, origin: this.url, ...from, ...headers },
      redirect: 'manual',
      body: new URLSearchParams(form),
    });
    return this.#read(answer);
  }

  async #read(answer: Response) {
    for (const header of answer.headers.getSetCookie()) this.cookie = header.split(';')[0] ?? '';
    return { status: answer.status, html: await answer.text() };
  }
}

const inputs = (html: string, name: RegExp) =>
  [...html.matchAll(/<input[^>]*>/g)].flatMap(([input]) => {
    const named = /name="([^"]*)"/.exec(input)?.[1] ?? '';
    return name.test(named) ? [[named, /value="([^"]*)"/.exec(input)?.[1] ?? ''] as const] : [];
  });

async function entered(
  t: ExecutionContext,
  portal: ClockedPortal,
  email: string,
  count = 1,
): Promise<Browser> {
  const browser = new Browser(portal.client.url);
  t.true((await browser.post('/waiting', { email })).html.includes('one-time-code'));
  const { status } = await browser.post('/waiting', { email, code: await codeTo(portal, email, count) });
  t.is(status, 302);
  return browser;
}

test.serial('the page does the same without scripts: address, code, list, act, leaving', async (t) => {
  const portal = t.context;
  const ana = newPerson();
  const ids = [
    await portal.client.create([{ user: ana, ...SIGNS }]),
    await clientOf(portal, 'Other').create([{ user: ana, ...SIGNS, signatureInitialsMode: 'Required' }]),
  ];
  const browser = new Browser(portal.client.url);
  t.regex((await browser.open('/waiting')).html, /name="email"/);
  t.is((await browser.post('/waiting', { email: 'nonsense' })).status, 422);
  t.is(browser.cookie, '', 'no cookie before the code');
  const inside = await entered(t, portal, ana.email);
  t.regex(inside.cookie, /^sealwright-waiting=/);
  const { html } = await inside.open('/waiting');
  t.is(inputs(html, /^sign-/).length, 1);
  t.notRegex(html, / checked/, 'nothing is selected beforehand');
  t.is((await inside.open('/waiting?all=yes')).html.match(/ checked/g)?.length, 1);
  t.regex(html, /You agree to the document\..*are recorded as evidence/s);
  t.regex(html, /Asks for your initials/);
  t.notRegex(html, /<script/);
  const token = inputs(html, /^token$/)[0]?.[1] ?? '';
  const form = { token, ...Object.fromEntries(inputs(html, /^sign-/)) };
  t.is((await inside.post('/waiting/sign', form)).status, 422, 'a name is needed');
  t.is((await inside.post('/waiting/sign', { token, name: 'Ana' })).status, 422, 'and a document');
  const signed = await inside.post('/waiting/sign', { ...form, name: 'Ana' });
  t.regex(signed.html, /One document is signed/);
  t.notRegex(signed.html, /value="Ana"/, 'no name is kept for the next act');
  t.regex(
    (await inside.post('/waiting/sign', { ...form, name: 'Ana' })).html,
    /One document is signed/,
    'sent twice',
  );
  await untilConcluded(portal.client, ids[0] ?? '');
  t.is((await typesOf(portal, ids[0] ?? '')).filter((type) => type === 'Signed').length, 1);
  const before = inside.cookie;
  t.is((await inside.post('/waiting/leave', { token })).status, 302);
  inside.cookie = before;
  t.regex((await inside.open('/waiting')).html, /The time of this page is over/);
});

test.serial('pages of other sites, other sessions and planted cookies sign nothing', async (t) => {
  const portal = t.context;
  const ana = newPerson();
  const eve = newPerson();
  const id = await portal.client.create([{ user: ana, ...SIGNS }]);
  await portal.client.create([{ user: eve, ...SIGNS }]);
  const browser = await entered(t, portal, ana.email);
  const evil = await entered(t, portal, eve.email);
  const { html } = await browser.open('/waiting');
  const choice = Object.fromEntries(inputs(html, /^sign-/));
  const token = inputs(html, /^token$/)[0]?.[1] ?? '';
  const theirs = inputs((await evil.open('/waiting')).html, /^token$/)[0]?.[1] ?? '';
  t.not(token, theirs);
  const form = { ...choice, name: 'Ana', token };
  for (const [body, headers] of [
    [form, { origin: 'https://evil.test' }],
    [form, { 'sec-fetch-site': 'cross-site' }],
    [form, { 'sec-fetch-site': 'same-site' }],
    [{ ...form, token: '' }, {}],
    [{ ...form, token: theirs }, {}],
  ] as const)
    t.is((await browser.post('/waiting/sign', body, headers)).status, 403, JSON.stringify([body, headers]));
  t.is((await browser.post('/waiting', { email: ana.email }, { origin: 'https://evil.test' })).status, 403);
  t.regex((await evil.post('/waiting/sign', { ...form, token: theirs })).html, /One document was not signed/);
  t.false((await typesOf(portal, id)).includes('Signed'));
  // Session fixation: a cookie that was planted is no session, and the code begins another one.
  const planted = new Browser(portal.client.url);
  planted.cookie = evil.cookie;
  portal.forward(MINUTE + 1);
  await planted.post('/waiting', { email: ana.email });
  await planted.post('/waiting', { email: ana.email, code: await codeTo(portal, ana.email, 2) });
  t.not(planted.cookie, evil.cookie);
  t.regex(
    (await evil.open('/waiting')).html,
    /The time of this page is over/,
    'the one that was planted ended',
  );
});

test.serial('lists have bounds: pages of fifty, and no more acts in a call', async (t) => {
  const portal = t.context;
  const ana = newPerson();
  const { client } = portal;
  const { id, name, contentType } = await client.upload();
  const files = Array.from({ length: 26 }, () => ({ id, displayName: 'Many', name, contentType }));
  for (let count = 0; count < 2; count += 1)
    await client.post('/api/documents', { files, flowActions: [{ user: ana, ...SIGNS }] });
  const ticket = await enter(portal, ana.email);
  const first = await list(portal, ticket);
  const second = await list(portal, ticket, first.nextCursor);
  t.deepEqual([first.items.length, second.items.length, second.nextCursor], [50, 2, null]);
  t.is(new Set([...first.items, ...second.items].map(({ documentId }) => documentId)).size, 52);
  t.is(
    await refusalOf(call(portal, 'signatures', { ticket, documents: [...first.items, ...second.items] })),
    'LimitExceeded',
  );
  t.is(await refusalOf(call(portal, 'documents', { ticket, cursor: 'x' })), 'BadRequest');
  const browser = await (async () => {
    portal.forward(MINUTE + 1);
    return entered(t, portal, ana.email, 2);
  })();
  t.is(inputs((await browser.open('/waiting')).html, /^sign-/).length, 50);
  t.is(inputs((await browser.open(`/waiting?after=${first.nextCursor}`)).html, /^sign-/).length, 2);
});

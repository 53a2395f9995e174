import type { IncomingHttpHeaders } from 'node:http';
import test from 'ava';
import { bootstrapTenants } from '../../../../actors/portal/tenants-bootstrap.ts';
import { payloadOf } from '../../../../actors/portal/webhooks/webhook-payloads.ts';
import {
  parseWebhookSecret,
  signatureHeaders,
} from '../../../../actors/shared/webhooks/webhook-signature.ts';
import type { WebhookInput } from '../../../../contracts/portal/webhooks/webhooks.ts';
import type { OrganizationId, WebhookId } from '../../../../machines/ids.ts';
import type { DocumentEvent } from '../../../../machines/portal/portal-types.ts';
import { ACTION_1, DOCUMENT_1, ORGANIZATION_1, summary, USER_1 } from '../mailbox.ts';
import { stubDocument } from '../stub-document.ts';
import { ok, startReceiver, status } from './receiver.ts';
import { documentId, event, flow, startWebhookSystem, TENANT_1 } from './webhook-harness.ts';

const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const OTHER = {
  ...TENANT_1,
  organization: { id: '99999999-9999-4999-8999-999999999999' as OrganizationId, name: 'Other' },
};

test('an organization has up to five webhooks, each delivered separately', async (t) => {
  const receivers = await Promise.all(Array.from({ length: 5 }, () => startReceiver(t)));
  const webhookSystem = await startWebhookSystem(t);
  for (const { url } of receivers) await webhookSystem.webhooks.create(TENANT_1, { url, authType: 'NoAuth' });
  await t.throwsAsync(
    webhookSystem.webhooks.create(TENANT_1, { url: receivers[0]?.url ?? '', authType: 'NoAuth' }),
    {
      code: 'MaxWebhooksLimitReached',
    },
  );
  t.is((await webhookSystem.webhooks.list(TENANT_1)).length, 5);
  await webhookSystem.announce(DOCUMENT_1, ...flow(DOCUMENT_1, 2));
  await webhookSystem.until(() => receivers.every(({ calls }) => calls.length === 2));
  const ids = new Set(receivers.flatMap(({ calls }) => calls.map(({ headers }) => headers['webhook-id'])));
  t.is(ids.size, 10);
  const bodies = new Set(receivers.flatMap(({ calls }) => calls.map(({ body }) => body)));
  t.is(bodies.size, 1, 'the same event is the same body for all of them');
});

test('events of an organization without a webhook are not stored, and a new webhook receives later ones', async (t) => {
  const receiver = await startReceiver(t);
  const webhookSystem = await startWebhookSystem(t);
  const effects = [];
  // The first event finds out that there is no webhook.
  await webhookSystem.announce(DOCUMENT_1, event('DocumentSigned', 1));
  for (const sequence of [2, 3]) {
    const effect = { do: 'announce', events: [event('DocumentSigned', sequence)] };
    await webhookSystem.runtime.send(stubDocument, DOCUMENT_1, { type: 'ASK', effect });
    effects.push(...(await webhookSystem.store.pendingEffects({ kind: 'document', id: DOCUMENT_1 })));
  }
  t.deepEqual(effects, []);
  const { id } = await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  await webhookSystem.announce(DOCUMENT_1, event('DocumentSigned', 4));
  await webhookSystem.until(() => receiver.calls.length === 1);
  await webhookSystem.webhooks.remove(TENANT_1, id);
  await webhookSystem.announce(DOCUMENT_1, event('DocumentSigned', 5));
  await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  await webhookSystem.announce(DOCUMENT_1, event('DocumentSigned', 6));
  await webhookSystem.until(() => receiver.calls.length === 2);
  t.is(receiver.calls.length, 2);
});

test('a webhook whose creation failed after it was stored receives events', async (t) => {
  const receiver = await startReceiver(t);
  const webhookSystem = await startWebhookSystem(t);
  const input = { url: receiver.url, authType: 'NoAuth' } as const;
  const { id } = await webhookSystem.webhooks.create(TENANT_1, input);
  await webhookSystem.webhooks.remove(TENANT_1, id);
  t.true(webhookSystem.registry.hasNone(ORGANIZATION_1));
  webhookSystem.faults.arm('step.committed.before-reply/webhook-set', 'throw');
  await t.throwsAsync(webhookSystem.webhooks.create(TENANT_1, input), { code: 'fault.injected' });
  if (!t.false(webhookSystem.registry.hasNone(ORGANIZATION_1))) return;
  if (!t.false(webhookSystem.registry.hasNone(ORGANIZATION_1))) return;
  await webhookSystem.announce(DOCUMENT_1, event('DocumentSigned', 1));
  await webhookSystem.until(() => receiver.calls.length === 1);
  t.is((await webhookSystem.webhooks.list(TENANT_1)).length, 1);
});

test('a webhook shows its types of events in the order in which they were given', async (t) => {
  const webhookSystem = await startWebhookSystem(t);
  const events = ['DocumentOpened', 'DocumentSigned'] as const;
  const input = { url: 'https://x.test', authType: 'NoAuth', events } as const;
  t.deepEqual((await webhookSystem.webhooks.create(TENANT_1, input)).events, [...events]);
});

test('a webhook with invalid fields is refused', async (t) => {
  const webhookSystem = await startWebhookSystem(t);
  const bad: readonly WebhookInput[] = [
    { url: 'not a url', authType: 'NoAuth' },
    { url: 'https://x.test', authType: 'Bearer' },
    { url: 'https://x.test', authType: 'Basic', token: '' },
    { url: 'https://x.test', authType: 'ApiKey', token: 'a\r\nX-Evil: 1' },
    { url: 'https://x.test', authType: 'ApiKey', token: 'ä' },
    { url: 'https://x.test', authType: 'ApiKey', token: ' a' },
    { url: 'https://x.test', authType: 'ApiKey', token: 'x'.repeat(5000) },
    { url: 'https://x.test', authType: 'NoAuth', secret: 'whsec_short' },
    { url: 'https://x.test', authType: 'NoAuth', secret: Buffer.alloc(32).toString('base64') },
  ];
  for (const input of bad) {
    const refusal = await t.throwsAsync(webhookSystem.webhooks.create(TENANT_1, input));
    t.like(refusal, { code: 'BadRequest' }, JSON.stringify(input));
  }
  t.is(parseWebhookSecret(SECRET)?.length, 24);
  t.is(parseWebhookSecret(`whsec_${Buffer.alloc(65).toString('base64')}`), undefined);
});

test('tokens and secrets of webhooks are neither shown nor stored in clear', async (t) => {
  const webhookSystem = await startWebhookSystem(t);
  const input = {
    url: 'https://x.test',
    authType: 'Bearer',
    token: 'very-secret-token',
    secret: SECRET,
  } as const;
  const made = await webhookSystem.webhooks.create(TENANT_1, input);
  t.deepEqual(Object.keys(made).sort(), [
    'authType',
    'disabledReason',
    'events',
    'id',
    'isDisabled',
    'isSigned',
    'url',
  ]);
  t.true(made.isSigned);
  const stored = JSON.stringify(await webhookSystem.store.load({ kind: 'webhook-set', id: ORGANIZATION_1 }));
  t.false(stored.includes('very-secret-token') || stored.includes(SECRET.slice(6)));
  t.like(await webhookSystem.registry.open(ORGANIZATION_1, made.id), {
    token: 'very-secret-token',
    secret: SECRET,
  });
});

test('a replaced secret signs beside the new one for a day, and none signs once calls are unsigned', async (t) => {
  const receiver = await startReceiver(t);
  const webhookSystem = await startWebhookSystem(t);
  const { registry, webhooks } = webhookSystem;
  const input: WebhookInput = { url: receiver.url, authType: 'NoAuth' };
  const secret = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;
  const { id } = await webhooks.create(TENANT_1, { ...input, secret: SECRET });
  const previous = async () => (await registry.open(ORGANIZATION_1, id))?.previousSecret;
  await webhooks.replace(TENANT_1, id, { ...input, secret: SECRET });
  t.is(await previous(), undefined, 'the same secret again');
  await webhooks.replace(TENANT_1, id, { ...input, secret });
  await webhookSystem.announce(DOCUMENT_1, ...flow(DOCUMENT_1, 1));
  await webhookSystem.until(() => receiver.calls.length === 1);
  const { headers = {} as IncomingHttpHeaders, body = '' } = receiver.calls[0] ?? {};
  const at = Number(headers['webhook-timestamp']) * 1000;
  const keys = [secret, SECRET].map((one) => parseWebhookSecret(one) ?? Buffer.alloc(0));
  const both = signatureHeaders(keys, String(headers['webhook-id']), body, at)['webhook-signature'];
  t.is(headers['webhook-signature'], both);
  await webhooks.replace(TENANT_1, id, { ...input, secret });
  t.is(await previous(), SECRET, 'another change leaves it');
  webhookSystem.clock.advance(24 * 60 * 60 * 1000);
  t.is(await previous(), undefined, 'a day later');
  await webhooks.replace(TENANT_1, id, { ...input, secret: SECRET });
  await webhooks.replace(TENANT_1, id, input);
  t.like(await registry.open(ORGANIZATION_1, id), { secret: null, previousSecret: undefined });
});

test('a webhook of another organization is unknown, and so are its deliveries', async (t) => {
  const receiver = await startReceiver(t);
  const webhookSystem = await startWebhookSystem(t);
  const made = await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  await webhookSystem.announce(DOCUMENT_1, ...flow(DOCUMENT_1, 1));
  await webhookSystem.until(() => receiver.calls.length === 1);
  const { items } = await webhookSystem.webhooks.deliveries(TENANT_1, { limit: 9, offset: 0 });
  const id = items[0]?.id ?? '';
  t.deepEqual(await webhookSystem.webhooks.list(OTHER), []);
  t.is(
    (await webhookSystem.webhooks.deliveries(OTHER, { webhookId: made.id, limit: 9, offset: 0 })).totalCount,
    0,
  );
  await t.throwsAsync(
    webhookSystem.webhooks.replace(OTHER, made.id, { url: receiver.url, authType: 'NoAuth' }),
    {
      code: 'WebhookNotFound',
    },
  );
  await t.throwsAsync(webhookSystem.webhooks.remove(OTHER, made.id), { code: 'WebhookNotFound' });
  await t.throwsAsync(webhookSystem.webhooks.test(OTHER, made.id), { code: 'WebhookNotFound' });
  await t.throwsAsync(webhookSystem.webhooks.resend(OTHER, id), { code: 'DeliveryNotFound' });
  t.is(
    (await webhookSystem.webhooks.replay(OTHER, { from: 0, to: Number.MAX_SAFE_INTEGER, failedOnly: false }))
      .count,
    0,
  );
  for (const wrong of ['', 'x', `${id}9`, id.replace('1', '2'), `${made.id}/${DOCUMENT_1}`])
    await t.throwsAsync(webhookSystem.webhooks.resend(TENANT_1, wrong), { code: 'DeliveryNotFound' }, wrong);
});

test('the webhook of the settings is added once, changed and removed with them', async (t) => {
  const webhookSystem = await startWebhookSystem(t);
  const input: WebhookInput = { url: 'https://x.test/a', authType: 'ApiKey', token: 'one', secret: SECRET };
  await webhookSystem.registry.configure(ORGANIZATION_1, undefined);
  t.is(await webhookSystem.store.load({ kind: 'webhook-set', id: ORGANIZATION_1 }), undefined);
  await webhookSystem.registry.configure(ORGANIZATION_1, input);
  const [first] = await webhookSystem.webhooks.list(TENANT_1);
  const revision = async () =>
    (await webhookSystem.store.load({ kind: 'webhook-set', id: ORGANIZATION_1 }))?.revision;
  const before = await revision();
  await webhookSystem.registry.configure(ORGANIZATION_1, input);
  t.is(await revision(), before, 'a start with the same settings changes nothing');
  await webhookSystem.registry.configure(ORGANIZATION_1, { ...input, token: 'two' });
  t.like(await webhookSystem.registry.open(ORGANIZATION_1, first?.id as WebhookId), { token: 'two' });
  await webhookSystem.registry.configure(ORGANIZATION_1, undefined);
  t.deepEqual(await webhookSystem.webhooks.list(TENANT_1), []);
});

test('the webhook of an organization that was removed from the settings is no longer called, and those registered by API are', async (t) => {
  const webhookSystem = await startWebhookSystem(t);
  await webhookSystem.registry.configure(ORGANIZATION_1, { url: 'https://x.test/a', authType: 'NoAuth' });
  const kept = await webhookSystem.webhooks.create(TENANT_1, { url: 'https://x.test/b', authType: 'NoAuth' });
  await bootstrapTenants({} as never, { organizations: [], applications: [] }, webhookSystem.registry);
  t.deepEqual(await webhookSystem.webhooks.list(TENANT_1), [kept]);
  t.deepEqual(await webhookSystem.registry.configured(), []);
});

test('the record of deliveries is filtered and paged with exact totals, newest first', async (t) => {
  const good = await startReceiver(t);
  const bad = await startReceiver(t, status(500));
  const webhookSystem = await startWebhookSystem(t);
  const yes = await webhookSystem.webhooks.create(TENANT_1, { url: good.url, authType: 'NoAuth' });
  const no = await webhookSystem.webhooks.create(TENANT_1, { url: bad.url, authType: 'NoAuth' });
  for (let n = 0; n < 7; n++) {
    const document = summary({ id: documentId(n) as typeof DOCUMENT_1 });
    await webhookSystem.announce(documentId(n), event('DocumentSigned', 1, { document, at: 1000 + n }));
  }
  await webhookSystem.until(() => good.calls.length === 7 && bad.calls.length === 7);
  const total = async (query: object) =>
    (await webhookSystem.webhooks.deliveries(TENANT_1, { limit: 3, offset: 0, ...query })).totalCount;
  await webhookSystem.until(async () => (await total({ status: 'Delivered' })) === 7);
  t.is(await total({}), 14);
  t.is(await total({ webhookId: yes.id }), 7);
  t.is(await total({ webhookId: no.id, status: 'Pending' }), 7);
  t.is(await total({ webhookId: no.id, status: 'Delivered' }), 0);
  const pages = await Promise.all(
    [0, 1, 2, 3].map((offset) =>
      webhookSystem.webhooks.deliveries(TENANT_1, { webhookId: yes.id, limit: 3, offset }),
    ),
  );
  const seen = pages.flatMap(({ items }) => items.map(({ creationDate }) => creationDate));
  t.deepEqual(seen, [1006, 1005, 1004, 1003, 1002, 1001, 1000]);
  t.like(pages[0]?.items[0], { type: 'DocumentSigned', sequence: 1, status: 'Delivered', nextTryDate: null });
  // Calls of different documents have no order.
  t.is(pages[0]?.items[0]?.body, good.calls.find(({ body }) => body.includes(documentId(6)))?.body);
});

test('a delivery is sent again with its id and body, singly and by range of time', async (t) => {
  const receiver = await startReceiver(t);
  const webhookSystem = await startWebhookSystem(t);
  await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  for (let n = 0; n < 4; n++) {
    const document = summary({ id: documentId(n) as typeof DOCUMENT_1 });
    await webhookSystem.announce(
      documentId(n),
      event('DocumentSigned', 1, { document, at: 1000 * n }),
      event('DocumentConcluded', 2, { document, at: 1000 * n + 1 }),
    );
  }
  const idle = () =>
    webhookSystem.until(async () => {
      const { totalCount } = await webhookSystem.webhooks.deliveries(TENANT_1, {
        status: 'Pending',
        limit: 1,
        offset: 0,
      });
      return totalCount === 0 && webhookSystem.runtime.stats().effectsInFlight === 0;
    });
  await webhookSystem.until(() => receiver.calls.length === 8);
  await idle();
  const [newest] = (await webhookSystem.webhooks.deliveries(TENANT_1, { limit: 1, offset: 0 })).items;
  receiver.calls.length = 0;
  await webhookSystem.webhooks.resend(TENANT_1, newest?.id ?? '');
  await webhookSystem.until(() => receiver.calls.length === 1);
  await idle();
  t.like(receiver.calls[0], { body: newest?.body });
  t.is(receiver.calls[0]?.headers['webhook-id'], newest?.id);
  receiver.calls.length = 0;
  t.is((await webhookSystem.webhooks.replay(TENANT_1, { from: 1000, to: 2001, failedOnly: true })).count, 0);
  t.is((await webhookSystem.webhooks.replay(TENANT_1, { from: 1000, to: 2001, failedOnly: false })).count, 4);
  await webhookSystem.until(() => receiver.calls.length === 4);
  await idle();
  for (const n of [1, 2]) {
    const own = receiver.calls.filter(({ body }) => body.includes(documentId(n)));
    t.deepEqual(
      own.map(({ headers }) => headers['webhook-sequence']),
      ['1', '2'],
      'each document in order',
    );
  }
});

test('a replay finds the failed deliveries by their status and sends them again', async (t) => {
  const receiver = await startReceiver(t, status(500));
  const webhookSystem = await startWebhookSystem(t);
  await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  await webhookSystem.announce(DOCUMENT_1, ...flow(DOCUMENT_1, 1));
  const count = async (status: 'Failed' | 'Delivered') =>
    (await webhookSystem.webhooks.deliveries(TENANT_1, { status, limit: 1, offset: 0 })).totalCount;
  await webhookSystem.until(async () => {
    webhookSystem.clock.advance(60_000);
    return (await count('Failed')) === 1;
  });
  t.is(receiver.calls.length, 10);
  t.is(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size, 1);
  receiver.answer = ok;
  t.is(
    (
      await webhookSystem.webhooks.replay(TENANT_1, {
        from: 0,
        to: webhookSystem.clock.now(),
        failedOnly: true,
      })
    ).count,
    1,
  );
  await webhookSystem.until(async () => (await count('Delivered')) === 1);
  t.is(receiver.calls.length, 11);
});

const PLACES = {
  publicUrl: () => 'https://portal.example.test',
  organization: async () => ({ name: 'Acme', identifier: 'A-1' }),
  folder: async () => ({ name: 'Contracts', parentId: null }),
};
const body = async (one: DocumentEvent) => JSON.parse(await payloadOf(one, PLACES));

test('the body of each event conforms to its schema', async (t) => {
  const by = {
    flowActionId: ACTION_1,
    userId: USER_1,
    name: 'Ana',
    identifier: '1',
    emailAddress: 'a@b.test',
  };
  const at = Date.UTC(2026, 0, 4, 5, 6, 7, 8);
  const common = {
    id: DOCUMENT_1,
    name: 'Contract',
    creationDate: '2026-01-02T00:00:00.000Z',
    updateDate: '2026-01-03T00:00:00.000Z',
    folder: null,
    organization: { id: ORGANIZATION_1, name: 'Acme', identifier: 'A-1', owner: null },
    createdBy: { id: '22222222-2222-4222-8222-222222222222', name: 'Sales' },
    link: `https://portal.example.test/account/documents/${DOCUMENT_1}`,
  };
  const turn = { ...by, date: '2026-01-04T05:06:07.008Z' };
  t.deepEqual(await body(event('DocumentSigned', 1, { at, by })), {
    type: 'DocumentSigned',
    data: { ...common, signature: turn },
  });
  t.deepEqual((await body(event('DocumentApproved', 1, { at, by }))).data.approval, turn);
  t.deepEqual(
    (await body(event('DocumentRefused', 1, { at, by: { ...by, flowActionId: null }, reason: 'No' }))).data
      .refusal,
    { ...turn, flowActionId: null, reason: 'No' },
  );
  const concluded = event('DocumentConcluded', 1);
  t.deepEqual(await body(concluded), { type: 'DocumentConcluded', data: common });
  const ordered = { ...concluded, document: { ...concluded.document, externalId: 'order-4711' } };
  t.deepEqual((await body(ordered)).data, { ...common, externalId: 'order-4711' });
  const tags = [{ id: USER_1, label: 'department', value: 'lease' }];
  const tagged = { ...concluded, document: { ...concluded.document, tags } };
  t.deepEqual((await body(tagged)).data, { ...common, tags }, 'receivers sort documents by them');
  const canceledBy = { id: USER_1, type: 'User', name: 'Ana' } as const;
  t.deepEqual((await body(event('DocumentCanceled', 1, { canceledBy, reason: 'No' }))).data, {
    ...common,
    canceledBy,
    reason: 'No',
  });
  const expired = await body(event('DocumentExpired', 1, { expirationDate: at }));
  t.like(expired.data, {
    expirationDate: '2026-01-04T05:06:07.008Z',
    expirationDateWithoutTime: '2026-01-04',
  });
  t.deepEqual((await body(event('DocumentsCreated', 1))).data, { documents: [common] });
  const several = [summary(), summary({ name: 'Second', folderId: documentId(9) })];
  const created = await body(event('DocumentsCreated', 1, { documents: several }));
  t.deepEqual(
    created.data.documents.map(({ name }: { name: string }) => name),
    ['Contract', 'Second'],
  );
  t.deepEqual(created.data.documents[1].folder, {
    id: documentId(9),
    name: 'Contracts',
    parentId: null,
    organizationName: 'Acme',
  });
  t.deepEqual((await body(event('DocumentDeleted', 1, { action: 'DeletedByFolder' }))).data, {
    action: 'DeletedByFolder',
    documents: [common],
  });
});

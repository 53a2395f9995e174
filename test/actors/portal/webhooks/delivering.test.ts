import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { Webhook } from 'standardwebhooks';
import type { WebhookId } from '../../../../machines/ids.ts';
import { folderFor } from '../../../runtime/folder.ts';
import { DOCUMENT_1 } from '../mailbox.ts';
import { stubDocument } from '../stub-document.ts';
import { never, ok, startReceiver, status } from './receiver.ts';
import { documentId, event, flow, startWebhookSystem, TENANT_1 } from './webhook-harness.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

function sequences(calls: readonly { readonly headers: { readonly [name: string]: unknown } }[]): number[] {
  return calls.map(({ headers }) => Number(headers['webhook-sequence']));
}

test('the token of a webhook is sent exactly as registered, in the header of its kind', async (t) => {
  for (const [authType, token, name, value] of [
    ['NoAuth', undefined, 'authorization', undefined],
    ['Basic', 'dXNlcjpwYXNz', 'authorization', 'Basic dXNlcjpwYXNz'],
    ['Bearer', 'a.b-c_d=', 'authorization', 'Bearer a.b-c_d='],
    ['ApiKey', 'app name|secret', 'x-api-key', 'app name|secret'],
  ] as const) {
    const receiver = await startReceiver(t);
    const webhookSystem = await startWebhookSystem(t);
    await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType, token });
    await webhookSystem.announce(DOCUMENT_1, event('DocumentConcluded', 1));
    await webhookSystem.until(() => receiver.calls.length === 1);
    const [call] = receiver.calls;
    t.is(call?.headers[name], value, authType);
    t.is(call?.method, 'POST');
    t.is(call?.path, '/hook');
    t.is(call?.headers['content-type'], 'application/json; charset=utf-8');
    t.is(call?.headers['webhook-signature'], undefined);
  }
});

test('a view of a delivery queue shows the document, and masks the secret parts of the URL', async (t) => {
  const receiver = await startReceiver(t, status(500));
  const webhookSystem = await startWebhookSystem(t);
  const { id } = await webhookSystem.webhooks.create(TENANT_1, {
    url: `${receiver.url}?code=hush`,
    authType: 'NoAuth',
  });
  await webhookSystem.announce(DOCUMENT_1, event('DocumentConcluded', 1));
  const queue = { kind: 'webhook-lane', id: `${id}/${DOCUMENT_1}` };
  const look = () => webhookSystem.runtime.inspector.actor(queue);
  await webhookSystem.until(async () => JSON.stringify((await look())?.context).includes('"attempts":[{'));
  const shown = await look();
  t.deepEqual(shown?.parent, { kind: 'document', id: DOCUMENT_1 });
  t.true(JSON.stringify(shown).includes(`${receiver.url}?(hidden)`));
  t.false(JSON.stringify(shown).includes('hush'));
});

test('with a secret every attempt has a signature that the verifier of Standard Webhooks accepts, retries included', async (t) => {
  const receiver = await startReceiver(t, status(500));
  const now = Date.now();
  const webhookSystem = await startWebhookSystem(t, { time: new SimulatedClock(now) });
  await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth', secret: SECRET });
  await webhookSystem.announce(DOCUMENT_1, event('DocumentSigned', 1, { at: now }));
  await webhookSystem.until(() => receiver.calls.length === 1);
  receiver.answer = ok;
  await webhookSystem.until(() => {
    webhookSystem.clock.advance(1000);
    return receiver.calls.length === 2;
  });
  const [first, second] = receiver.calls;
  const verifier = new Webhook(SECRET);
  for (const call of receiver.calls) {
    const headers = Object.fromEntries(
      Object.entries(call.headers).map(([name, value]) => [name, String(value)]),
    );
    t.deepEqual(verifier.verify(call.body, headers), JSON.parse(call.body));
    t.throws(() => verifier.verify(`${call.body} `, headers));
  }
  t.is(first?.headers['webhook-id'], second?.headers['webhook-id']);
  t.is(first?.body, second?.body);
  t.not(first?.headers['webhook-timestamp'], second?.headers['webhook-timestamp'], 'fresh at each attempt');
});

test('events of one document arrive one at a time and in order, despite failures in between', async (t) => {
  let busy = 0;
  let most = 0;
  const receiver = await startReceiver(t, (_, response) => {
    most = Math.max(most, ++busy);
    setImmediate(() => {
      busy -= 1;
      response.writeHead(receiver.calls.length % 3 === 0 ? 503 : 200).end();
    });
  });
  const webhookSystem = await startWebhookSystem(t);
  await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  await webhookSystem.announce(DOCUMENT_1, ...flow(DOCUMENT_1, 12));
  await webhookSystem.until(async () => {
    webhookSystem.clock.advance(5000);
    const { totalCount } = await webhookSystem.webhooks.deliveries(TENANT_1, {
      status: 'Delivered',
      limit: 1,
      offset: 0,
    });
    return totalCount === 12;
  });
  t.is(most, 1);
  const seen = sequences(receiver.calls);
  t.deepEqual(
    [...new Set(seen)],
    Array.from({ length: 12 }, (_, n) => n + 1),
  );
  t.deepEqual(
    seen,
    [...seen].sort((a, b) => a - b),
  );
});

test('an announcement that fails and is repeated keeps its place before the next one', async (t) => {
  const receiver = await startReceiver(t);
  const webhookSystem = await startWebhookSystem(t);
  await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  let crashes = 0;
  // The first announcement is cut off before it has begun, and is tried again a second later.
  webhookSystem.faults.arm('effect.leased.before-run', () => {
    crashes += 1;
    throw new Error('cut off');
  });
  const address = { kind: 'document', id: DOCUMENT_1 };
  await webhookSystem.runtime.create(stubDocument, DOCUMENT_1);
  for (const one of flow(DOCUMENT_1, 3))
    await webhookSystem.runtime.send(stubDocument, DOCUMENT_1, {
      type: 'ASK',
      effect: { do: 'announce', events: [one] },
    });
  await webhookSystem.until(() => receiver.calls.length === 3);
  t.is(crashes, 1);
  t.deepEqual(sequences(receiver.calls), [1, 2, 3]);
  await webhookSystem.until(async () => {
    webhookSystem.clock.advance(1000);
    return (await webhookSystem.store.pendingEffects(address)).length === 0;
  });
  await webhookSystem.until(() => webhookSystem.runtime.stats().effectsInFlight === 0);
  t.is(receiver.calls.length, 3, 'none of them came twice');
});

test('a receiver that never answers delays no other', async (t) => {
  const dead = await startReceiver(t, never);
  const alive = await startReceiver(t);
  // One slot for all other work, and documents enough to fill every slot of a shared pool.
  const webhookSystem = await startWebhookSystem(t, { timeout: 60_000, effectsInFlight: 1 });
  const gone = await webhookSystem.webhooks.create(TENANT_1, { url: dead.url, authType: 'NoAuth' });
  const there = await webhookSystem.webhooks.create(TENANT_1, { url: alive.url, authType: 'NoAuth' });
  for (let n = 0; n < 100; n++) await webhookSystem.announce(documentId(n), ...flow(documentId(n), 1));
  const count = async (webhookId: WebhookId, status: 'Pending' | 'Delivered') =>
    (await webhookSystem.webhooks.deliveries(TENANT_1, { webhookId, status, limit: 1, offset: 0 }))
      .totalCount;
  await webhookSystem.until(async () => (await count(there.id, 'Delivered')) === 100);
  t.is(await count(gone.id, 'Pending'), 100);
  t.is(dead.calls.length, 8, 'no more than its share at once');
});

test('a receiver that never answers times out, and is tried again later', async (t) => {
  const dead = await startReceiver(t, never);
  // While other tests of this file keep the thread busy, a shorter limit is over before the call arrives.
  const webhookSystem = await startWebhookSystem(t, { timeout: 3000 });
  await webhookSystem.webhooks.create(TENANT_1, { url: dead.url, authType: 'NoAuth' });
  await webhookSystem.announce(DOCUMENT_1, ...flow(DOCUMENT_1, 1));
  const newest = async () =>
    (await webhookSystem.webhooks.deliveries(TENANT_1, { limit: 1, offset: 0 })).items[0];
  await webhookSystem.until(async () => (await newest())?.attempts.length === 1);
  const delivery = await newest();
  t.like(delivery, { status: 'Pending' });
  t.is(delivery?.attempts[0]?.error, 'webhook.timeout: No answer within 3000 milliseconds.');
  dead.answer = ok;
  await webhookSystem.until(() => {
    webhookSystem.clock.advance(1000);
    return dead.calls.length >= 2;
  });
});

test('a 410 disables the webhook, and nothing more is sent to it', async (t) => {
  const receiver = await startReceiver(t, status(410));
  const webhookSystem = await startWebhookSystem(t);
  const hook = await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  await webhookSystem.announce(DOCUMENT_1, ...flow(DOCUMENT_1, 3));
  await webhookSystem.until(
    async () => (await webhookSystem.webhooks.list(TENANT_1))[0]?.isDisabled === true,
  );
  t.regex((await webhookSystem.webhooks.list(TENANT_1))[0]?.disabledReason ?? '', /410|gone/i);
  await webhookSystem.until(() => webhookSystem.runtime.stats().effectsInFlight === 0);
  await webhookSystem.announce(documentId(2), ...flow(documentId(2), 1));
  await webhookSystem.until(() => webhookSystem.runtime.stats().effectsInFlight === 0);
  t.is(receiver.calls.length, 1);
  receiver.answer = ok;
  await webhookSystem.webhooks.replace(TENANT_1, hook.id, { url: receiver.url, authType: 'NoAuth' });
  t.like((await webhookSystem.webhooks.list(TENANT_1))[0], { isDisabled: false, disabledReason: null });
  await webhookSystem.announce(documentId(3), ...flow(documentId(3), 1));
  await webhookSystem.until(() => receiver.calls.length === 2);
});

test('a requested pause of a receiver is kept', async (t) => {
  const receiver = await startReceiver(t, status(429, { 'retry-after': '120' }));
  const webhookSystem = await startWebhookSystem(t);
  await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  await webhookSystem.announce(DOCUMENT_1, ...flow(DOCUMENT_1, 1));
  const newest = async () =>
    (await webhookSystem.webhooks.deliveries(TENANT_1, { limit: 1, offset: 0 })).items[0];
  await webhookSystem.until(async () => (await newest())?.attempts.length === 1);
  const delivery = await newest();
  // Time that the test lets pass during the attempt counts as well.
  const pause = (delivery?.nextTryDate ?? 0) - (delivery?.attempts[0]?.date ?? 0);
  t.true(pause >= 120_000 && pause < 121_000, String(pause));
  t.like(delivery?.attempts[0], { status: 429, response: 'answer 429' });
});

test('redirects are not followed, and answers are read up to the stored length', async (t) => {
  const other = await startReceiver(t);
  const receiver = await startReceiver(t, status(302, { location: other.url }));
  const webhookSystem = await startWebhookSystem(t);
  const hook = await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  const moved = await webhookSystem.webhooks.test(TENANT_1, hook.id);
  t.like(moved, { status: 'Failed', type: 'Test', documentId: null, nextTryDate: null });
  t.is(receiver.calls[0]?.headers['webhook-sequence'], '0');
  t.is(moved.attempts[0]?.status, 302);
  t.deepEqual(other.calls, []);
  let written = 0;
  receiver.answer = (_, response) => {
    response.writeHead(200);
    const more = (): void => {
      if (response.destroyed || written > 64_000_000) return;
      written += 64 * 1024;
      response.write(Buffer.alloc(64 * 1024, 'x')) ? setImmediate(more) : response.once('drain', more);
    };
    more();
  };
  const endless = await webhookSystem.webhooks.test(TENANT_1, hook.id);
  t.is(endless.status, 'Delivered');
  t.is(endless.attempts[0]?.response?.length, 1000);
  t.true(written < 64_000_000);
});

test('an answer that switches to another protocol is a failed attempt', async (t) => {
  const receiver = await startReceiver(t, (_, response) => {
    response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
  });
  const webhookSystem = await startWebhookSystem(t);
  const hook = await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  const result = await webhookSystem.webhooks.test(TENANT_1, hook.id);
  t.like(result, { status: 'Failed' });
  t.like(result.attempts[0], { status: null, response: null });
  t.regex(result.attempts[0]?.error ?? '', /^webhook\.unreachable: .* ended without an answer\.$/);
});

test('an interrupted answer counts by its status', async (t) => {
  const receiver = await startReceiver(t, (_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half');
  });
  const webhookSystem = await startWebhookSystem(t, { timeout: 6000 });
  const hook = await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  const result = await webhookSystem.webhooks.test(TENANT_1, hook.id);
  t.like(result, { status: 'Delivered' });
  t.is(result.attempts[0]?.response, 'half');
});

test('the event of a conclusion is sent after the configured delay', async (t) => {
  const receiver = await startReceiver(t);
  const at = Date.UTC(2026, 0, 4);
  const webhookSystem = await startWebhookSystem(t, { concludedDelay: 60_000, time: new SimulatedClock(at) });
  await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  await webhookSystem.announce(DOCUMENT_1, event('DocumentSigned', 1), event('DocumentConcluded', 2));
  await webhookSystem.until(() => receiver.calls.length === 1);
  await webhookSystem.until(() => webhookSystem.runtime.stats().effectsInFlight === 0);
  const { items } = await webhookSystem.webhooks.deliveries(TENANT_1, {
    status: 'Pending',
    limit: 9,
    offset: 0,
  });
  t.deepEqual(
    items.map(({ type, nextTryDate }) => [type, nextTryDate]),
    [['DocumentConcluded', at + 60_000]],
  );
  await webhookSystem.until(() => {
    webhookSystem.clock.advance(1000);
    return receiver.calls.length === 2;
  });
  t.true(webhookSystem.clock.now() >= at + 60_000);
});

test('an event stored before the process ends is delivered by the next one, with the same id and body', async (t) => {
  const folder = folderFor(t);
  const receiver = await startReceiver(t, status(503));
  const store = openLmdbStore({ folder });
  const before = await startWebhookSystem(t, { store });
  await before.webhooks.create(TENANT_1, {
    url: receiver.url,
    authType: 'Bearer',
    token: 'abc',
    secret: SECRET,
  });
  await before.announce(DOCUMENT_1, ...flow(DOCUMENT_1, 3));
  await before.until(() => receiver.calls.length === 1);
  await before.until(() => before.runtime.stats().effectsInFlight === 0);
  await before.runtime.stop();
  await store.close();
  receiver.answer = ok;
  const again = openLmdbStore({ folder });
  t.teardown(() => again.close());
  const after = await startWebhookSystem(t, { store: again, time: before.clock, seed: 8 });
  await after.until(() => {
    after.clock.advance(1000);
    return receiver.calls.length === 4;
  });
  t.deepEqual(sequences(receiver.calls), [1, 1, 2, 3]);
  t.is(receiver.calls[0]?.headers['webhook-id'], receiver.calls[1]?.headers['webhook-id']);
  t.is(receiver.calls[0]?.body, receiver.calls[1]?.body);
  t.is(receiver.calls[3]?.headers['authorization'], 'Bearer abc');
});

test('a delivered event is removed after 30 days, with its rows and counters', async (t) => {
  const receiver = await startReceiver(t);
  const webhookSystem = await startWebhookSystem(t);
  await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  await webhookSystem.announce(DOCUMENT_1, ...flow(DOCUMENT_1, 2));
  const count = async () =>
    (await webhookSystem.webhooks.deliveries(TENANT_1, { limit: 1, offset: 0 })).totalCount;
  await webhookSystem.until(() => receiver.calls.length === 2);
  t.is(await count(), 2);
  const endedAt = webhookSystem.clock.now();
  await webhookSystem.until(async () => {
    webhookSystem.clock.advance(12 * 3_600_000);
    return (await count()) === 0;
  });
  t.true(webhookSystem.clock.now() - endedAt >= 30 * 24 * 3_600_000);
  t.deepEqual(await webhookSystem.store.rows({ view: 'deliveries', limit: 9 }), []);
  t.deepEqual(await webhookSystem.store.counters('deliveries/'), {});
});

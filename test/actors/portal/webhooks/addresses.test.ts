import { isPublicAddress } from '@sealwright/signatures/http';
import test from 'ava';
import { parseWebhookUrl } from '../../../../actors/portal/webhooks/webhooks.ts';
import { DOCUMENT_1 } from '../mailbox.ts';
import { startReceiver } from './receiver.ts';
import { flow, startWebhookSystem, TENANT_1 } from './webhook-harness.ts';

/** Notations of addresses that are not public. */
const CLOSED = [
  '127.0.0.1',
  '127.8.8.8',
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '100.100.100.200',
  '169.254.169.254',
  '168.63.129.16',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
];

test('a non-public address is refused for webhooks in any notation', (t) => {
  for (const address of CLOSED) t.false(isPublicAddress(address), address);
  for (const address of ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])
    t.true(isPublicAddress(address), address);
  for (const text of ['', 'localhost', '1.2.3', 'fe80::1%eth0']) t.false(isPublicAddress(text), text);
});

test('a private address is refused in a webhook URL in any notation', (t) => {
  const urls = [
    ...CLOSED.map((address) => `http://${address.includes(':') ? `[${address}]` : address}/`),
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://①②⑦.0.0.1/',
    'http://[::ffff:a9fe:a9fe]/',
  ];
  for (const url of urls) t.is(parseWebhookUrl(url, false), undefined, url);
  t.is(parseWebhookUrl('http://127.0.0.1:9/x', true)?.href, 'http://127.0.0.1:9/x');
  for (const url of ['https://x.test/hook?a=1', 'http://8.8.8.8/', 'https://[2606:4700::1111]/'])
    t.truthy(parseWebhookUrl(url, false), url);
  for (const url of [
    'ftp://x.test',
    'file:///etc/passwd',
    'javascript:1',
    'x.test',
    'https://a:b@x.test',
    '',
  ])
    t.is(parseWebhookUrl(url, true), undefined, url);
});

test('an organization cannot register a webhook to an internal address', async (t) => {
  const webhookSystem = await startWebhookSystem(t, { allowPrivate: false });
  for (const url of ['http://127.0.0.1/', 'http://169.254.169.254/latest/meta-data', 'http://[::1]/']) {
    await t.throwsAsync(webhookSystem.webhooks.create(TENANT_1, { url, authType: 'NoAuth' }), {
      code: 'WebhookUrlNotAllowed',
    });
  }
  t.deepEqual(await webhookSystem.webhooks.list(TENANT_1), []);
});

test('a name that resolves to a private address is not called, with a note in its record', async (t) => {
  const receiver = await startReceiver(t);
  const webhookSystem = await startWebhookSystem(t, {
    allowPrivate: false,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  const url = `http://inside.example:${receiver.port}/hook`;
  const hook = await webhookSystem.webhooks.create(TENANT_1, { url, authType: 'NoAuth' });
  await webhookSystem.announce(DOCUMENT_1, ...flow(DOCUMENT_1, 1));
  const newest = async () =>
    (await webhookSystem.webhooks.deliveries(TENANT_1, { limit: 1, offset: 0 })).items[0];
  await webhookSystem.until(async () => (await newest())?.attempts.length === 1);
  t.is(
    (await newest())?.attempts[0]?.error,
    'webhook.address: inside.example has no address that webhooks may be sent to.',
  );
  t.is((await webhookSystem.webhooks.test(TENANT_1, hook.id)).status, 'Failed');
  t.is(receiver.connections(), 0);
});

test('an operator’s webhook may be private, until a tenant replaces its URL', async (t) => {
  const receiver = await startReceiver(t);
  const webhookSystem = await startWebhookSystem(t, { allowPrivate: false });
  const organization = TENANT_1.organization.id;
  await webhookSystem.registry.configure(organization, { url: receiver.url, authType: 'NoAuth' });
  const [hook] = await webhookSystem.webhooks.list(TENANT_1);
  t.is((await webhookSystem.webhooks.test(TENANT_1, hook?.id as never)).status, 'Delivered');
  const url = `http://localhost:${receiver.port}/other`;
  await webhookSystem.webhooks.replace(TENANT_1, hook?.id as never, { url, authType: 'NoAuth' });
  const refused = await webhookSystem.webhooks.test(TENANT_1, hook?.id as never);
  t.is(refused.attempts[0]?.error, 'webhook.address: localhost has no address that webhooks may be sent to.');
  t.is(receiver.calls.length, 1);
  await webhookSystem.registry.configure(organization, { url: receiver.url, authType: 'NoAuth' });
  t.is((await webhookSystem.webhooks.test(TENANT_1, hook?.id as never)).status, 'Delivered');
});

test('a name is resolved once for a connection, which uses the validated address', async (t) => {
  const receiver = await startReceiver(t);
  let resolved = 0;
  const webhookSystem = await startWebhookSystem(t, {
    resolve: async () => {
      resolved += 1;
      // What a second look would find.
      return [{ address: resolved === 1 ? '127.0.0.1' : '192.0.2.1', family: 4 }];
    },
  });
  const url = `http://rebinding.example:${receiver.port}/hook`;
  const hook = await webhookSystem.webhooks.create(TENANT_1, { url, authType: 'NoAuth' });
  const result = await webhookSystem.webhooks.test(TENANT_1, hook.id);
  t.is(result.status, 'Delivered', result.attempts[0]?.error ?? '');
  t.is(resolved, 1);
  t.is(receiver.calls[0]?.headers.host, `rebinding.example:${receiver.port}`);
});

test('only the public addresses among those of a name are called', async (t) => {
  const receiver = await startReceiver(t);
  const webhookSystem = await startWebhookSystem(t, {
    allowPrivate: false,
    timeout: 300,
    resolve: async () => [
      { address: '127.0.0.1', family: 4 },
      // TEST-NET-1 is closed too; this one is public and never answers in a test.
      { address: '240.0.0.1', family: 4 },
    ],
  });
  const hook = await webhookSystem.webhooks.create(TENANT_1, {
    url: `http://mixed.example:${receiver.port}/hook`,
    authType: 'NoAuth',
  });
  t.is((await webhookSystem.webhooks.test(TENANT_1, hook.id)).status, 'Failed');
  t.is(receiver.connections(), 0);
});

test('an unreachable receiver fails the attempt, not the program', async (t) => {
  const receiver = await startReceiver(t);
  await receiver.close();
  const webhookSystem = await startWebhookSystem(t);
  const hook = await webhookSystem.webhooks.create(TENANT_1, { url: receiver.url, authType: 'NoAuth' });
  const refused = await webhookSystem.webhooks.test(TENANT_1, hook.id);
  t.is(refused.attempts[0]?.error, 'webhook.unreachable: The receiver cannot be reached: ECONNREFUSED.');
  const unknown = await webhookSystem.webhooks.create(TENANT_1, {
    url: 'http://no-such-name.invalid/',
    authType: 'NoAuth',
  });
  const failed = await webhookSystem.webhooks.test(TENANT_1, unknown.id);
  t.regex(failed.attempts[0]?.error ?? '', /^webhook\.unreachable: /);
});

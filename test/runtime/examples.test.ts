/** The programs in `examples/`, run as they are. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test, { type ExecutionContext } from 'ava';
import { signatureHeaders } from '../../actors/shared/webhooks/webhook-signature.ts';
import { SAMPLE, startProgram, until } from '../actors/portal/service.ts';
import { closeBrowser, openSigning, visit } from '../browser/browser.ts';
import { startServer } from '../postgres/cluster.ts';
import { withTools } from '../verifiers/tool.ts';
import { folderFor } from './folder.ts';

const toolTest = withTools(test, 'postgres', 'chromium');

function output(t: ExecutionContext, words: readonly string[], more: NodeJS.ProcessEnv = {}): string {
  const env = { ...process.env, ...more };
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    encoding: 'utf8',
    timeout: 90_000,
    env,
  });
  t.is(status, 0, `${stdout}${stderr}`);
  return stdout.replaceAll(/(?<=\/\d+\/)\d+/g, '*');
}

test('the orders of the example are paid, refused and lapse, once', (t) => {
  const folder = join(folderFor(t), 'orders');
  const states = ['small is paid', 'large is refused', 'forgotten is lapsed', 'sold for 5', ''];
  t.is(
    output(t, ['dist/examples/order.js', folder]),
    ['charged 5 under order/small/2/*', ...states].join('\n'),
  );
  t.is(output(t, ['dist/examples/order.js', folder]), states.join('\n'), 'a second start repeats nothing');
});

test('the trip of the example is cancelled, and its seat is free again', (t) => {
  t.is(output(t, ['dist/examples/reservation.js', join(folderFor(t), 'trips')]), "cancelled 1 [ '2 f-9' ]\n");
});

toolTest('the second node of the example delivers the parcel of the killed first one', async (t) => {
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const lines = output(t, ['dist/examples/cluster.js'], { DATABASE_URL: cluster.url }).trim().split('\n');
  t.deepEqual(lines, [
    'first has sent the parcel',
    'second delivers to Ana under parcel/p-1/2/*',
    'second has seen the delivery',
  ]);
});

/** Starts an example that serves, on a free port; returns its address, and its output so far. */
async function serve(
  t: ExecutionContext,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly url: string; readonly lines: readonly string[]; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [...words, '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  t.teardown(() => child.kill());
  const lines: string[] = [];
  const output = createInterface(child.stdout);
  const [url] = (await once(output, 'line')) as [string];
  output.on('line', (line) => lines.push(line));
  return {
    url,
    lines,
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

const KEY = Buffer.alloc(32, 7);
const SECRET = `whsec_${KEY.toString('base64')}`;

test('the receiver of the example takes each event once, also after a restart, and no other calls', async (t) => {
  const events = join(folderFor(t), 'events.jsonl');
  // A crash has cut off a line.
  writeFileSync(events, '{"id":"e.0","type":"DocumentSigned","data":{}}\n{"id":"e.1","ty');
  const start = () => serve(t, ['examples/webhook-receiver.mjs', events], { WEBHOOK_SECRET: SECRET });
  let receiver = await start();
  const body = '{"type":"DocumentConcluded","data":{"name":"ä"}}';
  const call = async (
    id: string,
    changed: { readonly body?: string; readonly key?: Buffer; readonly at?: number },
  ) => {
    const { body: sent = body, key = KEY, at = Date.now() } = changed;
    const headers = { 'webhook-id': id, ...signatureHeaders([key], id, body, at) };
    return (await fetch(receiver.url, { method: 'POST', headers, body: sent })).status;
  };
  t.is(await call('e.1', { body: `${body} ` }), 401);
  t.is(await call('e.1', { key: Buffer.alloc(32, 8) }), 401);
  t.is(await call('e.1', { at: Date.now() - 600_000 }), 401);
  t.is((await fetch(receiver.url, { method: 'POST', body })).status, 401);
  t.is(await call('e.0', {}), 204);
  t.deepEqual(await Promise.all([1, 2, 3].map(() => call('e.1', {}))), [204, 204, 204]);
  await receiver.stop();
  receiver = await start();
  t.is(await call('e.1', {}), 204);
  t.is(await call('e.2', {}), 204);
  const ids = readFileSync(events, 'utf8').matchAll(/^\{"id":"([^"]+)","type":"Document/gm);
  t.deepEqual(
    [...ids].map(([, id]) => id),
    ['e.0', 'e.1', 'e.2'],
  );
});

test.after.always(() => closeBrowser());

toolTest(
  'a person signs in the page of the example, and the receiver of the example gets the event once',
  async (t) => {
    const portal = await startProgram(t, { settings: { 'Portal:WebhookAllowPrivate': true } });
    const shop = await portal.organization('Shop');
    const folder = folderFor(t);
    const events = join(folder, 'events.jsonl');
    const receiver = await serve(t, ['examples/webhook-receiver.mjs', events], { WEBHOOK_SECRET: SECRET });
    await shop.post(`/api/organizations/${shop.organizationId}/webhooks`, {
      url: receiver.url,
      secret: SECRET,
      events: ['DocumentSigned'],
    });
    const contract = join(folder, 'contract.pdf');
    writeFileSync(contract, SAMPLE.content);
    const website = await serve(t, ['examples/embedded-signing.mjs', contract], {
      PORTAL_URL: portal.url,
      PORTAL_KEY: shop.key,
    });
    const site = new URL(website.url).origin;
    const visited = await visit(t, portal.url, { locale: 'en-US' }, { alsoAsks: [site] });
    const { page } = visited;
    await page.goto(website.url);
    const frame = page.frameLocator('#signing iframe');
    await openSigning(frame);
    await frame.getByRole('button', { name: 'Sign the document' }).click();
    await page.getByText('Thank you. You signed the contract.').waitFor();
    const path = `/api/organizations/${shop.organizationId}/deliveries`;
    const delivered = await until(async () => {
      const { items } = await shop.get<{ items: { id: string; status: string; attempts: object[] }[] }>(path);
      return items.find(({ status }) => status === 'Delivered');
    });
    await shop.post(`${path}/${delivered.id}/resend`, {});
    await until(async () => {
      const { items } = await shop.get<{ items: { attempts: object[] }[] }>(path);
      return items[0]?.attempts.length === 2 ? true : undefined;
    });
    t.is(receiver.lines.length, 1, 'the event came twice');
    t.regex(receiver.lines[0] ?? '', /^DocumentSigned /);
    t.is(readFileSync(events, 'utf8').trim().split('\n').length, 1);
  },
);

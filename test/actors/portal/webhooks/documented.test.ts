import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { signatureHeaders } from '../../../../actors/shared/webhooks/webhook-signature.ts';
import { folderFor } from '../../../runtime/folder.ts';

const DOCUMENT = fileURLToPath(new URL('../../../../../docs/webhooks.md', import.meta.url));

type IsGenuine = (headers: object, body: string, secret: string, now: number) => boolean;

test('the documented code for receivers accepts webhooks of the service and refuses others', async (t) => {
  const [, code = ''] = /```js\n(.*?)```/s.exec(await readFile(DOCUMENT, 'utf8')) ?? [];
  const file = join(folderFor(t), 'check.mjs');
  await writeFile(file, `${code}\nexport { isGenuine };\n`);
  const { isGenuine } = (await import(file)) as { isGenuine: IsGenuine };
  const key = Buffer.alloc(32, 4);
  const secret = `whsec_${key.toString('base64')}`;
  const now = Date.UTC(2026, 0, 4);
  const body = '{"type":"DocumentConcluded","data":{"name":"ä"}}';
  const headers = { 'webhook-id': 'w.d.1', ...signatureHeaders([key], 'w.d.1', body, now) };
  t.true(isGenuine(headers, body, secret, now));
  t.true(
    isGenuine(
      { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` },
      body,
      secret,
      now,
    ),
  );
  t.false(isGenuine(headers, `${body} `, secret, now));
  t.false(isGenuine({ ...headers, 'webhook-id': 'w.d.2' }, body, secret, now));
  t.false(isGenuine(headers, body, `whsec_${Buffer.alloc(32, 5).toString('base64')}`, now));
  t.false(isGenuine(headers, body, secret, now + 600_000));
  t.false(isGenuine({ ...headers, 'webhook-signature': '' }, body, secret, now));
});

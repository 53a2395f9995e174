/** Files whose writer goes on after they looked complete. */

import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import type { JobId, ProfileName } from '../../../../machines/ids.ts';
import { startAuthority, type TestAuthority } from '../../../pki/authority.ts';
import { pki } from '../../../pki/pki.ts';
import { reached } from '../../../project/waiting.ts';
import { batchFixture } from '../batch-harness.ts';

/** An authority of time-stamps that does something before its first answer. */
async function authorityAfter(
  t: { teardown(end: () => unknown): void },
  act: () => Promise<void>,
): Promise<string> {
  const authority: TestAuthority = await startAuthority();
  t.teardown(() => authority.close());
  let first: Promise<void> | undefined;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    first ??= act();
    await first;
    const { headers } = request;
    const answer = await fetch(authority.timestampUrl, {
      method: 'POST',
      body: Buffer.concat(parts),
      headers: { 'content-type': headers['content-type'] ?? '' },
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The moment at which the writer goes on. */
const MOMENTS = ['while its job waits in the queue', 'while it is signed'] as const;

for (const moment of MOMENTS)
  test(`a file that is written on ${moment} gives one output, of the whole file`, async (t) => {
    let path = '';
    const isSigned = moment === 'while it is signed';
    const url = await authorityAfter(t, async () => {
      if (isSigned) await appendFile(path, ' more');
    });
    const { batch, layout, reach } = await batchFixture(t, {
      quietMs: 200,
      profiles: [
        {
          method: 'Local',
          verify: true,
          encrypt: false,
          name: 'default' as ProfileName,
          format: undefined,
          signer: pki().signer('p-256'),
          anchors: [pki().root.certificate],
          certificate: 'test',
          validTo: Date.now() + 30 * 86_400_000,
          choices: { level: 'T', timestamp: { url, timeoutMs: 60_000 } },
        },
      ],
    });
    path = join(layout.input, 'a.txt');
    await batch.pipeline.pause(null);
    await writeFile(path, 'half');
    await reach('Queued', 1);
    const all = { page: 1, pageSize: 50, statuses: [] };
    const id = (await batch.jobs.list(all)).items[0]?.id as JobId;
    if (!isSigned) await appendFile(path, ' more');
    await batch.pipeline.resume(null);
    const waits =
      'Waits for its input: The file changed while its job worked on it: it is still being written.';
    await reached(async () => (await batch.jobs.get(id)).history.some(({ message }) => message === waits));
    t.deepEqual(await readdir(layout.output), [], 'nothing of the half is published');
    await reach('Completed', 1);
    const { items } = await batch.jobs.list(all);
    t.deepEqual(
      items.map((job) => job.id),
      [id],
    );
    t.deepEqual(await readdir(layout.output), ['a.signed.txt']);
    t.true((await readFile(join(layout.output, 'a.signed.txt'))).includes('half more'));
    await reached(async () => (await readdir(layout.input)).length === 0);
  });

test('a file that its writer empties and begins anew waits until it is written', async (t) => {
  const { batch, layout, reach } = await batchFixture(t, { quietMs: 200 });
  const path = join(layout.input, 'a.txt');
  await batch.pipeline.pause(null);
  await writeFile(path, 'first');
  await reach('Queued', 1);
  const all = { page: 1, pageSize: 50, statuses: [] };
  const id = (await batch.jobs.list(all)).items[0]?.id as JobId;
  await writeFile(path, '');
  await batch.pipeline.resume(null);
  const returns = async () => {
    const { status, history } = await batch.jobs.get(id);
    return (
      status === 'Failed' || history.filter(({ message }) => message?.startsWith('Waits for')).length > 1
    );
  };
  await reached(returns);
  await writeFile(path, 'second');
  await reach('Completed', 1);
  t.is((await batch.jobs.get(id)).status, 'Completed');
  t.true((await readFile(join(layout.output, 'a.signed.txt'))).includes('second'));
});

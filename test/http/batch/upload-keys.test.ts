import { readdir } from 'node:fs/promises';
import test from 'ava';
import { assertProblem, form, pdf, startServer } from '../harness.ts';

test('a repeated upload under its key gets the same answer, and a different one under that key 422', async (t) => {
  const { call, service } = await startServer(t);
  const send = (key: string, name: string) =>
    call('/api/files', {
      method: 'POST',
      body: form([['file', pdf('%PDF-1.7 one', name)]]),
      headers: { 'idempotency-key': key },
    });
  // The content of the first one tells its format.
  for (const [key, name] of [
    ['order-16', 'a.dat'],
    ['order-17', 'a.pdf'],
  ] as const) {
    const first = await send(key, name);
    t.is(first.status, 202);
    const answer = await first.text();
    t.is((JSON.parse(answer) as { format: string }).format, 'Pades');
    const again = await send(key, name);
    t.is(again.status, 202);
    t.is(await again.text(), answer);
  }
  const other = await send('order-17', 'other.pdf');
  t.is(other.status, 422);
  await assertProblem(t, other, 'idempotency.mismatch');
  t.is((await send('order-18', 'a.pdf')).status, 202);
  t.is((await service.jobs.list({ statuses: [], page: 1, pageSize: 50 })).totalCount, 3);
});

test('a key has at most 255 characters and no control character', async (t) => {
  const { call, service } = await startServer(t);
  const send = (key: string) =>
    call('/api/files', {
      method: 'POST',
      body: form([['file', pdf()]]),
      headers: { 'idempotency-key': key },
    });
  t.is((await send('k'.repeat(255))).status, 202);
  for (const bad of ['k'.repeat(256), 'a\tb']) {
    const problem = await assertProblem(t, await send(bad), 'validation.body-invalid');
    t.deepEqual(Object.keys(problem.errors ?? {}), ['Idempotency-Key']);
  }
  t.is((await readdir(service.input)).length, 1);
});

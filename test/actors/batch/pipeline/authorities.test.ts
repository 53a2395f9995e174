/** Time-stamp authorities that take requests and do not answer. */
import test from 'ava';
import type { JobId, ProfileName } from '../../../../machines/ids.ts';
import { startAuthority } from '../../../pki/authority.ts';
import { pki } from '../../../pki/pki.ts';
import { batchFixture } from '../batch-harness.ts';

test('a time-stamp authority that hangs holds a slot once; its other jobs wait, those of other profiles go on', async (t) => {
  const authority = await startAuthority();
  t.teardown(() => authority.close());
  const local = {
    ...({ method: 'Local', verify: true, encrypt: false, format: undefined, certificate: 'test' } as const),
    ...{ signer: pki().signer('p-256'), anchors: [pki().root.certificate] },
    validTo: Date.now() + 30 * 86_400_000,
  };
  const { batch, services, upload, reach } = await batchFixture(t, {
    ...{ start: false, watch: false, maxConcurrency: 1 },
    profiles: [
      { ...local, name: 'plain' as ProfileName },
      {
        ...{ ...local, name: 'stamped' as ProfileName },
        choices: { level: 'T', timestamp: { url: authority.timestampUrl, timeoutMs: 300 } },
      },
    ],
  });
  const stamped: JobId[] = [];
  for (let n = 0; n < 4; n += 1) stamped.push(await upload(`${n}.txt`, `content ${n}`, 'stamped'));
  const plain = await upload('plain.txt', 'content', 'plain');
  authority.break('timestamp', 'slow');
  await services.start();
  await reach('Completed', 1);
  t.is((await batch.jobs.get(plain)).status, 'Completed');
  t.is(batch.count(['Failed']), 1, 'the first found out');
  t.is(batch.count(['Queued']), 3);
  const check = async () => (await batch.health.checks()).find(({ name }) => name === 'authority:stamped');
  t.like(await check(), { status: 'Degraded' });
  t.regex((await check())?.detail ?? '', /^jobs wait since .* for the time-stamp authority: /);

  authority.mend('timestamp');
  await reach('Completed', 4);
  t.like(await check(), { status: 'Healthy', detail: null });
  t.deepEqual(await Promise.all(stamped.map(async (id) => (await batch.jobs.get(id)).status)), [
    'Failed',
    'Completed',
    'Completed',
    'Completed',
  ]);
});

test('an authority that refuses a request does not make its jobs wait', async (t) => {
  const authority = await startAuthority();
  t.teardown(() => authority.close());
  const { batch, services, upload, reach } = await batchFixture(t, {
    ...{ start: false, watch: false, maxConcurrency: 1 },
    profiles: [
      {
        ...{ method: 'Local', verify: true, encrypt: false, format: undefined, certificate: 'test' },
        ...{
          signer: pki().signer('p-256'),
          anchors: [pki().root.certificate],
          name: 'stamped' as ProfileName,
        },
        validTo: Date.now() + 30 * 86_400_000,
        choices: { level: 'T', timestamp: { url: authority.timestampUrl, timeoutMs: 60_000 } },
      },
    ],
  });
  for (let n = 0; n < 2; n += 1) await upload(`${n}.txt`, `content ${n}`);
  authority.break('timestamp', 'missing');
  await services.start();
  await reach('Failed', 2);
  t.is((await batch.health.checks()).find(({ name }) => name === 'authority:stamped')?.status, 'Healthy');
});

/** Time-stamp authorities that take requests and do not answer. */
import { systemClock, systemIds } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import { Authorities } from '../../../../actors/batch/pipeline/authorities.ts';
import { Profiles } from '../../../../actors/shared/signing/profiles.ts';
import type { JobId, ProfileName } from '../../../../machines/ids.ts';
import { startAuthority } from '../../../pki/authority.ts';
import { pki } from '../../../pki/pki.ts';
import { SILENT } from '../../portal/uploads/upload-harness.ts';
import { batchFixture } from '../batch-harness.ts';

const LOCAL = {
  method: 'Local' as const,
  verify: true,
  encrypt: false,
  format: undefined,
  certificate: 'test',
  signer: pki().signer('p-256'),
  anchors: [pki().root.certificate],
  validTo: Date.now() + 30 * 86_400_000,
};

for (const maxConcurrency of [1, 2])
  test(`a time-stamp authority that hangs fails one of ${maxConcurrency} jobs in work; its others wait, those of other profiles go on`, (t) =>
    hangingAuthority(t, maxConcurrency));

async function hangingAuthority(t: ExecutionContext, maxConcurrency: number): Promise<void> {
  const authority = await startAuthority();
  t.teardown(() => authority.close());
  const { batch, services, upload, reach } = await batchFixture(t, {
    start: false,
    watch: false,
    maxConcurrency,
    profiles: [
      { ...LOCAL, name: 'plain' as ProfileName },
      {
        ...LOCAL,
        name: 'stamped' as ProfileName,
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
  await reach('Queued', 3);
  t.is(batch.count(['Failed']), 1, 'the first found out');
  const check = async () => (await batch.health.checks()).find(({ name }) => name === 'authority:stamped');
  t.like(await check(), { status: 'Degraded' });
  t.regex((await check())?.detail ?? '', /^jobs wait since .* for the time-stamp authority: /);

  authority.mend('timestamp');
  await reach('Completed', 4);
  t.like(await check(), { status: 'Healthy', detail: null });
  const ends = await Promise.all(stamped.map(async (id) => (await batch.jobs.get(id)).status));
  t.deepEqual(ends.toSorted(), ['Completed', 'Completed', 'Completed', 'Failed']);
}

test('only the address of the authority itself opens its circuit, no longer one that begins with it', (t) => {
  const profile = 'stamped' as ProfileName;
  const runtime = { clock: systemClock, ids: systemIds, log: SILENT };
  const timestamp = { url: 'http://127.0.0.1:9/tsa?user=a', timeoutMs: 300 };
  const profiles = new Profiles([{ ...LOCAL, name: profile, choices: { level: 'T', timestamp } }]);
  const authorities = new Authorities(runtime, profiles);
  t.teardown(() => authorities.stop());
  const code = 'authority.unreachable';
  for (const address of ['http://127.0.0.1:9/tsa/ocsp', 'http://127.0.0.1:9/tsa2', 'http://127.0.0.1:9/']) {
    authorities.failed(profile, { code, message: `${address} can't be reached: ECONNREFUSED.` });
    t.false(authorities.holds(profile), address);
  }
  const failure = { code, message: "http://127.0.0.1:9/tsa can't be reached: ECONNREFUSED." };
  t.is(authorities.failed(profile, failure), undefined, 'who finds out fails');
  t.true(authorities.holds(profile));
  t.is(authorities.failed(profile, failure), 'time-stamp authority', 'who was in work then waits');
});

test('an authority that refuses a request does not make its jobs wait', async (t) => {
  const authority = await startAuthority();
  t.teardown(() => authority.close());
  const { batch, services, upload, reach } = await batchFixture(t, {
    start: false,
    watch: false,
    maxConcurrency: 1,
    profiles: [
      {
        ...LOCAL,
        name: 'stamped' as ProfileName,
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

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { BUCKET, NODES } from '../postgres/test-store.ts';
import { Service, temporaryRoot } from './service.ts';
import { brokenPromises, picture } from './signing/evidence.ts';
import { give, type Load } from './soak/load.ts';

const SETTINGS = { 'Pipeline:MaxConcurrency': 4 };

/** Enough for each node to pass every fault point. */
const FILES = 9 * NODES;

/** Waits until nothing is left behind, or says what is. */
async function putAway(t: ExecutionContext, service: Service, load: Load): Promise<void> {
  await service
    .until('everything to be put away', async () =>
      (await brokenPromises(service, load)).length === 0 ? true : undefined,
    )
    .catch(async (error: Error) => t.deepEqual(await brokenPromises(service, load), [], error.message));
}

test.serial('a kill while failed jobs are put aside leaves each of them put aside once', async (t) => {
  const root = await temporaryRoot(t);
  const first = await Service.start(t, { root, settings: SETTINGS, faults: 'pool.quarantine.moved=kill:2' });
  for (let number = 1; number <= FILES; number += 1)
    await writeFile(join(root, 'input', `${number}.pdf`), `${number} is no PDF`);
  t.is(await first.ended, 'SIGKILL');
  const second = await Service.start(t, { root, settings: SETTINGS });
  await second.idle();
  await second.until('a failed job for each file', async () =>
    (await second.count('Failed')) === FILES ? true : undefined,
  );
  await putAway(t, second, { accepted: [], dropped: [] });
  await second.kill();
});

test.serial('a second recovery changes nothing', async (t) => {
  const root = await temporaryRoot(t);
  const load: Load = { accepted: [], dropped: [] };
  const faults = `${BUCKET === undefined ? 'pool.release.linked' : 'job.output.stored'}=kill:3`;
  const first = await Service.start(t, { root, settings: SETTINGS, faults });
  await Promise.all([give(first, load, 'first', FILES), first.ended]);
  const second = await Service.start(t, { root, settings: SETTINGS });
  await second.idle();
  await putAway(t, second, load);
  const before = await picture(second);
  await second.kill();
  const third = await Service.start(t, { root, settings: SETTINGS });
  await third.idle();
  await third
    .until('the same picture', async () =>
      isDeepStrictEqual(await picture(third), before) ? true : undefined,
    )
    .catch(async () => t.deepEqual(await picture(third), before));
  t.pass();
  await third.kill();
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import { BUCKET, NODES } from '../postgres/test-store.ts';
import { Service, temporaryRoot } from './service.ts';
import { brokenPromises, picture } from './signing/evidence.ts';
import { give, type Load } from './soak/load.ts';

const SETTINGS = { 'Pipeline:MaxConcurrency': 4 };

/** Enough for each node to pass every fault point. */
const FILES = 9 * NODES;

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
  await second.until('everything to be put away', async () =>
    (await brokenPromises(second, { accepted: [], dropped: [] })).length === 0 ? true : undefined,
  );
  t.pass();
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
  await second.until('everything to be put away', async () =>
    (await brokenPromises(second, load)).length === 0 ? true : undefined,
  );
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

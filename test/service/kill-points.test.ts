import { RUNTIME_FAULT_POINTS } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { ACTOR_FAULTS } from '../../actors/index.ts';
import { NODES } from '../postgres/test-store.ts';
import { casesOf, roundsOf } from '../project/rounds.ts';
import { Service, temporaryRoot } from './service.ts';
import { brokenPromises } from './signing/evidence.ts';
import { give, type Load } from './soak/load.ts';

const SETTINGS = { 'Pipeline:MaxConcurrency': 4 };

/** Points that a run of ordinary jobs passes; the others have tests of their own. */
const ORDINARY = [...Object.keys(RUNTIME_FAULT_POINTS), ...Object.keys(ACTOR_FAULTS)].filter(
  (name) =>
    !name.startsWith('timer.') &&
    !['effect.failed.before-defer', 'pool.quarantine.moved', 'job.output.stored'].includes(name),
);
/** `test/runtime/crash/kill.test.ts` kills at those of the runtime under thousands of requests. */
const isOfRuntime = (name: string) => name in RUNTIME_FAULT_POINTS;
const PASSED = casesOf(
  ORDINARY.filter((name) => !isOfRuntime(name)),
  ORDINARY.filter(isOfRuntime),
);

/** Returns the passage of a fault point that kills: the start commits some groups before the program listens. */
function fatalPassage(point: string): number {
  return point.startsWith('store.group.') ? 10 : 4;
}

/** Enough for each node to pass every fault point. */
const FILES = 9 * NODES;

/**
 * Runs again what was set aside, as an operator does: kills that follow each other quickly look like work that ends the
 * process, and no later start repeats it.
 */
async function runAgain(service: Service): Promise<void> {
  const { items } = await service.json<{
    items: { id: string; trouble: { lastError: string | null } | null }[];
  }>('/api/actors?kind=job&stuck=true&limit=200');
  for (const { id, trouble } of items) {
    if (!trouble?.lastError?.startsWith('effect.set-aside')) continue;
    await service.json(`/api/actors/job/${id}/restart`, {
      method: 'POST',
      body: JSON.stringify({ reason: 'killed in a row' }),
      headers: { 'content-type': 'application/json' },
    });
  }
}

/** @param isKilledInARow true: the service was killed so often that it may have set work aside */
async function nothingIsLost(
  t: ExecutionContext,
  root: string,
  load: Load,
  isKilledInARow = false,
): Promise<void> {
  const second = await Service.start(t, { root, settings: SETTINGS });
  try {
    await second.idle();
    await second
      .until('everything to be put away', async () => {
        if (isKilledInARow) await runAgain(second);
        const broken = await brokenPromises(second, load);
        return broken.length === 0 ? true : undefined;
      })
      .catch(async () => t.deepEqual(await brokenPromises(second, load), []));
  } finally {
    await second.kill();
  }
}

for (const point of PASSED) {
  test.serial(`a kill at ${point} loses nothing and publishes nothing twice`, async (t) => {
    const root = await temporaryRoot(t);
    const load: Load = { accepted: [], dropped: [] };
    const first = await Service.start(t, {
      root,
      settings: SETTINGS,
      faults: `${point}=kill:${fatalPassage(point)}`,
    });
    await Promise.all([give(first, load, 'first', FILES), first.ended]);
    t.is(await first.ended, 'SIGKILL');
    await nothingIsLost(t, root, load);
  });
}

test.serial(
  'kills at random moments under load lose nothing, and a retry of each failed job completes it',
  async (t) => {
    const root = await temporaryRoot(t);
    const load: Load = { accepted: [], dropped: [] };
    for (let round = 0; round < roundsOf(3, 5); round += 1) {
      const service = await Service.start(t, { root, settings: SETTINGS });
      const giving = give(service, load, `round-${round}`, 24).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 60 + ((round * 137) % 400)));
      await service.kill();
      await giving;
    }
    await nothingIsLost(t, root, load, true);
    const last = await Service.start(t, { root, settings: SETTINGS });
    for (const job of await last.jobs('&status=Failed'))
      await last.json(`/api/jobs/${job.id}/retry`, { method: 'POST' });
    await last.idle();
    await last.until('everything to be put away', async () =>
      (await brokenPromises(last, load)).length === 0 ? true : undefined,
    );
    const inputs = new Set((await last.jobs('&status=Completed')).map((job) => job.originalPath));
    const failed = (await last.jobs('&status=Failed')).filter((job) => !inputs.has(job.originalPath));
    t.deepEqual(failed, [], 'every job that a kill failed was completed by its retry');
    await last.kill();
  },
);

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RUNTIME_FAULT_POINTS } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { certificatePem } from '#crypto/x509/certificate.js';
import { ACTOR_FAULTS } from '../../actors/index.ts';
import { startKeyServer } from '../actors/shared/key-services/key-server.ts';
import type { KeyServer } from '../actors/shared/key-services/served-signatures.ts';
import { pki } from '../pki/pki.ts';
import { NODES } from '../postgres/test-store.ts';
import { casesOf, roundsOf } from '../project/rounds.ts';
import { reached } from '../project/waiting.ts';
import { Service, type ServiceOptions, temporaryRoot } from './service.ts';
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

interface NextStart {
  /** True: the service was killed so often that it may have set work aside. */
  readonly isKilledInARow?: boolean;
  readonly settings?: NonNullable<ServiceOptions['settings']>;
}

async function nothingIsLost(
  t: ExecutionContext,
  root: string,
  load: Load,
  { isKilledInARow = false, settings = SETTINGS }: NextStart = {},
): Promise<void> {
  const second = await Service.start(t, { root, settings });
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

/** @returns the settings of a profile whose key is at the server */
async function keyAtService(keys: KeyServer): Promise<NonNullable<ServiceOptions['settings']>> {
  const { key, certificate, chain } = pki().signer('p-256');
  keys.keys.set('seal', [key.keyObject]);
  const path = join(pki().folder, 'seal-at-service.pem');
  await writeFile(path, [certificate, ...chain].map(certificatePem).join(''));
  process.env['VAULT_TOKEN'] = 'good';
  return {
    ...SETTINGS,
    'Signing:Trust:Revocation': 'None',
    'Signing:Certificate:Source': 'Vault',
    'Signing:Certificate:Pem:CertificatePath': path,
    'Signing:Certificate:KeyService:Address': `${keys.url}/v1/transit`,
    'Signing:Certificate:KeyService:Key': 'seal',
  };
}

for (const point of ['pool.sign.signed', undefined])
  test.serial(
    `a kill with signatures under way at a key service${point === undefined ? '' : `, at ${point},`} loses nothing and publishes nothing twice`,
    async (t) => {
      const keys = await startKeyServer(t);
      const settings = await keyAtService(keys);
      const root = await temporaryRoot(t);
      const load: Load = { accepted: [], dropped: [] };
      const faults = point === undefined ? {} : { faults: `${point}=kill:4` };
      const first = await Service.start(t, { root, settings, ...faults });
      if (point === undefined) keys.before = () => new Promise(() => {});
      const giving = give(first, load, 'first', FILES);
      if (point === undefined) {
        await reached(() => keys.inFlight === SETTINGS['Pipeline:MaxConcurrency']);
        await first.kill();
      }
      await Promise.all([giving, first.ended]);
      t.is(await first.ended, 'SIGKILL');
      keys.before = () => Promise.resolve();
      await nothingIsLost(t, root, load, { settings });
      t.true(keys.signed > 0);
    },
  );

test.serial(
  'kills at random moments under load lose nothing, and a retry of each failed job completes it',
  async (t) => {
    const root = await temporaryRoot(t);
    const load: Load = { accepted: [], dropped: [] };
    for (let round = 0; round < roundsOf(2, 5); round += 1) {
      const service = await Service.start(t, { root, settings: SETTINGS });
      const giving = give(service, load, `round-${round}`, 24).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 60 + ((round * 137) % 400)));
      await service.kill();
      await giving;
    }
    await nothingIsLost(t, root, load, { isKilledInARow: true });
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

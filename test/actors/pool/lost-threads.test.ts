/** Pool threads that end, hang or fill their heap cost the task they were at, and nothing else. */
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import { SigningPool } from '../../../actors/pool/pool.ts';
import { poolOptions } from '../../../actors/pool/pool-options.ts';
import type { Profile } from '../../../actors/shared/signing/profiles.ts';
import type { ProfileName } from '../../../machines/ids.ts';
import { pki } from '../../pki/pki.ts';
import { reached } from '../../project/waiting.ts';
import { batchFixture } from '../batch/batch-harness.ts';

const PROFILE: Profile = {
  method: 'Local',
  verify: true,
  encrypt: false,
  name: 'default' as ProfileName,
  format: undefined,
  signer: pki().signer('p-256'),
  anchors: [pki().root.certificate],
  validTo: Number.MAX_SAFE_INTEGER,
  certificate: 'test',
};

/** A pool whose deadlines pass on request, and a function that signs in it. */
async function makePool(t: ExecutionContext, faults: string, waitsForNetwork = false) {
  const { layout } = await batchFixture(t, { start: false, watch: false });
  const deadlines = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    after: (_, task) => {
      deadlines.add(task);
      return () => deadlines.delete(task);
    },
  };
  const pool = new SigningPool({
    threads: 2,
    memory: 64,
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    ...poolOptions({ profiles: [PROFILE] }, { ...layout, faults }),
    ...(waitsForNetwork && { waitsForNetwork: () => true }),
  });
  t.teardown(() => pool.destroy());
  const sign = async (name: string, job = name) => {
    const fileName = `${name}.txt`;
    const originalPath = join(layout.input, fileName);
    await writeFile(originalPath, `content of ${name}`);
    const how = { format: 'Cades', profile: 'default', subfolder: '', collision: 'suffix' } as const;
    return pool.run({ task: 'sign', jobId: job, fileName, originalPath, at: Date.now(), ...how });
  };
  const signMany = (of: string) => Promise.all(Array.from({ length: 16 }, (_, n) => sign(`${of}-${n}`)));
  return {
    pool,
    sign,
    signMany,
    /** True if a thread has begun with the job. */
    begun: (job: string) => existsSync(join(layout.processing, job)),
    published: () => readdirSync(layout.output).sort(),
    passDeadlines: () => {
      for (const task of [...deadlines]) task();
    },
  };
}

const LOST = [
  ['ends', 'exit', 'pool.worker-lost'],
  ['fills its heap', 'exhaustHeap', 'pool.memory-exceeded'],
  ['computes for ever', 'spin', 'pool.deadline'],
  ['hangs', 'hang', 'pool.deadline'],
] as const;

test.serial(
  'a pool thread that ends, fills its heap, loops or hangs fails its own task, and is replaced',
  async (t) => {
    const faults = LOST.map(([, action]) => `pool.sign.staged/${action}.txt=${action}`).join(',');
    const { pool, sign, signMany, begun, passDeadlines } = await makePool(t, faults);
    t.true((await signMany('before')).every(({ ok }) => ok));
    for (const [what, action, code] of LOST) {
      const lost = sign(action);
      if (code === 'pool.deadline') {
        await reached(() => begun(action));
        passDeadlines();
      }
      const answer = await lost;
      t.is(answer.ok ? 'done' : answer.code, code, what);
      const after = await signMany(`after-${action}`);
      t.deepEqual(
        after.filter(({ ok }) => !ok),
        [],
        what,
      );
      await reached(() => pool.load.busy === 0);
      t.deepEqual(pool.load, { threads: 2, busy: 0, waiting: 0 }, what);
    }
  },
);

test.serial(
  'other tasks in a batch of an ended thread are still done, in the pool and on the I/O workers',
  async (t) => {
    for (const waitsForNetwork of [false, true]) {
      const { pool, sign, signMany, published } = await makePool(
        t,
        'pool.sign.staged/exit.txt=exit',
        waitsForNetwork,
      );
      const [before, lost, after] = await Promise.all([signMany('before'), sign('exit'), signMany('after')]);
      t.is(lost.ok ? 'done' : lost.code, 'pool.worker-lost');
      t.deepEqual(
        [...before, ...after].filter(({ ok }) => !ok),
        [],
      );
      t.is(published().length, 32, 'each once, also those that were done when the thread ended');
      t.is(pool.load.waiting, 0);
    }
  },
);

/** A node that is suspended for longer than its lease, at the moments that matter, writes nothing when it wakes. */
import { readFile } from 'node:fs/promises';
import anyTest, { type TestFn } from 'ava';
import { casesOf } from '../project/rounds.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { brokenPromises } from '../service/signing/evidence.ts';
import { withTools } from '../verifiers/tool.ts';
import { type Cluster, startServer } from './cluster.ts';

interface Fixture {
  readonly cluster: Cluster;
  readonly root: string;
  /** Uploads that were answered, of all tests. */
  readonly accepted: string[];
}

const test = withTools(anyTest as TestFn<Fixture>, 'postgres');
/** The node that lives on. The first test starts it after the suspension, so that its start takes the work over. */
let other: Service | undefined;
const tasks: (() => unknown)[] = [];
const teardown = (task: () => unknown) => void tasks.push(task);

test.before(async (t) => {
  const cluster = await startServer();
  if (cluster !== undefined) teardown(() => cluster.remove());
  t.context = { cluster, root: await temporaryRoot({ teardown }), accepted: [] };
});

test.after.always(async () => {
  for (const task of tasks.reverse()) await task();
});

/** True once the process is stopped by a signal. */
async function isSuspended(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}

for (const point of casesOf(
  ['upload.synced', 'step.computed.before-commit', 'pool.sign.signed', 'pool.release.linked'],
  [
    'upload.committed',
    'effect.leased.before-run/sign',
    'pool.sign.staged',
    'effect.done.before-outcome/sign',
    'effect.leased.before-run/tidy',
    'pool.tidy.removed',
  ],
)) {
  test.serial(`a node suspended at ${point} until others take its work leaves no file`, async (t) => {
    t.timeout(180_000);
    const { cluster, root, accepted } = t.context;
    const start = (owner: Parameters<typeof Service.startOne>[0], node: string, faults?: string) =>
      Service.startOne(owner, {
        root,
        ...(faults !== undefined && { faults }),
        settings: {
          'Runtime:Store': 'postgres',
          'Runtime:Postgres:Url': cluster.url,
          'Runtime:Postgres:PoolSize': 4,
          'Runtime:LeaseSeconds': 2,
          'Runtime:NodeName': node,
          'Runtime:Shards': 1,
        },
      });
    const suspended = await start(t, 'node-1', `${point}=suspend:4`);
    // Some answers come only after it has woken. The other node does a part of the work that follows an upload.
    let isAwake = true;
    const uploads = Array.from({ length: 3 }, async (_, sender) => {
      for (let at = 0; at < 100 && isAwake; at += 1) {
        const name = `${point.replaceAll(/\W/g, '-')}-${sender}-${at}`;
        const answer = await suspended.upload(`${name}.txt`, name).catch(() => undefined);
        if (answer !== undefined) accepted.push(answer.jobId);
      }
    });
    await suspended.until('the node to be suspended', async () =>
      (await isSuspended(suspended.pid)) ? true : undefined,
    );
    isAwake = false;
    other ??= await start({ teardown }, 'node-2');
    const living = other;
    await living.until('the work of the suspended node to be taken over', async () => {
      const { nodes } = await living.json<{ nodes: readonly unknown[] }>('/api/runtime');
      return nodes.length === 1 ? true : undefined;
    });
    await living.idle();
    const broken = async () => {
      const found = await brokenPromises(living, { accepted, dropped: [] });
      // An upload without a job; for all that the others know, it still arrives.
      return found.filter((promise) => !/^input\/\..*\.part was left behind$/.test(promise));
    };
    await living.until('everything to be put away', async () =>
      (await broken()).length === 0 ? true : undefined,
    );
    suspended.resume();
    t.is(await suspended.ended, 1, 'it learns that its session is over');
    await Promise.all(uploads);
    t.deepEqual(await broken(), []);
  });
}

test.serial('the node that lives on stops in order', async (t) => {
  t.is((await other?.stop()) ?? 0, 0);
});

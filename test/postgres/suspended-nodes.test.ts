/** A node that is suspended for longer than its lease, at the moments that matter, writes nothing when it wakes. */
import { readFile } from 'node:fs/promises';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { Service, temporaryRoot } from '../service/service.ts';
import { brokenPromises } from '../service/signing/evidence.ts';
import { type Cluster, startCluster } from './cluster.ts';

const test = anyTest as TestFn<{ cluster: Cluster | undefined }>;

test.before(async (t) => {
  t.context.cluster = await startCluster(t as ExecutionContext);
});
test.after.always((t) => t.context.cluster?.remove());

/** True once the process is stopped by a signal. */
async function isSuspended(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}

for (const point of [
  'upload.synced',
  'upload.committed',
  'step.computed.before-commit',
  'effect.leased.before-run/sign',
  'pool.sign.staged',
  'pool.sign.signed',
  'pool.release.linked',
  'effect.done.before-outcome/sign',
  'effect.leased.before-run/tidy',
  'pool.tidy.removed',
]) {
  test.serial(`a node suspended at ${point} until others take its work leaves no file`, async (t) => {
    t.timeout(180_000);
    const { cluster } = t.context;
    if (cluster === undefined) {
      t.pass('PostgreSQL is not installed');
      return;
    }
    const root = await temporaryRoot(t);
    const start = (node: string, faults?: string) =>
      Service.startOne(t, {
        root,
        ...(faults !== undefined && { faults }),
        settings: {
          'Runtime:Store': 'postgres',
          'Runtime:Postgres:Url': cluster.url,
          'Runtime:Postgres:Schema': point.replaceAll(/\W/g, '_').toLowerCase(),
          'Runtime:Postgres:PoolSize': 4,
          'Runtime:LeaseSeconds': 2,
          'Runtime:NodeName': node,
          'Runtime:Shards': 1,
        },
      });
    const suspended = await start('node-1', `${point}=suspend:4`);
    const accepted: string[] = [];
    // Some answers come only after it has woken.
    const uploads = Array.from({ length: 6 }, async (_, at) => {
      const answer = await suspended.upload(`${at}.txt`, `text ${at}`).catch(() => undefined);
      if (answer !== undefined) accepted.push(answer.jobId);
    });
    await suspended.until('the node to be suspended', async () =>
      (await isSuspended(suspended.pid)) ? true : undefined,
    );
    const other = await start('node-2');
    await other.until('the work of the suspended node to be taken over', async () => {
      const { nodes } = await other.json<{ nodes: readonly unknown[] }>('/api/runtime');
      return nodes.length === 1 ? true : undefined;
    });
    await other.idle();
    const broken = async () => {
      const found = await brokenPromises(other, { accepted, dropped: [] });
      // An upload without a job; for all that the others know, it still arrives.
      return found.filter((promise) => !/^input\/\..*\.part was left behind$/.test(promise));
    };
    await other.until('everything to be put away', async () =>
      (await broken()).length === 0 ? true : undefined,
    );
    suspended.resume();
    t.is(await suspended.ended, 1, 'it learns that its session is over');
    await Promise.all(uploads);
    t.deepEqual(await broken(), []);
    t.is(await other.stop(), 0);
  });
}

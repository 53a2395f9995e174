import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { Service, temporaryRoot } from '../service/service.ts';
import { freshFolder, run } from './program.ts';

test('a backup taken while the service works is a root that another service opens', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root });
  const { jobId } = await service.upload('report.txt', 'content');
  t.is((await service.finished(jobId)).status, 'Completed');
  const target = join(freshFolder(), 'copies', 'today');
  const { code, out, err } = await run(freshFolder(), ['backup', target, `--Storage:Root=${root}`]);
  t.is(`${code} ${err}`, '0 ');
  t.is(out, `${target}\n`);
  t.is(statSync(target).mode & 0o777, 0o700);
  t.is(statSync(join(target, 'keys', 'api-key')).mode & 0o777, 0o600);
  t.is(await service.stop(), 0);

  const restored = await Service.start(t, { root: target });
  t.is((await restored.job(jobId)).fileName, 'report.txt');
  t.is(await restored.key(), await service.key());
  t.is(await restored.stop(), 0);
});

test('a backup holds keys that are mounted, and those that were changed since', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root });
  t.is(await service.stop(), 0);
  const mounted = join(freshFolder(), 'mounted');
  renameSync(join(root, 'keys'), mounted);
  mkdirSync(join(root, 'keys'), { mode: 0o700 });
  writeFileSync(join(root, 'keys', 'session.json'), 'changed', { mode: 0o600 });
  const target = join(freshFolder(), 'copy');
  const words = [`--Storage:Root=${root}`, `--Storage:KeysPath=${mounted}`];
  const { code, err } = await run(freshFolder(), ['backup', target, ...words]);
  t.is(`${code} ${err}`, '0 ');
  for (const name of ['job-secret', 'history-key'])
    t.is(readFileSync(join(target, 'keys', name), 'utf8'), readFileSync(join(mounted, name), 'utf8'));
  t.is(readFileSync(join(target, 'keys', 'session.json'), 'utf8'), 'changed');
});

test('a backup overwrites no file, and needs a store', async (t) => {
  const target = freshFolder();
  writeFileSync(join(target, 'precious'), 'mine');
  const root = join(freshFolder(), 'data');
  const full = await run(freshFolder(), ['backup', target, `--Storage:Root=${root}`]);
  t.is(full.code, 3);
  t.regex(full.err, /not empty/);
  t.deepEqual(readdirSync(target), ['precious']);
  t.is(readFileSync(join(target, 'precious'), 'utf8'), 'mine');
  const none = await run(freshFolder(), ['backup', join(freshFolder(), 'new'), `--Storage:Root=${root}`]);
  t.is(none.code, 3);
  t.regex(none.err, /no store/);
});

test('a backup on PostgreSQL says what to copy, with a bucket the keys alone', async (t) => {
  const words = ['--Runtime:Store=postgres', '--Runtime:Postgres:Url=postgres://user:secret@127.0.0.1/name'];
  const bucket = ['--Storage:Objects:Kind=S3', '--Storage:Objects:S3:Bucket=files'];
  const target = join(freshFolder(), 'new');
  const folder = await run(freshFolder(), ['backup', target, ...words]);
  t.is(folder.code, 2);
  t.regex(folder.err, /pg_dump, then copy `keys\/` and `portal\/` below/);
  const remote = await run(freshFolder(), ['backup', target, ...words, ...bucket]);
  t.is(remote.code, 2);
  t.regex(remote.err, /pg_dump, then copy `keys\/` below[\s\S]* are in the bucket and not in this copy/);
});

test('jobs are exported as the service lists them, with its filters, while it runs', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root });
  const ids: string[] = [];
  for (const name of ['one.txt', 'two.txt', 'broken.pdf']) {
    const { jobId } = await service.upload(name, 'content');
    await service.finished(jobId);
    ids.push(jobId);
  }
  const exported = async (...words: string[]) => {
    const { code, out, err } = await run(freshFolder(), [
      'jobs',
      'export',
      `--Storage:Root=${root}`,
      ...words,
    ]);
    t.is(`${code} ${err}`, '0 ');
    return out
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        // Proven in verify-history.test.ts.
        const { historyProof: _, ...job } = JSON.parse(line) as { id: string; historyProof: object };
        return job;
      });
  };
  await service.until('the working folders to be tidied', async () =>
    readdirSync(join(root, 'processing')).length === 0 ? true : undefined,
  );
  const all = await exported();
  t.deepEqual(
    all.map(({ id }) => id),
    [...ids].reverse(),
  );
  t.deepEqual(all[2] as unknown, await service.job(ids[0] ?? ''));
  t.deepEqual(
    (await exported('--status', 'failed')).map(({ id }) => id),
    [ids[2]],
  );
  t.deepEqual(
    (await exported('--fileName', 'TWO')).map(({ id }) => id),
    [ids[1]],
  );
  t.is(await service.stop(), 0);
  t.is((await exported()).length, 3);
});

test('an invalid filter is refused before anything is printed', async (t) => {
  const { code, out, err } = await run(freshFolder(), ['jobs', 'export', '--status', 'Lost']);
  t.is(code, 2);
  t.is(out, '');
  t.regex(err, /status must be one of Queued/);
});

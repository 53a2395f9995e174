import test from 'ava';
import { Service, temporaryRoot } from '../service/service.ts';
import { freshFolder, start } from './program.ts';

async function actors(root: string, url: string, ...words: string[]) {
  const run = start(freshFolder(), ['actors', ...words, `--Storage:Root=${root}`, `--Batch:Url=${url}`]);
  const exit = await run.ended;
  return { exit, out: run.out(), err: run.err() };
}

test('the command lists the actors of a running service by kind, by state and one by one', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root });
  const uploaded = await service.upload('a.txt', Buffer.from('content'));
  const { id } = await service.finished(uploaded.jobId);
  const kinds = await actors(root, service.url);
  t.is(kinds.exit, 0, kinds.err);
  t.regex(kinds.out, /^kind .* states +given up +awake/m);
  t.regex(kinds.out, /^job +1 +1 +Completed 1/m);
  const listed = await actors(root, service.url, 'job', '--state', 'Completed', '--json');
  t.is(JSON.parse(listed.out).items[0].id, id);
  const one = await actors(root, service.url, 'job', id);
  t.regex(one.out, /Verified and published\./);
  t.regex(one.out, /^shard +\d/m);
  const retry = await service.upload('b.txt', Buffer.from('more'));
  await service.finished(retry.jobId);
  const page = await actors(root, service.url, 'job', '--limit', '1');
  const [, cursor = ''] = /^There are more: --after (\S+)$/m.exec(page.out) ?? [];
  const rest = await actors(root, service.url, 'job', '--limit', '1', '--after', cursor);
  for (const jobId of [id, retry.jobId]) t.true((page.out + rest.out).includes(jobId), jobId);
  const runtime = await actors(root, service.url, '--runtime');
  t.regex(runtime.out, /^pool +\d of \d+ threads busy/m);
  t.regex(runtime.out, /^0 +\S+ +\d/m);
  t.is((await actors(root, service.url, 'job', '--runtime')).exit, 2);
  const none = await actors(root, service.url, 'job', 'nobody');
  t.is(none.exit, 1);
  t.regex(none.err, /There is no actor job\/nobody/);
  const running = await actors(root, service.url, 'job', id, '--restart', '--reason', 'to see');
  t.is(running.exit, 1);
  t.regex(running.err, /was not given up/);
  t.is((await actors(root, service.url, 'job', id, '--restart')).exit, 2, 'a restart needs a reason');
});

test('keys of the batch service are made, listed, rotated and revoked while it runs', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root });
  const keys = async (...words: string[]) => {
    const where = [`--Storage:Root=${root}`, `--Batch:Url=${service.url}`];
    const run = start(freshFolder(), ['keys', 'service', ...words, ...where]);
    return { exit: await run.ended, out: run.out(), err: run.err() };
  };
  const status = async (key: string) =>
    (await fetch(`${service.url}/api/jobs`, { headers: { 'X-API-Key': key } })).status;
  const made = await keys('create', 'billing', '--scope', 'read', '--profile', 'default');
  t.is(made.exit, 0, made.err);
  const [secret = ''] = made.out.split('\n');
  t.is(await status(secret), 200);
  t.is((await keys('create', 'billing', '--scope', 'read')).exit, 1);
  t.is((await keys('create', 'other', '--scope', 'everything')).exit, 2);
  t.regex((await keys('list')).out, /^billing +read +default +never +20/m);
  const rotated = await keys('rotate', 'billing', '--overlap', '0', '--json');
  t.deepEqual([await status(secret), await status(JSON.parse(rotated.out).secret)], [401, 200]);
  t.is((await keys('revoke', 'billing')).exit, 0);
  t.is(await status(JSON.parse(rotated.out).secret), 401);
});

test('the command without a service names the address it tried', async (t) => {
  const nobody = await actors(freshFolder(), 'http://127.0.0.1:9');
  t.is(nobody.exit, 3);
  t.regex(nobody.err, /no service answers at http:\/\/127\.0\.0\.1:9/);
});

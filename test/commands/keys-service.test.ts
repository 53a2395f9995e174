import test from 'ava';
import { Service, temporaryRoot } from '../service/service.ts';
import { freshFolder, start } from './program.ts';

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
  const words = [
    'keys',
    'service',
    'list',
    `--Storage:Root=${freshFolder()}`,
    '--Batch:Url=http://127.0.0.1:9',
  ];
  const run = start(freshFolder(), words);
  t.is(await run.ended, 3);
  t.regex(run.err(), /no service answers at http:\/\/127\.0\.0\.1:9/);
});

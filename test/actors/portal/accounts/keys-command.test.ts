import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import test, { type ExecutionContext } from 'ava';
import { openPortalStore } from '../uploads/upload-harness.ts';

const MAIN = new URL('../../../../main.js', import.meta.url).pathname;

interface Said {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

function commandsIn(t: ExecutionContext) {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-keys-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, 'data');
  const keys = (...words: readonly string[]) =>
    new Promise<Said>((resolve) => {
      execFile(process.execPath, [MAIN, 'keys', ...words], { cwd: folder }, (error, out, err) => {
        resolve({ exit: typeof error?.code === 'number' ? error.code : 0, out, err });
      });
    });
  return { root, keys };
}

test('keys made on the command line are valid in the service that starts afterwards', async (t) => {
  const { root, keys } = commandsIn(t);
  const made = await keys('create', 'Acme', 'Acme App', '--json');
  t.is(made.exit, 0, made.err);
  const monitor = JSON.parse((await keys('monitor', '--json')).out) as { key: string };
  const plain = await keys('create', 'Acme', 'Acme App');
  t.regex(plain.out, /^Acme App\|[0-9a-f]{64}\nIt is shown this once/);
  const listed = await keys('list');
  t.regex(
    listed.out,
    /Acme [\s\S]* {2}Acme App \(Normal\)[\s\S]*never used[\s\S]*Sys Admin[\s\S]*\(Monitor\)/,
  );
  const { key } = JSON.parse(made.out) as { key: string };
  t.false(listed.out.includes(key.split('|')[1] ?? ''));

  const prefix = (key.split('|')[1] ?? '').slice(0, 8);
  t.is((await keys('revoke', 'Acme', 'Acme App', prefix)).exit, 0);
  t.is((await keys('revoke', 'Acme', 'Acme App', prefix)).exit, 1);
  const it = await openPortalStore(root);
  t.teardown(() => it.close());
  t.is(await it.tenants.identify(key), undefined);
  t.is((await it.tenants.identify(plain.out.split('\n')[0] ?? ''))?.organization.name, 'Acme');
  t.is((await it.tenants.identify(monitor.key))?.application.role, 'Monitor');
});

test('the command line refuses invalid arguments', async (t) => {
  const { keys } = commandsIn(t);
  t.is((await keys('organization', 'Acme', '--identifier', '12.345', '--json')).exit, 0);
  t.is((await keys('organization', 'ACME')).exit, 2);
  t.is((await keys('create', 'Acme', 'a|b')).exit, 2);
  t.is((await keys('create', 'Acme', 'App', '--role', 'Monitor')).exit, 2);
  t.is((await keys('create', 'Acme')).exit, 2);
  const [acme] = JSON.parse((await keys('list', '--json')).out) as {
    name: string;
    identifier: string;
    applications: unknown[];
  }[];
  t.like(acme, { name: 'Acme', identifier: '12.345', applications: [] });
});

test('while the service runs, the command changes nothing and names the API call to use', async (t) => {
  const { root, keys } = commandsIn(t);
  const store = openLmdbStore({ folder: join(root, 'db') });
  t.teardown(() => store.close());
  const { exit, err, out } = await keys('create', 'Acme', 'App');
  t.is(exit, 3);
  t.is(out, '');
  t.regex(err, new RegExp(`process ${process.pid}\\)`));
  t.regex(err, /POST \/api\/admin\/organizations\/\{id\}\/applications\/\{applicationId\}\/keys at http/);
});

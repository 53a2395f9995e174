import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeFailure, systemIds } from '@sealwright/runtime';
import test from 'ava';
import { organizationName } from '../../../actors/portal/accounts/organizations.ts';
import {
  keepHistoryKey,
  loadOrCreateApiKey,
  markKeys,
  openKeyFolder,
  refuseLostKeys,
  refuseOtherKeys,
} from '../../../service/key-folder.ts';

const freshPath = () => join(mkdtempSync(join(tmpdir(), 'sealwright-keys-')), 'keys');

test('the API key is created once, readable by its owner only, and read later', async (t) => {
  const path = freshPath();
  const first = await loadOrCreateApiKey(openKeyFolder(path, systemIds), systemIds);
  const second = await loadOrCreateApiKey(openKeyFolder(path, systemIds), systemIds);
  t.true(first.made);
  t.regex(first.value, /^[\w-]{43}$/);
  t.false(second.made);
  t.is(second.value, first.value);
  t.is(statSync(path).mode & 0o777, 0o700);
  t.is(statSync(first.path).mode & 0o777, 0o600);
  t.deepEqual(readdirSync(path), ['api-key']);
});

test('two concurrent starts have the same key', async (t) => {
  const folder = openKeyFolder(freshPath(), systemIds);
  const kept = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateApiKey(folder, systemIds)));
  t.is(new Set(kept.map(({ value }) => value)).size, 1);
  t.is(kept.filter(({ made }) => made).length, 1);
});

test('a key file that others can read is refused with the command that corrects it', async (t) => {
  const folder = openKeyFolder(freshPath(), systemIds);
  const { path } = await loadOrCreateApiKey(folder, systemIds);
  chmodSync(path, 0o644);
  const failure = describeFailure(await t.throwsAsync(loadOrCreateApiKey(folder, systemIds)));
  t.is(failure.code, 'keys.unusable');
  t.regex(failure.message, /chmod 600/);
});

test('an empty key file is refused, not replaced', async (t) => {
  const folder = openKeyFolder(freshPath(), systemIds);
  writeFileSync(join(folder.path, 'api-key'), '', { mode: 0o600 });
  t.is(describeFailure(await t.throwsAsync(loadOrCreateApiKey(folder, systemIds))).code, 'keys.unusable');
});

test('a key folder that cannot be created is a failure with a code', (t) => {
  const file = join(mkdtempSync(join(tmpdir(), 'sealwright-keys-')), 'file');
  writeFileSync(file, '');
  const failure = describeFailure(t.throws(() => openKeyFolder(join(file, 'keys'), systemIds)));
  t.is(failure.code, 'keys.unusable');
  t.regex(failure.message, /ENOTDIR/);
});

test('a stored text can be replaced as a whole, readable by its owner only, and no other file is left', async (t) => {
  const path = freshPath();
  const folder = openKeyFolder(path, systemIds);
  t.is(folder.read('ring'), undefined);
  folder.replace('ring', 'one');
  folder.replace('ring', 'two');
  t.is(openKeyFolder(path, systemIds).read('ring'), 'two');
  t.is(statSync(join(path, 'ring')).mode & 0o777, 0o600);
  t.deepEqual(readdirSync(path), ['ring']);
  rmSync(path, { recursive: true });
  t.is(describeFailure(t.throws(() => folder.replace('ring', 'three'))).code, 'keys.unusable');
});

test('keys are read where they are mounted, and what changes stays in the other folder', async (t) => {
  const mounted = freshPath();
  const changing = freshPath();
  const { value } = await loadOrCreateApiKey(openKeyFolder(mounted, systemIds), systemIds);
  openKeyFolder(mounted, systemIds).replace('ring', 'of the first node');
  await loadOrCreateApiKey(openKeyFolder(changing, systemIds), systemIds);
  const folder = openKeyFolder(mounted, systemIds, changing);
  t.is((await loadOrCreateApiKey(folder, systemIds)).value, value);
  t.is(folder.read('ring'), 'of the first node');
  folder.replace('ring', 'changed');
  t.is(folder.read('ring'), 'changed');
  t.is(openKeyFolder(mounted, systemIds).read('ring'), 'of the first node');
});

test('a node whose keys differ from those of an earlier one is refused with the name of the key', async (t) => {
  const [one, other] = await Promise.all(
    [1, 2].map(() =>
      markKeys(openKeyFolder(freshPath(), systemIds), systemIds, { hasPortal: true, hasApiKey: true }),
    ),
  );
  t.deepEqual(Object.keys(one ?? {}), ['job-secret', 'history-key', 'portal-secret']);
  const weak = await Promise.all(
    [1, 2].map(async () => {
      const folder = openKeyFolder(freshPath(), systemIds);
      folder.replace('api-key', 'weak');
      return (await markKeys(folder, systemIds, { hasPortal: false, hasApiKey: false }))['api-key'];
    }),
  );
  t.not(weak[0], weak[1]);
  const common = {
    openedAt: 0,
    silentMs: 0,
    leaseSeconds: 5,
    isDraining: false,
    leases: [],
    effectsLeased: 0,
  };
  const list = async () => [
    { ...common, name: 'node-1', session: 1, isThis: false, info: { keys: one ?? {} }, report: null },
    { ...common, name: 'node-2', session: 2, isThis: true, info: { keys: other ?? {} }, report: null },
    { ...common, name: 'node-3', session: 3, isThis: false, info: { keys: {} }, report: null },
  ];
  await t.notThrowsAsync(refuseOtherKeys({ list }, one ?? {}, '/keys'));
  await t.notThrowsAsync(refuseOtherKeys(undefined, other ?? {}, '/keys'));
  const lost = async () => (await list()).map((node) => ({ ...node, silentMs: node.isThis ? 0 : 5000 }));
  await t.notThrowsAsync(refuseOtherKeys({ list: lost }, other ?? {}, '/keys'));
  const failure = describeFailure(await t.throwsAsync(refuseOtherKeys({ list }, other ?? {}, '/keys')));
  t.is(failure.code, 'keys.differ');
  t.regex(
    failure.message,
    /^\/keys\/job-secret is not the job-secret of the node node-1\. Give all nodes the same keys/,
  );
});

async function usedFolder(): Promise<string> {
  const folder = openKeyFolder(freshPath(), systemIds);
  await keepHistoryKey(folder);
  return folder.path;
}

test('a start without keys is refused beside a store with organizations, and makes no new ones', async (t) => {
  const keys = openKeyFolder(freshPath(), systemIds);
  const holder = { kind: 'organization', id: '1' };
  const named = (...names: string[]) => ({ names: async () => names.map((name) => ({ name, holder })) });
  const used = named(organizationName('Acme'));
  await t.notThrowsAsync(refuseLostKeys(named(), keys));
  await t.notThrowsAsync(refuseLostKeys(named('upload:1'), keys));
  await t.throwsAsync(refuseLostKeys(used, keys), {
    code: 'keys.missing',
    message: /put it back from a backup/,
  });
  t.deepEqual(readdirSync(keys.path), []);
  // Keys of a start before Storage:KeysPath was set are not those of a mount that is lost.
  const mounted = openKeyFolder(freshPath(), systemIds, await usedFolder());
  await t.throwsAsync(refuseLostKeys(used, mounted), { code: 'keys.missing' });
  // A command has made an organization before the first start.
  await keepHistoryKey(keys);
  await t.notThrowsAsync(refuseLostKeys(used, keys));
});

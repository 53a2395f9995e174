import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeFailure, systemIds } from '@sealwright/runtime';
import test from 'ava';
import { loadOrCreateApiKey, openKeyFolder } from '../../../service/key-folder.ts';

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

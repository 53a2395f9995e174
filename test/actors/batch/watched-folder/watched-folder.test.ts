import { execFile } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { withTools } from '../../../verifiers/tool.ts';
import { createHarness } from './harness.ts';

const run = promisify(execFile);

test('a missing folder is no error and is watched once it appears', async (t) => {
  const h = createHarness({ missing: true });
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  t.deepEqual(h.watched.state(), { phase: 'Running', exists: false, notices: 'none', error: null });
  t.false(await h.watched.exists());
  const offered = h.until(() => h.offers.length === 1);
  mkdirSync(h.folder);
  h.put('a.pdf');
  await offered;
  t.true(h.watched.state().exists);
  h.put('b.pdf');
  await h.settled();
  t.deepEqual(h.namesOffered(), ['a.pdf', 'b.pdf']);
});

test('a folder that is removed and recreated is watched as before', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  h.put('a.pdf', 'before');
  await h.until(() => h.offers.length === 1);
  const missed = h.until(() => !h.watched.state().exists);
  rmSync(h.folder, { recursive: true });
  await missed;
  mkdirSync(h.folder);
  h.put('a.pdf', 'before');
  await h.until(() => h.offers.length === 2);
  h.putWhole('b.pdf');
  await h.settled();
  t.deepEqual(h.namesOffered(), ['a.pdf', 'a.pdf', 'b.pdf']);
});

test('a directory that replaces the folder is detected and watched', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  mkdirSync(join(h.base, 'next'));
  writeFileSync(join(h.base, 'next', 'found.pdf'), 'content');
  const found = h.until(() => h.offers.length === 1);
  renameSync(h.folder, join(h.base, 'previous'));
  renameSync(join(h.base, 'next'), h.folder);
  await found;
  const offered = h.until(() => h.offers.length === 2);
  h.put('new.pdf');
  await offered;
  t.is(h.offers[1]?.seen, 'event');
});

test('a folder that is a symbolic link to a directory is watched', async (t) => {
  const h = createHarness({ missing: true });
  t.teardown(h.close);
  mkdirSync(join(h.base, 'real'));
  symlinkSync(join(h.base, 'real'), h.folder);
  h.watched.start();
  await h.watched.ready;
  h.put('a.pdf');
  await h.until(() => h.offers.length === 1);
  t.is(h.offers[0]?.seen, 'event');
  t.is(h.offers[0]?.path, h.at('a.pdf'));
});

test('a folder with any characters in its name is watched', async (t) => {
  for (const folderName of ['in\\put', 'new\nline', '*[a]{b}', 'entrée']) {
    const h = createHarness({ folderName, settings: { sweepIntervalMs: 50 } });
    t.teardown(h.close);
    h.watched.start();
    await h.watched.ready;
    h.put('a.pdf');
    await h.until(() => h.offers.length === 1);
    t.is(h.offers[0]?.path, h.at('a.pdf'));
  }
});

test('a file with the name of its folder is an ordinary file', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  h.put('input');
  await h.until(() => h.offers.length === 1);
  t.is(h.offers[0]?.fileName, 'input');
});

test('a file at the path of the folder is reported, and the folder is watched once it is a directory', async (t) => {
  const h = createHarness({ missing: true });
  t.teardown(h.close);
  writeFileSync(h.folder, 'not a directory');
  h.watched.start();
  await h.watched.ready;
  t.is(h.watched.state().error, `The input folder ${h.folder} cannot be read: it is not a directory`);
  rmSync(h.folder);
  mkdirSync(h.folder);
  h.put('a.pdf');
  await h.until(() => h.offers.length === 1);
  await h.until(() => h.watched.state().error === null);
  t.true(h.watched.state().exists);
});

test('listings find files without a file system event', async (t) => {
  const h = createHarness({ settings: { sweepIntervalMs: 50 } });
  t.teardown(h.close);
  mkdirSync(join(h.base, 'real'));
  h.watched.start();
  await h.watched.ready;
  // The watch stays with the directory that was there before.
  rmSync(h.folder, { recursive: true });
  symlinkSync(join(h.base, 'real'), h.folder);
  const offered = h.until(() => h.offers.length === 1);
  writeFileSync(join(h.base, 'real', 'a.pdf'), 'content');
  await offered;
  t.is(h.offers[0]?.fileName, 'a.pdf');
});

test('a stopped watcher offers nothing and reports its state', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  h.put('pending.pdf');
  await h.until(() => h.offers.length === 1);
  h.watched.recheck(h.at('pending.pdf'));
  const stopping = h.watched.stop();
  h.put('late.pdf');
  await stopping;
  t.is(h.watched.state().phase, 'Stopped');
  t.is(h.states.at(-1)?.phase, 'Stopped');
  t.is(h.watched.stop(), stopping);
  h.watched.recheck(h.at('late.pdf'));
  h.watched.start();
  // Another watcher says when these files would have been offered.
  const other = createHarness({ base: h.base });
  t.teardown(other.close);
  other.watched.start();
  await other.settled();
  t.deepEqual(other.namesOffered(), ['late.pdf', 'pending.pdf']);
  t.deepEqual(h.namesOffered(), ['pending.pdf'], 'before the stop');
});

test('a watcher stopped before its start is ready and stopped', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  await h.watched.stop();
  await h.watched.ready;
  t.is(h.watched.state().phase, 'Stopped');
});

const STOP_SCRIPT = fileURLToPath(new URL('./stop-in-process.js', import.meta.url));

test('stop at any moment leaves no handle that keeps the process alive', async (t) => {
  for (const moment of ['at-once', 'initializing', 'ready', 'busy', 'missing', 'unused-thread']) {
    const { stdout } = await run(process.execPath, [STOP_SCRIPT, moment], { timeout: 90_000 });
    t.is(stdout, 'stopped\n', moment);
  }
});

test('an unreadable file or folder is reported, and used once it is readable', async (t) => {
  const { stdout } = await run(process.execPath, [STOP_SCRIPT, 'unreadable'], { timeout: 90_000 });
  const [file, afterFile, folder, afterFolder, last] = stdout.trimEnd().split('\n');
  t.regex(file ?? '', /^The file .*\/closed\.pdf cannot be read \(EACCES\)\. open\.pdf$/);
  t.is(afterFile, 'null closed.pdf,open.pdf');
  t.regex(folder ?? '', /^The input folder .* cannot be read: EACCES/);
  t.is(afterFolder, 'null closed.pdf,later.pdf,open.pdf');
  t.is(last, 'stopped');
});

withTools(test, 'unshare')('a folder without change events is listed periodically instead', async (t) => {
  const script = 'echo 0 > /proc/sys/user/max_inotify_watches && exec "$0" "$@"';
  const unshare = ['--user', '--map-root-user', 'sh', '-c', script, process.execPath];
  const { stdout } = await run('unshare', [...unshare, STOP_SCRIPT, 'no-notices'], { timeout: 90_000 });
  t.is(stdout, 'polling sweep\nstopped\n');
});

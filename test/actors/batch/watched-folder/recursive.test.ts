import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { SYSTEM_FILES } from '../../../../actors/batch/watched-folder/ignored-names.ts';
import { createHarness, type Harness } from './harness.ts';

const RECURSIVE = { settings: { recursive: true } };

/** Paths relative to the folder, sorted. */
function pathsOffered(h: Harness): string[] {
  return h.offers.map(({ subfolder, fileName }) => join(subfolder, fileName)).sort();
}

test('existing files in directories below a recursive folder are found at start', async (t) => {
  const h = createHarness(RECURSIVE);
  t.teardown(h.close);
  mkdirSync(h.at('2026/may'), { recursive: true });
  h.put('top.pdf');
  h.put('2026/a.pdf');
  h.put('2026/may/a.pdf');
  h.watched.start();
  await h.watched.ready;
  t.deepEqual(pathsOffered(h), ['2026/a.pdf', '2026/may/a.pdf', 'top.pdf']);
  t.deepEqual(h.offers.map(({ path }) => path).sort(), [
    h.at('2026/a.pdf'),
    h.at('2026/may/a.pdf'),
    h.at('top.pdf'),
  ]);
});

test('a directory created or moved below a recursive folder is watched at once', async (t) => {
  const h = createHarness(RECURSIVE);
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  mkdirSync(h.at('made/deep'), { recursive: true });
  h.put('made/deep/at-once.pdf');
  await h.until(() => h.offers.length === 1);
  h.put('made/deep/later.pdf');
  await h.until(() => h.offers.length === 2);
  t.is(h.offers[1]?.seen, 'event');
  mkdirSync(join(h.base, 'outside'));
  renameSync(join(h.base, 'outside'), h.at('moved-in'));
  h.put('moved-in/b.pdf');
  await h.until(() => h.offers.length === 3);
  renameSync(h.at('made'), h.at('renamed'));
  await h.until(() => h.offers.length === 5);
  h.put('renamed/deep/new.pdf');
  await h.until(() => h.offers.length === 6);
  t.deepEqual(pathsOffered(h), [
    'made/deep/at-once.pdf',
    'made/deep/later.pdf',
    'moved-in/b.pdf',
    'renamed/deep/at-once.pdf',
    'renamed/deep/later.pdf',
    'renamed/deep/new.pdf',
  ]);
});

test('a directory removed and recreated below a recursive folder is watched as before', async (t) => {
  const h = createHarness(RECURSIVE);
  t.teardown(h.close);
  mkdirSync(h.at('sub'));
  h.put('sub/a.pdf');
  h.watched.start();
  await h.watched.ready;
  rmSync(h.at('sub'), { recursive: true });
  mkdirSync(h.at('sub'));
  h.put('sub/b.pdf');
  await h.until(() => h.offers.some(({ fileName }) => fileName === 'b.pdf'));
  h.put('sub/c.pdf');
  await h.until(() => h.offers.some(({ fileName }) => fileName === 'c.pdf'));
  t.is(h.watched.state().error, null);
});

test('ignored directories, links to directories and their files are left out of a recursive folder', async (t) => {
  const h = createHarness(RECURSIVE);
  t.teardown(h.close);
  mkdirSync(h.at('.git/objects'), { recursive: true });
  mkdirSync(h.at('upload.part'));
  mkdirSync(join(h.base, 'elsewhere'));
  symlinkSync(join(h.base, 'elsewhere'), h.at('link'));
  symlinkSync(h.folder, h.at('loop'));
  for (const path of ['.git/a.pdf', '.git/objects/a.pdf', 'upload.part/a.pdf', '../elsewhere/a.pdf'])
    h.put(path);
  h.watched.start();
  await h.watched.ready;
  for (const path of ['.git/b.pdf', 'upload.part/b.pdf', '../elsewhere/b.pdf']) h.put(path);
  h.watched.recheck(h.at('.git/a.pdf'));
  h.watched.recheck(h.at('link/../../elsewhere/a.pdf'));
  await h.settled();
  t.deepEqual(pathsOffered(h), []);
});

/** A name that each entry of the table ignores, … */
const IGNORED = SYSTEM_FILES.map((name) => name.replaceAll('*', 'a'));
/** … and one that differs from it in one respect. */
const OTHERS = SYSTEM_FILES.map((name, at) => (name.endsWith('*') ? `x${IGNORED[at]}` : `${IGNORED[at]}x`));
const SYSTEM_PATHS = [
  ...IGNORED.map((name) => `names/${name}`),
  ...IGNORED.map((name) => `sub/${name.toUpperCase()}`),
  'sub/@eaDir/SYNOFILE_THUMB_M.jpg',
  '#recycle/old.txt',
  '$Recycle.Bin/S-1/a.txt',
  'lost+found/a.txt',
  'System Volume Information/IndexerVolumeGuid',
  '__MACOSX/a.txt',
  '@Recycle/a.txt',
  'sub/sync.ffs_lock',
  'invoice.pdf:Zone.Identifier',
  '#invoice.txt#',
  'scan.pdf_part',
];
/** Names that differ from the above in one respect. */
const REAL_PATHS = [
  ...OTHERS,
  'my desktop.ini',
  'big.partial.pdf',
  'download',
  'lock.a.odt#',
  '14913',
  '#1 invoice.pdf',
  'part.pdf',
  'eaDir/a.jpg',
  'recycle/old.txt',
  'sub/real.txt',
  'MACOSX/a.txt',
];

test('files that systems, file servers and transfers put into shares are never offered, at start and by event', async (t) => {
  // Without the rules of extensions and prefixes, which cover some of them as well.
  const h = createHarness({ settings: { recursive: true, ignoredExtensions: [], ignoredPrefixes: [] } });
  t.teardown(h.close);
  const put = (paths: readonly string[]) => {
    for (const path of paths) {
      mkdirSync(join(h.folder, path, '..'), { recursive: true });
      h.put(path);
    }
  };
  put([...SYSTEM_PATHS, ...REAL_PATHS]);
  h.watched.start();
  await h.watched.ready;
  t.deepEqual(pathsOffered(h), [...REAL_PATHS].sort());
  put(SYSTEM_PATHS.map((path) => `later/${path}`));
  put(['later/real.txt']);
  await h.until(() => pathsOffered(h).includes('later/real.txt'));
  await h.settled();
  t.deepEqual(pathsOffered(h), [...REAL_PATHS, 'later/real.txt'].sort());
});

test('a folder that is not recursive ignores directories, at start, by event and at a rescan', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  mkdirSync(h.at('sub'));
  h.put('sub/a.pdf');
  h.watched.start();
  await h.watched.ready;
  h.put('sub/b.pdf');
  h.watched.recheck(h.at('sub/a.pdf'));
  await h.settled();
  t.deepEqual(pathsOffered(h), []);
});

test('a job that leaves another file in a subdirectory causes an offer of that file', async (t) => {
  const h = createHarness(RECURSIVE);
  t.teardown(h.close);
  mkdirSync(h.at('sub'));
  h.put('sub/a.pdf');
  h.watched.start();
  await h.watched.ready;
  h.watched.recheck(h.at('sub/a.pdf'));
  await h.until(() => h.offers.length === 2);
  t.is(h.offers[1]?.path, h.at('sub/a.pdf'));
});

test('names that are not UTF-8 are reported with their subdirectory', async (t) => {
  const h = createHarness(RECURSIVE);
  t.teardown(h.close);
  mkdirSync(h.at('sub'));
  execFileSync('sh', ['-c', `printf x > "$(printf 'bad\\377')"`], { cwd: h.at('sub') });
  h.put('sub/good.pdf');
  h.watched.start();
  await h.watched.ready;
  await h.until(() => h.lines.some(({ properties }) => properties.NameBytes === 'sub/626164ff'));
  t.deepEqual(pathsOffered(h), ['sub/good.pdf']);
});

// Root may list everything.
(process.getuid?.() === 0 ? test.skip : test)(
  'an unreadable subdirectory is reported and does not stop the others',
  async (t) => {
    const h = createHarness(RECURSIVE);
    t.teardown(h.close);
    mkdirSync(h.at('closed'));
    mkdirSync(h.at('open'));
    h.put('open/a.pdf');
    chmodSync(h.at('closed'), 0);
    h.watched.start();
    await h.watched.ready;
    t.deepEqual(pathsOffered(h), ['open/a.pdf']);
    t.regex(h.watched.state().error ?? '', /closed cannot be read/);
    chmodSync(h.at('closed'), 0o755);
  },
);

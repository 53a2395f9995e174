import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { fileDigest } from '../../../../actors/shared/files/digest.ts';
import { inodeOf, mtimeOf } from '../../../../actors/shared/files/directories.ts';
import { isPublished, publish } from '../../../../actors/shared/files/publish.ts';
import { stage } from '../../../../actors/shared/files/stage.ts';
import { quarantine, removeOriginal } from '../../../../actors/shared/files/tidy.ts';
import { WorkingFolders } from '../../../../actors/shared/files/working-folders.ts';
import type { StagedInput } from '../../../../machines/batch/job-context.ts';

interface FilesFixture {
  readonly root: string;
  path(...names: string[]): string;
  file(name: string, content: string): string;
}

function filesFixture(t: { teardown(task: () => void): void }): FilesFixture {
  const root = mkdtempSync(join(tmpdir(), 'sealwright-files-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ['input', 'processing', 'output', 'error']) mkdirSync(join(root, name));
  const path = (...names: string[]) => join(root, ...names);
  return {
    root,
    path,
    file(name, content) {
      writeFileSync(path(name), content);
      return path(name);
    },
  };
}

/** Everything signing this file noted; `age` milliseconds lie between its last change and the reading. */
function fingerprint(path: string, age = 60_000): StagedInput {
  const stat = lstatSync(path, { bigint: true });
  return {
    sha256: createHash('sha256').update(readFileSync(path)).digest('hex'),
    length: Number(stat.size),
    mtimeMs: mtimeOf(stat),
    inode: inodeOf(stat),
    readAt: mtimeOf(stat) + age,
  };
}

test('staging keeps the original in place and restarts from an empty folder when repeated', (t) => {
  const { path, file } = filesFixture(t);
  const folders = new WorkingFolders(path('processing'), 1);
  const original = file('input/a.txt', 'one');
  const staged = stage(original, folders.open('job'), 'a.txt');
  writeFileSync(path('processing', 'job', 'half-written.signed'), 'x');
  t.deepEqual(stage(original, folders.open('job'), 'a.txt'), staged);
  t.deepEqual(readdirSync(path('processing', 'job')), ['a.txt']);
  t.is(readFileSync(staged.path, 'utf8'), 'one');
  const { inode, mtimeMs } = fingerprint(original);
  t.deepEqual(staged, { path: path('processing', 'job', 'a.txt'), inode, mtimeMs });
  t.is(mtimeMs, lstatSync(original).mtimeMs, 'as watchers see it');
  t.is(readFileSync(original, 'utf8'), 'one');
});

test('a closed working folder is empty before another job gets it, also after a repeated attempt', (t) => {
  const { path, file } = filesFixture(t);
  const folders = new WorkingFolders(path('processing'), 1);
  folders.open('first');
  file('processing/first/a.txt', 'of the first');
  folders.close('first');
  folders.close('first');
  t.false(existsSync(path('processing', 'first')));
  t.deepEqual(readdirSync(folders.open('second')), []);
  file('processing/second/a.txt', 'of the second');
  folders.open('third');
  folders.close('third');
  t.deepEqual(readdirSync(folders.open('second')), [], 'a redo finds what its first try left, and clears it');
  t.deepEqual(readdirSync(folders.open('fourth')), []);
});

test('a thread that opens gets the folders of one that closes, each once', (t) => {
  const { path } = filesFixture(t);
  const closes = new WorkingFolders(path('processing'), 1);
  const opens = new WorkingFolders(path('processing'), 2);
  const inodes = ['first', 'second'].map((job) => lstatSync(closes.open(job)).ino);
  for (const job of ['first', 'second']) closes.close(job);
  // Another part of the service writes to this one.
  mkdirSync(path('processing', '.spare-warm-1'));
  const taken = ['third', 'fourth'].map((job) => lstatSync(opens.open(job)).ino);
  t.deepEqual(taken.sort(), inodes.sort());
  t.false(inodes.includes(lstatSync(closes.open('fifth')).ino));
  t.deepEqual(readdirSync(path('processing')).sort(), ['.spare-warm-1', 'fifth', 'fourth', 'third']);
});

test('a folder of working folders that cannot be read is told of by the path of the new one', (t) => {
  const { path } = filesFixture(t);
  const folders = new WorkingFolders(path('nowhere'), 1);
  const error: NodeJS.ErrnoException | undefined = t.throws(() => folders.open('job'));
  t.like(error, { code: 'ENOENT', path: path('nowhere', 'job') });
});

test('an upload whose process ended before the rename is staged under its final name', (t) => {
  const { path, file } = filesFixture(t);
  file('input/.0b2c.pdf.part', 'uploaded');
  const staged = stage(
    path('input', '0b2c.pdf'),
    new WorkingFolders(path('processing'), 1).open('job'),
    'report.pdf',
  );
  t.is(readFileSync(staged.path, 'utf8'), 'uploaded');
  t.deepEqual(readdirSync(path('input')), ['0b2c.pdf']);
});

test('a symbolic link at the path of the input is refused for any target', (t) => {
  const { path, file } = filesFixture(t);
  symlinkSync(file('secret', 'key'), path('input', 'a.txt'));
  t.throws(
    () => stage(path('input', 'a.txt'), new WorkingFolders(path('processing'), 1).open('job'), 'a.txt'),
    {
      code: 'input.unreadable',
    },
  );
});

test('a name that is too long for the file system is staged under a shorter one', (t) => {
  const { path, file } = filesFixture(t);
  const original = file('input/a.pdf', 'one');
  const staged = stage(
    original,
    new WorkingFolders(path('processing'), 1).open('job'),
    `${'ä'.repeat(300)}.pdf`,
  );
  t.true(existsSync(staged.path));
  t.true(staged.path.endsWith('ä.pdf'));
});

test('publishing never overwrites an existing file, and recognizes its own', (t) => {
  const { path, file } = filesFixture(t);
  mkdirSync(path('processing', 'job'));
  const signed = file('processing/job/a.signed.txt', 'mine');
  file('output/a.signed.txt', 'somebody else');
  const names = ['a.signed.txt', 'a-12345678.signed.txt'];
  t.is(publish(signed, path('output'), names), 'a-12345678.signed.txt');
  t.is(publish(signed, path('output'), names), 'a-12345678.signed.txt', 'done again: the same name');
  t.is(readFileSync(path('output', 'a.signed.txt'), 'utf8'), 'somebody else');
  t.throws(() => publish(signed, path('output'), ['a.signed.txt']), { code: 'output.exists' });
});

test('a name that the file system of the output folder refuses is reported as such', (t) => {
  const { path, file } = filesFixture(t);
  mkdirSync(path('processing', 'job'));
  const signed = file('processing/job/a.signed.txt', 'mine');
  const error = t.throws(() => publish(signed, path('output'), [`${'n'.repeat(252)}.txt`]), {
    code: 'output.name-refused',
  });
  t.regex(error?.message ?? '', /takes no file of the name n+\.txt \(ENAMETOOLONG\).*another name/);
  t.throws(() => publish(signed, path('missing'), ['a.signed.txt']), { code: 'ENOENT' });
  t.deepEqual(readdirSync(path('output')), []);
});

test('equal bytes of another job are not recognized as an own output', (t) => {
  const { path, file } = filesFixture(t);
  mkdirSync(path('processing', 'job'));
  const signed = file('processing/job/a.signed.txt', 'same');
  t.false(isPublished(signed, file('output/a.signed.txt', 'same')));
});

test('the original is removed when it is the signed file', (t) => {
  const { file } = filesFixture(t);
  const original = file('input/a.txt', 'one');
  const signed = fingerprint(original);
  t.is(removeOriginal(original, signed), 'removed');
  t.is(removeOriginal(original, signed), 'gone', 'done again');
});

test('a rewritten, replaced or relinked original stays in place', (t) => {
  const { path, file } = filesFixture(t);
  const original = file('input/a.txt', 'one');
  const signed = fingerprint(original);
  writeFileSync(original, 'two');
  t.is(removeOriginal(original, signed), 'diverged', 'same size, another time: the bytes decide');
  writeFileSync(original, 'longer');
  t.is(removeOriginal(original, signed), 'diverged', 'another size');
  unlinkSync(original);
  symlinkSync(path('output'), original);
  t.is(removeOriginal(original, signed), 'diverged', 'a link');
  t.true(lstatSync(original).isSymbolicLink());
});

test('an original rewritten in the same clock tick as its reading stays in place, however late it is compared', (t) => {
  const { file } = filesFixture(t);
  const original = file('input/a.txt', 'one');
  utimesSync(original, 1_000, 1_000);
  const signed = fingerprint(original, 10);
  writeFileSync(original, 'two');
  utimesSync(original, 1_000, 1_000);
  t.is(removeOriginal(original, signed), 'diverged');
  t.is(readFileSync(original, 'utf8'), 'two');
});

test('an original written again on a share whose clock is behind, with the time it had, stays in place', (t) => {
  const { file } = filesFixture(t);
  const original = file('input/a.txt', 'one');
  const minuteAgo = Date.now() / 1000 - 60;
  utimesSync(original, minuteAgo, minuteAgo);
  const signed = fingerprint(original);
  writeFileSync(original, 'two');
  utimesSync(original, minuteAgo, minuteAgo);
  t.is(removeOriginal(original, signed), 'diverged');
  t.is(readFileSync(original, 'utf8'), 'two');
});

test('an original that is written during its second reading stays in place', (t) => {
  const { file } = filesFixture(t);
  const original = file('input/a.txt', 'one');
  const outcome = removeOriginal(original, fingerprint(original), (read) => {
    const digest = fileDigest(read);
    writeFileSync(original, 'one and more');
    return digest;
  });
  t.is(outcome, 'diverged');
  t.is(readFileSync(original, 'utf8'), 'one and more');
});

test('a file that replaces the original during its second reading is not removed', (t) => {
  const { path, file } = filesFixture(t);
  const original = file('input/a.txt', 'one');
  const outcome = removeOriginal(original, fingerprint(original, 0), (read) => {
    const digest = fileDigest(read);
    renameSync(file('newer', 'new'), original);
    return digest;
  });
  t.is(outcome, 'diverged');
  t.is(readFileSync(path('input', 'a.txt'), 'utf8'), 'new');
});

test('an original that was touched, or copied onto itself, still counts as the signed one', (t) => {
  const { file } = filesFixture(t);
  const original = file('input/a.txt', 'one');
  const signed = fingerprint(original);
  utimesSync(original, 1, 1);
  t.is(removeOriginal(original, signed), 'removed');
});

test('quarantine removes an output that another node published until its folder was moved', (t) => {
  const { path, file } = filesFixture(t);
  // An attempt that was interrupted after the move left this.
  mkdirSync(path('error', 'job'));
  const signed = file('error/job/a.signed.txt', 'mine');
  linkSync(signed, path('output', 'a.signed.txt'));
  const published = { output: path('output'), names: ['a.signed.txt'], signedNames: ['a.signed.txt'] };
  quarantine(path('processing', 'job'), path('error', 'job'), published);
  t.deepEqual(readdirSync(path('output')), []);
  t.is(readFileSync(signed, 'utf8'), 'mine');
});

test('quarantine removes an output only if its publication was not committed', (t) => {
  const { path, file } = filesFixture(t);
  mkdirSync(path('processing', 'job'));
  const signed = file('processing/job/a.signed.txt', 'mine');
  file('output/a.signed.txt', 'somebody else');
  linkSync(signed, path('output', 'a-12345678.signed.txt'));
  const published = {
    output: path('output'),
    names: ['a.signed.txt', 'a-12345678.signed.txt'],
    signedNames: ['a.signed.txt'],
  };
  quarantine(path('processing', 'job'), path('error', 'job'), published);
  t.deepEqual(readdirSync(path('output')), ['a.signed.txt']);
  t.is(readFileSync(path('error', 'job', 'a.signed.txt'), 'utf8'), 'mine');
  t.false(existsSync(path('processing', 'job')));
  quarantine(path('processing', 'job'), path('error', 'job'), published);
  t.is(
    readFileSync(path('output', 'a.signed.txt'), 'utf8'),
    'somebody else',
    'done again: nothing more happens',
  );
});

test('hashing many small files takes no memory outside the heap for each', (t) => {
  const disk = filesFixture(t);
  const path = disk.file('input/small.pdf', 'PDF');
  const expected = fileDigest(path);
  const before = process.memoryUsage().arrayBuffers;
  for (let n = 0; n < 8; n += 1) t.is(fileDigest(path), expected);
  t.true(process.memoryUsage().arrayBuffers - before < 1 << 20);
});

test('a file longer than a read is hashed completely', (t) => {
  const disk = filesFixture(t);
  const content = 'sealwright'.repeat(100_000);
  const path = disk.file('input/long.pdf', content);
  t.is(fileDigest(path), createHash('sha256').update(content).digest('hex'));
});

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createTarget, IN_MEMORY_BYTES, openSource } from '#crypto/core/files.js';

const folder = mkdtempSync(join(tmpdir(), 'sealwright-files-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

let names = 0;

function path(content?: string | Uint8Array): string {
  const name = join(folder, `file-${++names}`);
  if (content !== undefined) writeFileSync(name, content);
  return name;
}

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'none';
}

test('a source reports length, time and inode of the file system', (t) => {
  const name = path('content');
  const source = openSource(name);
  const stat = statSync(name, { bigint: true });
  t.is(source.size, 7);
  t.is(source.mtimeMs, statSync(name).mtimeMs);
  t.is(source.inode, `${stat.dev}:${stat.ino}`);
  source.close();
  source.close();
});

test('small and large files are read alike by position and in chunks', (t) => {
  for (const size of [0, 10, IN_MEMORY_BYTES, IN_MEMORY_BYTES + 1, 3 * IN_MEMORY_BYTES + 7]) {
    const content = Buffer.alloc(size, 'a quick brown fox ');
    const source = openSource(path(content));
    t.true(source.read(3, 5).equals(content.subarray(3, 8)));
    t.true(source.read(size - 2, 100).equals(content.subarray(Math.max(size - 2, 0))) || size === 0);
    t.is(source.read(size + 10, 5).length, 0);
    t.true(
      Buffer.concat([...source.chunks()].length === 0 ? [] : [...copies(source.chunks())]).equals(content),
    );
    t.true(
      Buffer.concat([...copies(source.chunks(5, size - 3))]).equals(
        content.subarray(5, Math.max(size - 3, 5)),
      ),
    );
    source.assertUnchanged();
    source.close();
  }
});

function* copies(chunks: Iterable<Buffer>): Generator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

test('links, folders, pipes and missing files are not opened', (t) => {
  const link = path();
  symlinkSync(path('x'), link);
  const directory = path();
  mkdirSync(directory);
  const pipe = path();
  execFileSync('mkfifo', [pipe]);
  for (const name of [link, directory, pipe, path()])
    t.is(
      codeOf(() => openSource(name)),
      'input.unreadable',
    );
});

test('a file that grows, shrinks or is touched while open is reported as changed', (t) => {
  const changes: readonly ((name: string) => void)[] = [
    (name) => appendFileSync(name, 'more'),
    (name) => truncateSync(name, 1),
    (name) => utimesSync(name, 1, 1),
  ];
  for (const change of changes) {
    const name = path('content');
    const source = openSource(name);
    change(name);
    t.is(
      codeOf(() => source.assertUnchanged()),
      'input.changed',
    );
    source.close();
  }
  const name = path(Buffer.alloc(IN_MEMORY_BYTES * 2));
  const source = openSource(name);
  truncateSync(name, IN_MEMORY_BYTES);
  t.is(
    codeOf(() => [...source.chunks()]),
    'input.changed',
  );
  source.close();
});

test('a target is new and private, and holds each byte at the position it was written to', (t) => {
  const name = path();
  const target = createTarget(name);
  target.write(Buffer.from('one '));
  target.write(Buffer.from('two '), Buffer.alloc(0), Buffer.from('three'));
  t.is(target.length, 13);
  target.sync();
  target.close();
  t.is(readFileSync(name, 'utf8'), 'one two three');
  t.is(statSync(name).mode & 0o007, 0);
  t.is(
    codeOf(() => createTarget(name)),
    'output.exists',
  );
  target.discard();
  t.true(existsSync(name), 'discard after close keeps the file');
});

test('a discarded target leaves nothing behind', (t) => {
  const name = path();
  const target = createTarget(name);
  target.write(Buffer.from('half'));
  target.discard();
  target.discard();
  t.false(existsSync(name));
  t.is(
    codeOf(() => target.write(Buffer.from('more'))),
    'output.unwritable',
  );
});

test('a symbolic link at the path of the target is refused, also a dangling one', (t) => {
  const link = path();
  symlinkSync(join(folder, 'nowhere'), link);
  t.is(
    codeOf(() => createTarget(link)),
    'output.exists',
  );
  t.false(existsSync(join(folder, 'nowhere')));
  const refused = t.throws(() => createTarget(join(folder, 'no', 'folder')));
  t.like(refused, { code: 'output.unwritable', cause: { code: 'ENOENT' } });
  t.like(
    t.throws(() => openSource(join(folder, 'none'))),
    { code: 'input.unreadable', cause: { code: 'ENOENT' } },
  );
});

/** The runtime as a package: the example of its README, and what its entries load. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { folderFor } from './folder.ts';

const PACKAGE = join(dirname(fileURLToPath(import.meta.resolve('@sealwright/runtime'))), '..');

/** Runs the example of the README until it has printed a mail, then kills it. */
async function mailOf(t: ExecutionContext, folder: string): Promise<string> {
  const child = spawn(process.execPath, ['example.mjs'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => void child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  child.kill('SIGKILL');
  await once(child, 'exit');
  return line;
}

test('the example of the README sends its mail, in one folder again and again', async (t) => {
  const folder = folderFor(t);
  const [, code = ''] = /```js\n(.*?)```/s.exec(readFileSync(join(PACKAGE, 'README.md'), 'utf8')) ?? [];
  writeFileSync(join(folder, 'example.mjs'), code);
  symlinkSync(join(PACKAGE, '..', 'node_modules'), join(folder, 'node_modules'));
  t.regex(await mailOf(t, folder), /^mail to ana@example\.com, reminder\//);
  t.regex(await mailOf(t, folder), /^mail to ana@example\.com, reminder\//);
});

/** Packages that an entry imports, directly or through files of the runtime. */
function packagesOf(entry: string, end: '.js' | '.d.ts'): readonly string[] {
  const packages = new Set<string>();
  const files = new Set([join(PACKAGE, 'dist', `${entry}${end}`)]);
  for (const file of files) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/(?:from |import |import\()'([^']+)'/g))
      if (name.startsWith('.')) files.add(join(dirname(file), name.replace(/\.[jt]s$/, end)));
      else if (!name.startsWith('node:')) packages.add(name);
  }
  return [...packages].sort();
}

test('each entry of the runtime loads the packages of its own driver alone', (t) => {
  t.deepEqual(packagesOf('core', '.js'), []);
  t.deepEqual(packagesOf('index', '.js'), ['comlink', 'lru-cache']);
  t.deepEqual(packagesOf('lmdb', '.js'), ['lmdb']);
  t.deepEqual(packagesOf('postgres', '.js'), []);
});

test('the types of each entry of the runtime need the types of its own driver alone', (t) => {
  t.deepEqual(packagesOf('core', '.d.ts'), []);
  t.deepEqual(packagesOf('index', '.d.ts'), ['xstate']);
  t.deepEqual(packagesOf('testing', '.d.ts'), []);
});

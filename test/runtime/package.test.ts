/** The runtime as a package: what its entries load, and which types they need. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const PACKAGE = join(dirname(fileURLToPath(import.meta.resolve('@sealwright/runtime'))), '..');

/** Packages that an entry imports, directly or through files of the runtime. */
function packagesOf(entry: string, end: '.js' | '.d.ts'): readonly string[] {
  const names = [...filesOf(entry, end).values()].flat();
  return [...new Set(names.filter((name) => !name.startsWith('node:')))].sort();
}

/** Imports of an entry and of the files of the runtime that it imports, from outside of the runtime, by file. */
function filesOf(entry: string, end: '.js' | '.d.ts'): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const files = new Set([join(PACKAGE, 'dist', `${entry}${end}`)]);
  for (const file of files) {
    found.set(file, []);
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/(?:from |import |import\()'([^']+)'/g))
      if (name.startsWith('.')) files.add(join(dirname(file), name.replace(/\.[jt]s$/, end)));
      else found.get(file)?.push(name);
  }
  return found;
}

test('each entry of the runtime loads the packages of its own driver alone', (t) => {
  t.deepEqual(packagesOf('core', '.js'), []);
  t.deepEqual(packagesOf('index', '.js'), ['comlink', 'lru-cache']);
  t.deepEqual(packagesOf('lmdb', '.js'), ['lmdb']);
  t.deepEqual(packagesOf('postgres', '.js'), []);
  t.deepEqual(packagesOf('memory', '.js'), []);
});

test('the types of each entry of the runtime need the types of its own driver alone', (t) => {
  t.deepEqual(packagesOf('core', '.d.ts'), []);
  t.deepEqual(packagesOf('index', '.d.ts'), ['xstate']);
  t.deepEqual(packagesOf('testing', '.d.ts'), ['xstate']);
  t.deepEqual(packagesOf('lmdb', '.d.ts'), []);
  t.deepEqual(packagesOf('postgres', '.d.ts'), []);
});

test('the types of the entries need none of Node, but those of histories and parts', (t) => {
  const { exports } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
    readonly exports: { readonly [entry: string]: string };
  };
  const entries = Object.values(exports).filter((path) => path.endsWith('.js'));
  t.true(entries.length > 8);
  for (const path of entries) {
    const entry = path.replace(/^.*\/(.*)\.js$/, '$1');
    if (entry === 'history' || entry === 'postgres-parts') continue;
    for (const [file, imports] of filesOf(entry, '.d.ts')) {
      t.deepEqual(
        imports.filter((name) => name.startsWith('node:')),
        [],
        `${entry}: ${file}`,
      );
      t.notRegex(
        readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, ''),
        /(?<!\w)(Buffer(?! ?:)|NodeJS)\b/,
        `${entry}: ${file}`,
      );
    }
  }
});

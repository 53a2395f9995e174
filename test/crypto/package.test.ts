import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const PACKAGE = join(dirname(fileURLToPath(import.meta.resolve('@sealwright/signatures'))), '..');

test('the example of the README of signatures signs a file and finds it valid', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-signatures-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [, code = ''] = /```js\n(.*?)```/s.exec(readFileSync(join(PACKAGE, 'README.md'), 'utf8')) ?? [];
  writeFileSync(join(folder, 'example.mjs'), code);
  symlinkSync(join(PACKAGE, '..', 'node_modules'), join(folder, 'node_modules'));
  const printed = execFileSync(process.execPath, ['example.mjs'], { cwd: folder, encoding: 'utf8' });
  t.is(printed, 'TOTAL-PASSED\n');
});

/** Packages that the compiled entry imports, directly or through files of its package. */
function packagesOf(entry: string): readonly string[] {
  const packages = new Set<string>();
  const files = new Set([join(PACKAGE, 'dist', `${entry}.js`)]);
  for (const file of files)
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/(?:from |^import )'([^']+)'/gm))
      if (name.startsWith('.')) files.add(join(dirname(file), name));
      else packages.add(name);
  return [...packages];
}

test('the readers of BER and PKCS#12 import nothing that browsers lack', (t) => {
  t.deepEqual(packagesOf('asn1'), []);
  t.deepEqual(packagesOf('pkcs12'), []);
});

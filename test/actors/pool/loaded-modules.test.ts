import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const DIST = fileURLToPath(new URL('../../../', import.meta.url));

/** Packages and modules that a module loads with itself: those of its static imports, of theirs, and so on. */
function loadedWith(entry: string): { readonly packages: string[]; readonly modules: string[] } {
  const packages = new Set<string>();
  const modules = new Set<string>();
  const waiting = [join(DIST, entry)];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (modules.has(path)) continue;
    modules.add(path);
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/(?:^import |\bfrom )'([^'\n]+)';$/gm))
      if (name.startsWith('.')) waiting.push(join(dirname(path), name));
      else if (!name.startsWith('node:')) packages.add(name);
  }
  return { packages: [...packages].sort(), modules: [...modules].map((path) => relative(DIST, path)).sort() };
}

test('a pool thread loads neither a store nor rarely used packages', (t) => {
  const { packages, modules } = loadedWith('actors/pool/worker/worker.js');
  t.true(modules.every((path) => existsSync(join(DIST, path))));
  t.true(modules.includes('crypto/pades/sign.js'), 'the search follows imports of imports');
  t.deepEqual(packages, ['harfbuzzjs', 'uqr']);
  t.deepEqual(
    modules.filter((path) => path.startsWith('runtime/')),
    ['clock', 'clocks-and-failures', 'failures', 'faults', 'ids'].map((name) => `runtime/${name}.js`),
  );
  t.deepEqual(
    modules.filter((path) => path.startsWith('actors/batch/') || path.startsWith('actors/portal/')),
    [],
  );
});

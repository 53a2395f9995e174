import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const DIST = fileURLToPath(new URL('../../..', import.meta.url));

/** Packages and modules that a bundle loads with itself: those in it, in the chunks that it imports statically, and so on. */
function loadedWith(entry: string): { readonly packages: string[]; readonly modules: string[] } {
  const packages = new Set<string>();
  const modules = new Set<string>();
  const files = new Set([join(DIST, entry)]);
  for (const path of files) {
    const text = readFileSync(path, 'utf8');
    // The bundler names each module above its code.
    for (const [, module = ''] of text.matchAll(/^\/\/ ([\w/.-]+)\.ts$/gm)) modules.add(module);
    for (const [, name = ''] of text.matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)/gm))
      packages.add(name);
    for (const [, name = ''] of text.matchAll(/(?:^import |^import .*\bfrom |^\} from )"([^"\n]+)";$/gm))
      if (name.startsWith('.')) files.add(join(dirname(path), name));
      else if (name !== 'module' && !name.startsWith('node:')) packages.add(name);
  }
  return { packages: [...packages].sort(), modules: [...modules].sort() };
}

test('a pool thread loads neither a store nor rarely used packages', (t) => {
  const { packages, modules } = loadedWith('actors/pool/worker/worker.js');
  t.true(modules.includes('crypto/pades/sign'), 'the search follows the chunks');
  t.deepEqual(packages, ['harfbuzzjs', 'lru-cache', 'uqr']);
  t.deepEqual(
    modules.filter((path) => path.startsWith('runtime/')),
    ['clock', 'failures', 'faults', 'ids', 'lease-deadline', 'store-formats'].map(
      (name) => `runtime/model/${name}`,
    ),
  );
  t.deepEqual(
    modules.filter((path) => path.startsWith('actors/batch/') || path.startsWith('actors/portal/')),
    [],
  );
});

/** Everything every thread that hosts actors has to load before it can take over from a lost one. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';

/** All compiled modules of this project that are loaded with one of them. */
function loadedWith(entry: URL): ReadonlySet<string> {
  const seen = new Set<string>();
  const waiting = [entry];
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    const path = fileURLToPath(url);
    if (seen.has(path) || !existsSync(path)) continue;
    seen.add(path);
    for (const [, from = ''] of readFileSync(path, 'utf8').matchAll(
      /^(?:import|export)[^;]*? from '(\.[^']+)'/gm,
    ))
      waiting.push(new URL(from, url));
  }
  return seen;
}

test('a thread that hosts actors loads their machines, and not the engine, the pages or the listeners', (t) => {
  const loaded = [...loadedWith(new URL('../../actors/shard-module.js', import.meta.url))];
  t.true(loaded.some((path) => path.endsWith('/machines/portal/documents/document.js')));
  t.deepEqual(
    loaded.filter((path) =>
      /\/(?:crypto|http|web|actors\/(?:pool|batch\/(?:effects|watched-folder)))\//.test(path),
    ),
    [],
  );
});

import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { clientScriptUrl, servedScript } from '../../../http/core/client-scripts.ts';

test('served scripts import only scripts that are beside them', (t) => {
  for (const service of ['batch', 'portal'] as const) {
    const folder = new URL('.', clientScriptUrl(service, 'api.js'));
    const names = new Set(readdirSync(folder).filter((name) => name.endsWith('.js')));
    t.true(names.size > 10, service);
    // The loop also reaches the names that it adds: scripts of other folders.
    for (const name of names) {
      const text = servedScript(readFileSync(clientScriptUrl(service, name), 'utf8'));
      for (const [, specifier = ''] of text.matchAll(/(?:from |import\()["']([^"']+)["']/g)) {
        t.regex(specifier, /^\.\/[\w-]+\.js$/, `${service} ${name}`);
        names.add(specifier.slice(2));
      }
      t.false(text.includes('sourceMappingURL'), name);
    }
    t.true(names.has('dom.js'), service);
    t.is(names.has('pkcs12-reader.js'), service === 'portal');
  }
});

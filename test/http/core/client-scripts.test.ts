import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { clientScriptUrl, servedScript } from '../../../http/core/client-scripts.ts';

test('served scripts import only scripts that are beside them', (t) => {
  for (const service of ['batch', 'portal'] as const) {
    const folder = new URL('.', clientScriptUrl(service, 'api.js'));
    const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
    t.true(names.length > 10, service);
    for (const name of [...names, 'dom.js']) {
      const text = servedScript(readFileSync(clientScriptUrl(service, name), 'utf8'));
      for (const [, specifier = ''] of text.matchAll(/(?:from |import\()["']([^"']+)["']/g)) {
        t.regex(specifier, /^\.\/[\w-]+\.js$/, `${service} ${name}`);
        t.true(names.includes(specifier.slice(2)) || specifier === './dom.js', `${service} ${name}`);
      }
      t.false(text.includes('sourceMappingURL'), name);
    }
  }
});

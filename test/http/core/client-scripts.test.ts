import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { clientScriptUrl, servedScript } from '../../../http/core/client-scripts.ts';

/** Maximum size of the scripts of one page beside pdf.js, bytes before compression. */
const MAX_PAGE_BYTES = 60_000;
/** A page of this script loads one of its imports on demand, by its path. */
const ONE_OF_MANY = 'operator.js';
const IMPORT = /(?:from |import\()["']\.\/([\w-]+\.js)["']/g;
const ON_DEMAND = /import\(["']\.\/([\w-]+\.js)["']\)/g;

function namesIn(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name);
}

test('the scripts of each page are within their size limits', (t) => {
  for (const [service, entries] of [
    ['batch', ['operator.js', 'reference.js']],
    [
      'portal',
      [
        ...['signing-client.js', 'state-client.js', 'widget.js', 'key-worker.js', 'marks.js'],
        ...['editor.js', 'session-editor.js', 'branding.js', 'new-version.js'],
      ],
    ],
  ] as const) {
    const textOf = (name: string) => servedScript(readFileSync(clientScriptUrl(service, name), 'utf8'));
    for (const entry of entries) {
      const pages = entry === ONE_OF_MANY ? namesIn(textOf(entry), ON_DEMAND) : [entry];
      t.true(pages.length > 0, entry);
      for (const page of pages) {
        const names = new Set([entry, page]);
        // The loop also reaches the names that it adds.
        for (const name of names) {
          const text = textOf(name);
          const others = name === ONE_OF_MANY ? text.replace(ON_DEMAND, '') : text;
          for (const imported of namesIn(others, IMPORT)) names.add(imported);
        }
        const bytes = [...names].reduce((sum, name) => sum + Buffer.byteLength(textOf(name)), 0);
        t.log(`${page}: ${bytes} bytes in ${names.size} scripts`);
        t.true(bytes > 1_000 && bytes < MAX_PAGE_BYTES, `${page}: ${bytes} bytes`);
      }
    }
  }
});

test('served scripts import only scripts of the same folder', (t) => {
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
      // Without indentation a template literal or string that spans lines would have another value.
      const code = text.replace(/^(\/\/|\/?\*).*$/gm, '');
      t.false(/\\$/m.test(code), name);
      for (const line of code.split('\n')) t.is(line.split('`').length % 2, 1, `${name}: ${line}`);
    }
    t.true(names.has('dom.js'), service);
    t.is(names.has('pkcs12-reader.js'), service === 'portal');
  }
});

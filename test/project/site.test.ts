/** The documentation as a site: whole, and complete without a network. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize } from 'node:path';
import { runInNewContext } from 'node:vm';
import test from 'ava';

const site = mkdtempSync(join(tmpdir(), 'sealwright-site-'));
test.before((t) => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build-site.mjs', site], {
    encoding: 'utf8',
  });
  t.is(status, 0, stderr);
});
test.after.always(() => rmSync(site, { recursive: true, force: true }));

const pages = () =>
  readdirSync(site, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.html') && readFileSync(join(site, name), 'utf8').includes('page.js'),
  );

test('every link of the site leads to a file and a place in it, and nothing is loaded from elsewhere', (t) => {
  const texts = new Map(pages().map((name) => [name, readFileSync(join(site, name), 'utf8')]));
  t.true(texts.size > 100);
  const broken: string[] = [];
  let followed = 0;
  for (const [name, text] of texts) {
    for (const [, attribute = '', target = ''] of text.matchAll(/ (href|src)="([^"]*)"/g)) {
      if (/^(?:https?|mailto):/.test(target)) {
        if (attribute === 'src') broken.push(`${name} loads ${target}`);
        continue;
      }
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? name : normalize(join(dirname(name), decodeURIComponent(path)));
      const isThere =
        existsSync(join(site, file)) &&
        (anchor === undefined || (texts.get(file) ?? '').includes(` id="${decodeURIComponent(anchor)}"`));
      if (!isThere) broken.push(`${name}: ${target}`);
      followed += 1;
    }
    t.regex(text, /Content-Security-Policy" content="default-src 'none'/, name);
  }
  t.true(followed > 5_000);
  t.deepEqual([...new Set(broken)], []);
});

test('the search finds keys, codes, operations and names of the packages', (t) => {
  const context: { find?: (words: string) => readonly { readonly to: string }[] } = {};
  runInNewContext(readFileSync(join(site, 'search.js'), 'utf8'), context);
  for (const [words, page] of [
    ['Portal:PublicUrl', 'docs/configuration.html'],
    ['auth.invalid-credentials', 'docs/errors.html'],
    ['cancellation', 'api/portal-'],
    ['createRuntime', 'runtime/'],
    ['backup', 'docs/operations.html'],
  ] as const) {
    const found = context.find?.(words) ?? [];
    t.true(
      found.some(({ to }) => to.startsWith(page)),
      `${words}: ${found.map(({ to }) => to).join(', ')}`,
    );
  }
  t.is(context.find?.('no page says qwertzuiop').length, 0);
});

test('addresses of pages that became parts of others lead to their place', (t) => {
  for (const name of ['containers', 'extending', 'generation', 'green-verdict', 'pdf-passwords', 'scale']) {
    const [, to = ''] = /url=([^"]+)"/.exec(readFileSync(join(site, `docs/${name}.html`), 'utf8')) ?? [];
    const [page = '', place = ''] = to.split('#');
    t.true(readFileSync(join(site, 'docs', page), 'utf8').includes(` id="${place}"`), `${name}: ${to}`);
  }
});

test('the navigation opens the group of its page alone, and operations have examples of request and answer', (t) => {
  const page = readFileSync(join(site, 'docs/operations.html'), 'utf8');
  t.deepEqual(
    [...page.matchAll(/<details open><summary>(.+?)</g)].map(([, group]) => group),
    ['Operations'],
  );
  t.regex(page, /aria-current="page">/);
  const api = readFileSync(join(site, 'api/portal-documents.html'), 'utf8');
  const [, operation = ''] = /<h2 id="postDocuments">([\s\S]*?)<h2 /.exec(api) ?? [];
  t.regex(operation, /curl -X POST "\$URL\/api\/documents"[\s\S]*--json '\{/);
  t.regex(operation, /Example of its answer<\/h3><pre tabindex="0"><code>\[\s+\{\s+"uploadId"/);
});

test('the site lists every decision', (t) => {
  const list = readFileSync(join(site, 'docs/decisions/README.html'), 'utf8');
  const decisions = pages().filter((name) => /^docs\/decisions\/\d/.test(name));
  t.true(decisions.length > 50);
  t.deepEqual(
    decisions.filter((name) => !list.includes(`href="${basename(name)}"`)),
    [],
  );
});

test('llms.txt lists every page once', (t) => {
  const listed = [
    ...readFileSync(join(site, 'llms.txt'), 'utf8').matchAll(/^- \[.+?\]\(([^)]+)\): \S/gm),
  ].map(([, path]) => path ?? '');
  // Lists of the files of a folder are no pages.
  const written = pages().filter((name) => !name.endsWith('/index.html'));
  t.deepEqual(listed.toSorted(), written.toSorted());
});

test('the collections for Postman have every operation, with its key and without unknown variables', (t) => {
  for (const name of ['batch', 'portal']) {
    const { paths } = JSON.parse(readFileSync(join(site, `api/${name}.json`), 'utf8'));
    const { item, auth, variable } = JSON.parse(
      readFileSync(join(site, `api/${name}.postman_collection.json`), 'utf8'),
    );
    const requests = (item as { item: { name: string; request: { url: { raw: string } } }[] }[]).flatMap(
      (folder) => folder.item,
    );
    const operations = Object.entries(paths as object).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    t.deepEqual(requests.map((one) => one.name).toSorted(), operations.toSorted());
    const known = variable.map(({ key }: { key: string }) => `{{${key}}}`);
    t.true(known.includes(auth.apikey[1].value));
    for (const { request } of requests)
      for (const [used] of request.url.raw.matchAll(/\{\{.*?\}\}/g)) t.true(known.includes(used), used);
  }
});

/** Holds the documents to the program: generated pages, links, configuration keys and codes. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'ava';
import { loadSettings } from '../../settings.ts';

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path)),
];

test('the pages made from code are up to date', (t) => {
  // When this fails: npm run build && node scripts/write-docs.mjs
  const { status, stderr } = spawnSync(process.execPath, ['scripts/write-docs.mjs', '--check'], {
    encoding: 'utf8',
  });
  t.is(status, 0, stderr);
});

test('docs/errors.md has every code of the engine', (t) => {
  const union =
    /export type CryptoErrorCode =([^;]+);/.exec(readFileSync('crypto/core/types.ts', 'utf8'))?.[1] ?? '';
  const codes = [...union.matchAll(/\| '([^']+)'/g)].map(([, code]) => code ?? '');
  t.true(codes.length > 30);
  const page = readFileSync('docs/errors.md', 'utf8');
  t.deepEqual(
    codes.filter((code) => !page.includes(`| \`${code}\` |`)),
    [],
    'add them to scripts/docs/error-remedies.mjs',
  );
});

test('docs/webhooks.md has every type of event', (t) => {
  const source = readFileSync('machines/portal/portal-types.ts', 'utf8');
  const optional = /OPTIONAL_EVENT_TYPES = \[([^\]]*)\]/.exec(source)?.[1] ?? '';
  const always = /interface DocumentEvent \{\s*readonly type:([^;]*);/.exec(source)?.[1] ?? '';
  const types = [...`${optional}${always}`.matchAll(/'(\w+)'/g)].map(([, type]) => type ?? '');
  const page = readFileSync('docs/webhooks.md', 'utf8');
  const [table = ''] = /^\| `type`[\s\S]*?\n\n/m.exec(page) ?? [];
  const documented = [...table.matchAll(/`(\w+)`/g)]
    .map(([, name]) => name ?? '')
    .filter((name) => /^(?:Document|Mail)/.test(name));
  t.deepEqual(documented.toSorted(), types.toSorted());
});

test('every link and picture of the documents leads to a file', (t) => {
  const broken = PAGES.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
      .map(([, target]) => target ?? '')
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => !existsSync(normalize(join(dirname(page), target))))
      .map((target) => `${page}: ${target}`),
  );
  t.deepEqual(broken, []);
});

test('every document is in the index', (t) => {
  const index = readFileSync('docs/README.md', 'utf8');
  const missing = PAGES.filter((page) => /^docs\/[^/]+\.md$/.test(page) && page !== 'docs/README.md').filter(
    (page) => !index.includes(`](${page.slice('docs/'.length)})`),
  );
  t.deepEqual(missing, []);
});

test('the guides name existing configuration keys', (t) => {
  const known = readFileSync('docs/configuration.md', 'utf8').toLowerCase();
  const guides = PAGES.filter((page) => !/docs\/(decisions|configuration|.*-rows|performance)/.test(page));
  const unknown = guides.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/`((?:[A-Z][A-Za-z0-9]+:)+[A-Z][A-Za-z0-9]+)(?:=[^`]*)?`/g)]
      .map(([, key]) => key ?? '')
      .filter((key) => !known.includes(key.toLowerCase()) && !isSection(known, key))
      .map((key) => `${page}: ${key}`),
  );
  t.deepEqual(unknown, []);
});

function isSection(known: string, key: string): boolean {
  return known.includes(`${key.toLowerCase()}:`);
}

test('the architecture and contributing guides name existing files and folders', (t) => {
  for (const page of ['docs/architecture.md', 'CONTRIBUTING.md']) {
    const named = [...readFileSync(page, 'utf8').matchAll(/`([\w.-]+\/[\w./-]*|main\.ts)`/g)]
      .map(([, path]) => path ?? '')
      .filter(
        (path) => !/^(data|dist|db|processing|output|input|error|keys|portal|logs|client)\//.test(path),
      );
    t.true(named.length > 10);
    t.deepEqual(
      named.filter((path) => !existsSync(path)),
      [],
      page,
    );
  }
});

/** First keys of JSON examples that are configuration. */
const SECTIONS =
  /^\{\s*"(?:AllowedHosts|Encryption|Hosting|Pipeline|Portal|RemoteSigner|Runtime|Signing|Storage)"/;

test('the service accepts every configuration in the documents', (t) => {
  let checked = 0;
  for (const page of PAGES) {
    for (const [, text = ''] of readFileSync(page, 'utf8').matchAll(/```json\n([\s\S]*?)```/g)) {
      if (!SECTIONS.test(text)) continue;
      const loaded = loadSettings({
        argv: [],
        env: { BATCH_PKCS11_PIN: '1234', Portal__Smtp__Password: 'for tests only' },
        cwd: '/nonexistent',
        readFile: (path) => (path.endsWith('/appsettings.json') ? text : undefined),
      });
      t.deepEqual(loaded.ok ? [] : loaded.faults, [], `${page}: ${text}`);
      checked += 1;
    }
  }
  t.true(checked >= 10, `${checked} examples`);
});

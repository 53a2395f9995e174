/** Holds the documents to the program: generated pages, links, configuration keys and codes. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'ava';
import { type ExitCode, exitCodeOf } from '../../commands/exit-codes.ts';
import { REFUSALS } from '../../contracts/batch/refusals.ts';
import { EVENT_TYPES } from '../../contracts/portal/webhooks/webhooks.ts';
import { JOB_REMEDIES } from '../../machines/batch/job-remedies.ts';
import { loadSettings } from '../../settings.ts';

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'test/README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path)),
  'bench/engine-targets.md',
  'bench/lessons.md',
  'bench/README.md',
  'CHANGELOG.md',
  'SECURITY.md',
];

test('the pages made from code are up to date', (t) => {
  // When this fails: npm run build && node scripts/write-docs.mjs
  const { status, stderr } = spawnSync(process.execPath, ['scripts/write-docs.mjs', '--check'], {
    encoding: 'utf8',
  });
  t.is(status, 0, stderr);
});

test('docs/errors.md and the guide to signatures have every code of the engine', (t) => {
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
  const guide = readFileSync('docs/signatures/README.md', 'utf8');
  t.deepEqual(
    codes.filter((code) => !guide.includes(`\`${code}\``)),
    [],
  );
});

test('every code of a failed job has a remedy, which docs/errors.md and the page of failures show', (t) => {
  const folders = ['actors/pool', 'actors/pool/job', 'actors/batch/remote', 'actors/batch/objects'];
  const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  const sources = [
    ...files.filter((path) => path.endsWith('.ts')),
    'actors/shared/signing/certificate-checks.ts',
  ]
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const thrown = [
    ...sources.matchAll(/(?:Failure|Fatal|refusal)\(\s*'([a-z]+\.[a-z-]+)'|code: '([a-z.-]+)'/g),
  ];
  const recorded = Object.entries(REFUSALS).filter(([, { status }]) => status === null);
  const codes = [...thrown.map(([, one, other]) => one ?? other ?? ''), ...recorded.map(([code]) => code)];
  t.true(codes.length > 20);
  // Full pools refuse a task, and the job waits.
  const missing = new Set(codes.filter((code) => JOB_REMEDIES[code] === undefined && code !== 'pool.full'));
  t.deepEqual([...missing], [], 'add them to machines/batch/job-remedies.ts');
});

test('docs/webhooks.md has every type of event', (t) => {
  const page = readFileSync('docs/webhooks.md', 'utf8');
  const [table = ''] = /^\| `type`[\s\S]*?\n\n/m.exec(page) ?? [];
  const documented = [...table.matchAll(/`(\w+)`/g)]
    .map(([, name]) => name ?? '')
    .filter((name) => /^(?:Document|Mail)/.test(name));
  t.deepEqual(documented.toSorted(), EVENT_TYPES.toSorted());
});

test('docs/webhooks.md has every type of event of jobs', (t) => {
  const table = readFileSync('settings/notifications-table.ts', 'utf8');
  const types = [...table.matchAll(/'(Job[A-Z]\w+)'/g)].map(([, type]) => type ?? '');
  t.true(types.length > 2);
  const [, section = ''] = readFileSync('docs/webhooks.md', 'utf8').split('## Ends of jobs');
  const named = new Set([...section.matchAll(/\bJob[A-Z]\w+/g)].map(([type]) => type));
  t.deepEqual([...named].toSorted(), types.toSorted());
});

test('docs/operations.md has the exit codes and the codes of failures that lead to them', (t) => {
  const source = readFileSync('commands/exit-codes.ts', 'utf8');
  const listed = [...source.matchAll(/^const \w+ = \[([^\]]*)\]/gm)].flatMap(([, items = '']) =>
    [...items.matchAll(/'([^']+)'/g)].map(([, code]) => code ?? ''),
  );
  t.true(listed.length > 10);
  const [, section = ''] =
    /^### Exit codes\n([\s\S]*?)^##/m.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
  const documented = [...section.matchAll(/^\| (\d) \|(.*)$/gm)].flatMap(([, exit, row = '']) =>
    [...row.matchAll(/`([^`]+)`/g)].map(([, code]) => ({ code: code ?? '', exit: Number(exit) as ExitCode })),
  );
  t.deepEqual(documented.map(({ code }) => code).toSorted(), listed.toSorted());
  for (const { code, exit } of documented) {
    t.is(exitCodeOf(Object.assign(new Error('refused'), { code: code.replace(/\.$/, '.x') })), exit, code);
  }
  const [sentence = ''] =
    /Exit codes: .*/.exec(readFileSync('commands/command-line/command-line.ts', 'utf8')) ?? [];
  t.true(readFileSync('README.md', 'utf8').includes(sentence.replace(/`;$/, '')), sentence);
});

/** Options by command, as the shell completes them. */
function optionsByCommand(): ReadonlyMap<string, readonly string[]> {
  const { stdout } = spawnSync(process.execPath, ['dist/main.js', 'completion', 'bash'], {
    encoding: 'utf8',
  });
  return new Map(
    [...stdout.matchAll(/^ {4}"([^"]*)"\) words="([^"]*)"/gm)].map(([, path = '', words = '']) => [
      path,
      words.split(' '),
    ]),
  );
}

test('the documents name commands and options that exist', (t) => {
  const commands = optionsByCommand();
  t.true(commands.size > 15);
  let named = 0;
  const unknown = PAGES.filter((page) => !/docs\/decisions/.test(page)).flatMap((page) =>
    [
      ...readFileSync(page, 'utf8').matchAll(
        /(?:^|[`( ])(?:sealwright|node dist\/main\.js) ([a-z][^`\n|]*)/gm,
      ),
    ]
      .filter(([whole]) => /^`|dist/.test(whole))
      .filter(([, words = '']) => {
        const [first = '', second = ''] = words.split(' ');
        const options = commands.get(`${first} ${second}`) ?? commands.get(first);
        const flags = [...words.matchAll(/(?:^|[ [])(--[a-z][\w-]*)/g)].map(([, flag]) => flag ?? '');
        named += flags.length;
        return options === undefined || flags.some((flag) => !options.includes(flag));
      })
      .map(([whole]) => `${page}: ${whole}`),
  );
  t.deepEqual(unknown, []);
  t.true(named > 15, `${named} options`);
});

test('the documents name operations, metrics and codes that exist', (t) => {
  const types = ['batch', 'portal']
    .map((name) => readFileSync(`clients/typescript/${name}.d.ts`, 'utf8'))
    .join('');
  const shape = (path: string) => path.replaceAll(/\{\w+\}|<\w+>/g, '{}');
  const operations = new Set(
    [...types.matchAll(/^ {2}readonly "([A-Z]+ [^"]+)"/gm)].map(([, name]) => shape(name ?? '')),
  );
  t.true(operations.size > 140);
  const sources = ['actors', 'contracts', 'crypto', 'http', 'machines', 'runtime', 'packages', 'service']
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((path) => path.endsWith('.ts') && !/node_modules|\.d\.ts$/.test(path));
  const code = sources.map((path) => readFileSync(path, 'utf8')).join('\n');
  const named = { operations: 0, metrics: 0, codes: 0 };
  const unknown = PAGES.filter((page) => !/docs\/decisions|lessons/.test(page)).flatMap((page) => {
    const text = readFileSync(page, 'utf8');
    const paths = [...text.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/api\/[^`?]*)/g)].map(
      ([, name]) => name ?? '',
    );
    const metrics = [...text.matchAll(/\bbatch_[a-z_]*[a-z]/g)].map(([name]) => name);
    const codes = [...text.matchAll(/^\|.*$|^- .*$/gm)].flatMap(([row]) =>
      [
        ...row.matchAll(
          /`((?:content|pdf|revocation|scope|structure|store|verification|upload|validation)\.[a-z-]+)`/g,
        ),
      ].map(([, name]) => name ?? ''),
    );
    named.operations += paths.length;
    named.metrics += metrics.length;
    named.codes += codes.length;
    return [
      ...paths.filter((path) => !operations.has(shape(path))),
      ...metrics.filter((name) => !code.includes(`'${name.replace(/_(?:bucket|count|sum)$/, '')}'`)),
      ...codes.filter((name) => !code.includes(`'${name}'`)),
    ].map((name) => `${page}: ${name}`);
  });
  t.deepEqual(unknown, []);
  t.true(named.operations > 60 && named.metrics > 2 && named.codes > 30, JSON.stringify(named));
});

test('the sizes in docs/operations.md are those of the runs that they name', (t) => {
  const page = readFileSync('docs/operations.md', 'utf8');
  const [, sizing = ''] = /^## Sizing\n([\s\S]*?)^- /m.exec(page) ?? [];
  const rows = [...sizing.matchAll(/^\| [^|]+ \| ([^|]+) \| `([\w.-]+)` \|$/gm)];
  t.true(rows.length > 2);
  for (const [, figures = '', run = ''] of rows) {
    const report = readFileSync(join('bench/results', run), 'utf8');
    for (const [figure] of figures.matchAll(/\d[\d,.]*\d|\d/g)) {
      t.regex(
        report,
        new RegExp(`(?<![\\d.])${figure.replaceAll('.', '\\.')}(?!\\d|\\.\\d)`),
        `${run}: ${figure}`,
      );
    }
  }
  const loaded = loadSettings({ argv: [], env: {}, cwd: '/nonexistent', readFile: () => undefined });
  if (!loaded.ok) return t.fail(JSON.stringify(loaded.faults));
  const { fileSizeLimitBytes, retainedFileCountLimit } = loaded.settings.logging.file;
  const megabytes = Math.round((fileSizeLimitBytes * retainedFileCountLimit) / 1e6);
  t.true(page.includes(`Log files take at most ${megabytes} MB`), `${megabytes} MB`);
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

/** Guides of the packages, which others install without the product. */
const GUIDES = ['docs/runtime/', 'docs/signatures/'];

function wordsOf(pages: readonly string[]): number {
  return pages.flatMap((page) => readFileSync(page, 'utf8').split(/\s+/)).filter((word) => word !== '')
    .length;
}

test('the documents have at most 60,000 words, the guides of the packages at most 9,000', (t) => {
  const isGuide = (page: string) => GUIDES.some((folder) => page.startsWith(folder));
  const pages = PAGES.filter((page) => page.startsWith('docs/'));
  const words = wordsOf(pages.filter((page) => !isGuide(page)));
  t.true(
    words <= 60_000,
    `${words} words: shorten what other pages say too, and decisions that nobody would question`,
  );
  const guides = wordsOf(pages.filter(isGuide));
  t.true(guides <= 9_000, `${guides} words in the guides of the packages`);
  t.true(wordsOf(['docs/performance.md']) <= 1_500);
});

test('the changelog has its form, and a section for the version of the program', (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const [, ...sections] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
  const titles = sections.map((section) => section.split('\n', 1)[0] ?? '');
  for (const title of titles) t.regex(title, /^\[(?:Unreleased|\d+\.\d+\.\d+\S*)\](?: - \d{4}-\d\d-\d\d)?$/);
  t.true(titles.some((title) => title === '[Unreleased]' || title.startsWith(`[${version}]`)));
  for (const section of sections)
    for (const [, kind = ''] of section.matchAll(/^### (.+)$/gm))
      t.true(['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'].includes(kind), kind);
});

test('the public names of the packages are those in their api.md', (t) => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/package-api.mjs', '--check'], {
    encoding: 'utf8',
  });
  t.is(status, 0, stderr);
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
  const guides = PAGES.filter((page) => !/docs\/(decisions|configuration)|lessons/.test(page));
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

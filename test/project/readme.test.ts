/**
 * Runs every command of README.md, docs/tutorial.md and the guides as printed; only the two addresses are replaced by
 * those of free ports. Blocks of the language `console` are examples with values of the reader, and are not run.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { freshFolder, start } from '../commands/program.ts';
import { classicPdf, documentObjects } from '../crypto/pdf/build.ts';
import { blocksOf, type CommandResult, commandsOf, Shell } from './markdown-commands.ts';
import { reached } from './waiting.ts';

/** Each page and the least number of commands it has. */
const PAGES = [
  ['README.md', 50],
  ['docs/tutorial.md', 7],
] as const;
/** Guides, whose commands need what their first lines name, with their examples. */
const GUIDES = [
  [
    'docs/how-to.md',
    [
      'sealwright decrypt --password-env',
      'sealwright verify --trust root.pem',
      'PGPASSWORD=secret sealwright store copy',
      'pg_dump --format=custom',
      // test/actors/shared/objects/return-to-moment.test.ts follows these.
      'pg_basebackup --dbname=',
      'cp -a /mnt/backup/base-',
    ],
  ],
  ['docs/templates.md', []],
  ['docs/fields.md', ['curl -F file=@passport.pdf "https://sign.example.com/']],
  ['docs/embedding.md', ['curl -s https://portal.example/']],
] as const;
/** Blocks that need a stopped service. */
const STOPPED = /(?:^|\$\()sealwright keys (?!service)/m;
const INSTALL = 'npm ci && npm start';
const FREE_PORTS = { Batch__Url: 'http://127.0.0.1:0', Portal__Url: 'http://127.0.0.1:0' };

interface Preparation {
  readonly before: RegExp;
  readonly prepare: (reader: Reader) => Promise<void>;
}

/** A reader of the README: a folder, the running service, and a shell. */
interface Reader {
  readonly folder: string;
  readonly batch: string;
  readonly portal: string;
  readonly shell: Shell;
}

/** Waits of a reader, and acts in a browser, before a command; each command itself runs as printed. */
const PREPARATIONS: readonly Preparation[] = [
  {
    before: /verify data\/output\/hello/,
    prepare: ({ folder }) =>
      until('the signed file', () => existsSync(join(folder, 'data/output/hello.signed.txt'))),
  },
  {
    before: /\/api\/jobs\/\$JOB\/output/,
    prepare: (reader) => untilJob(reader, '$JOB', 'Completed'),
  },
  {
    before: /\/api\/jobs\/\$FAILED\/retry/,
    prepare: (reader) => untilJob(reader, '$FAILED', 'Failed'),
  },
  {
    // In the tutorial the participants act before the signed file is downloaded.
    before: /\/documents\/\$DOCUMENT\/content\?type=Signatures/,
    async prepare(reader) {
      const { key } = await documentOf(reader);
      await act(reader, 'ana@example.com', `${key}/electronic-signature`, { typedName: 'Ana' });
      await act(reader, 'bo@example.com', `${key}/approval`, {});
      await until('the concluded document', async () => (await documentOf(reader)).isConcluded);
    },
  },
];

for (const [page, least] of PAGES) {
  test(`${page}: every command works as printed`, async (t) => {
    const text = readFileSync(page, 'utf8');
    const commands = commandsOf(text);
    t.true(commands.length >= least, `${commands.length} commands found`);
    t.is(commands[0], INSTALL);
    await runAll(t, commands.slice(1), /^```\n(sealwright [\s\S]*?)^```/m.exec(text)?.[1]);
  });
}

for (const [page, examples] of GUIDES) {
  test(`${page}: every command works as printed, but for the examples`, async (t) => {
    const text = readFileSync(page, 'utf8');
    const shown = blocksOf(text, 'console');
    t.is(shown.length, examples.length);
    for (const [index, start] of examples.entries()) t.true(shown[index]?.startsWith(start), start);
    const commands = blocksOf(text, 'sh');
    if (commands.length > 0) await runGuide(t, commands);
  });
}

test('every block of commands is run, but for the examples', (t) => {
  const run = new Set<string>([...PAGES, ...GUIDES].map(([page]) => page));
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name));
  const others = pages.filter((page) => page.endsWith('.md') && !run.has(page));
  t.true(others.length > 20);
  t.deepEqual(
    others.filter((page) => /^```(?:sh|bash|shell)$/m.test(readFileSync(page, 'utf8'))),
    [],
    'add them to the list of guides, or mark examples with values of the reader as `console`',
  );
});

/** Runs the commands of a guide: those that need a stopped service first, then the others. */
async function runGuide(t: ExecutionContext, commands: readonly string[]): Promise<void> {
  const folder = freshFolder();
  symlinkSync(resolve('dist'), join(folder, 'dist'));
  for (const name of ['contract.pdf', 'lease.pdf'])
    writeFileSync(join(folder, name), classicPdf(documentObjects({ pages: 2, text: 'Clause' })));
  writeFileSync(join(folder, 'logo.png'), Buffer.from(LOGO, 'base64'));
  const shell = new Shell(folder, { PATH: process.env['PATH'] ?? '' });
  t.teardown(() => shell.close());
  const runs = async (command: string) => {
    const result = await shell.run(`set -o pipefail\n${command}`);
    t.true(works(result), `${command}\n${JSON.stringify(result)}`);
  };
  for (const command of commands.filter((one) => STOPPED.test(one))) await runs(command);
  const { portal } = await startsWithNpm(t, folder);
  const addressed = (command: string) => command.replaceAll('http://127.0.0.1:8090', portal);
  for (const command of commands.filter((one) => !STOPPED.test(one))) {
    const own = prepared(command);
    if (own !== '') await runs(addressed(own));
    await runs(addressed(command));
  }
}

/** A PNG of one pixel. */
const LOGO =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Commands that make the draft and the document which a block of templates.md takes from a list. */
function prepared(command: string): string {
  if (!/^DRAFT=/.test(command)) return '';
  const file =
    '"files":[{"id":"\'$UPLOAD\'","displayName":"Lease","name":"lease.pdf","contentType":"application/pdf"}]';
  const roles = '"flowActions":[{"title":"Tenant","allowElectronicSignature":true}]';
  const flow =
    '"flowActions":[{"user":{"name":"Ana","email":"ana@example.com"},"allowElectronicSignature":true}]';
  return `curl -sH "$KEY" --json '{"name":"Lease","document":{${file},${roles}}}' $PORTAL/api/document-drafts
curl -sH "$KEY" --json '{${file},${flow}}' $PORTAL/api/documents`;
}

/** @param banner what the page says that the start prints */
async function runAll(t: ExecutionContext, commands: readonly string[], banner?: string): Promise<void> {
  const folder = freshFolder();
  copyFileSync('package.json', join(folder, 'package.json'));
  copyFileSync('package-lock.json', join(folder, 'package-lock.json'));
  symlinkSync(resolve('dist'), join(folder, 'dist'));
  writeFileSync(join(folder, 'contract.pdf'), classicPdf(documentObjects({ pages: 2, text: 'Clause' })));

  await installs(t, folder);
  const { batch, portal, out } = await startsWithNpm(t, folder);
  if (banner !== undefined) {
    const printed = out
      .replaceAll(batch, 'http://127.0.0.1:8080')
      .replaceAll(portal, 'http://127.0.0.1:8090')
      .replaceAll(`${folder}/`, '')
      // The reader starts it in the folder; here npm starts it in the repository.
      .replaceAll(' --Storage:Root=data', '');
    t.deepEqual(
      linesOf(banner).filter((line) => !linesOf(printed).includes(line)),
      [],
      printed,
    );
  }
  const shell = new Shell(folder, { PATH: process.env['PATH'] ?? '' });
  t.teardown(() => shell.close());
  const reader = { folder, batch, portal, shell };
  const withAddresses = (command: string) =>
    command.replaceAll('http://127.0.0.1:8080', batch).replaceAll('http://127.0.0.1:8090', portal);
  for (const command of commands) {
    if (/^node dist\/main\.js serve$/.test(command)) {
      await serves(t, command);
      continue;
    }
    for (const { before, prepare } of PREPARATIONS) {
      if (before.test(command)) await prepare(reader);
    }
    const result = await shell.run(withAddresses(command));
    t.true(works(result), `${command}\n${JSON.stringify(result)}`);
  }
  const own = new Set(['package.json', 'package-lock.json', 'dist', 'node_modules', '.curlrc', '.npm']);
  const made = readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !own.has(name))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  const { stdout } = spawnSync('git', ['check-ignore', '--no-index', ...made], { encoding: 'utf8' });
  t.deepEqual(stdout.trim().split('\n').toSorted(), made.toSorted(), 'git shows none of them as untracked');
}

/** Lines of what a start prints, without the keys in it. */
function linesOf(printed: string): readonly string[] {
  return printed
    .replace(/(API key +)\S+/, '$1…')
    .replaceAll(/(Portal key +\w+\|)\S+/g, '$1…')
    .split('\n');
}

function works({ exitCode, statuses }: CommandResult): boolean {
  return exitCode === 0 && statuses.every((status) => status >= 200 && status < 300);
}

/** `npm ci` accepts the lock file. The packages themselves are installed already; `.ci/run` installs them afresh. */
async function installs(t: ExecutionContext, folder: string): Promise<void> {
  const shell = new Shell(folder, {
    PATH: process.env['PATH'] ?? '',
    npm_config_dry_run: 'true',
    npm_config_offline: 'true',
    npm_config_ignore_scripts: 'true',
  });
  const { exitCode, out } = await shell.run('npm ci');
  shell.close();
  t.is(exitCode, 0, out);
}

/** `npm start` in the repository, with its data in the reader's folder. The build before it is left out. */
async function startsWithNpm(
  t: ExecutionContext,
  folder: string,
): Promise<{ batch: string; portal: string; out: string }> {
  const child: ChildProcess = spawn('npm', ['start'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      ...FREE_PORTS,
      HOME: folder,
      Storage__Root: join(folder, 'data'),
      npm_config_ignore_scripts: 'true',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const group = child.pid ?? 0;
  const closed = new Promise<void>((ended) => child.once('close', () => ended()));
  t.teardown(async () => {
    process.kill(-group, 'SIGTERM');
    await closed;
  });
  let out = '';
  await new Promise<void>((ready, failed) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      if (/\[INF\] Ready/.test(out)) ready();
    });
    child.once('exit', () => failed(new Error(`npm start ended: ${out}`)));
  });
  const batch = /Batch API +(\S+)/.exec(out)?.[1] ?? '';
  const portal = /Portal +(http\S+)/.exec(out)?.[1] ?? '';
  return { batch, portal, out };
}

/** The command that serves, in a folder of its own. */
async function serves(t: ExecutionContext, command: string): Promise<void> {
  const program = start(freshFolder(), command.split(' ').slice(2), FREE_PORTS);
  await program.says(/\[INF\] Ready/);
  program.child.kill('SIGTERM');
  t.is(await program.ended, 0);
}

/** @param job shell variable with the id of a job */
function untilJob({ batch, shell }: Reader, job: string, status: string): Promise<void> {
  return until(`job ${job} to be ${status}`, async () => {
    const { out } = await shell.run(`curl -H "$AUTH" ${batch}/api/jobs/${job}`);
    return (JSON.parse(out) as { status: string }).status === status;
  });
}

/** Acts as a participant on her or his page, once it is that participant's turn. */
async function act(reader: Reader, emailAddress: string, path: string, body: object): Promise<void> {
  const { portal, shell } = reader;
  let ticket = '';
  await until(`the page of ${emailAddress}`, async () => {
    const url = `${portal}/api/documents/$DOCUMENT/action-url`;
    const { out } = await shell.run(`curl -H "$KEY" --json '{"emailAddress":"${emailAddress}"}' ${url}`);
    ticket = /[?&]ticket=([^"&]+)/.exec(out)?.[1] ?? '';
    return ticket !== '';
  });
  const answer = await fetch(`${portal}/api/documents/keys/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ticket, ...body }),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
}

interface ShownDocument {
  readonly key: string;
  readonly isConcluded: boolean;
}

async function documentOf({ portal, shell }: Reader): Promise<ShownDocument> {
  const { out } = await shell.run(`curl -H "$KEY" ${portal}/api/documents/$DOCUMENT`);
  return JSON.parse(out) as ShownDocument;
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  await reached(holds).catch((error: Error) => {
    throw new Error(`Waited in vain for ${what}.`, { cause: error });
  });
}

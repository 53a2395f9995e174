/**
 * Runs every command of README.md, docs/tutorial.md and the guides as printed; only the two addresses are replaced by
 * those of free ports. Blocks of the language `console` are examples with values of the reader, and are not run.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { freshFolder, start } from '../commands/program.ts';
import { classicPdf, documentObjects } from '../crypto/pdf/build.ts';
import { blocksOf, type CommandResult, commandsOf, Shell } from './markdown-commands.ts';

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
    ],
  ],
  ['docs/templates.md', []],
  ['docs/fields.md', ['curl -F file=@passport.pdf "https://sign.example.com/']],
  ['docs/embedding.md', ['curl -s https://portal.example/']],
] as const;
/** Commands that need a stopped service. */
const STOPPED = /^sealwright (keys|verify-history)/;
const INSTALL = 'npm ci && npm start';
const FREE_PORTS = { Batch__Url: 'http://127.0.0.1:0', Portal__Url: 'http://127.0.0.1:0' };

/** Preparation of commands that need something to exist; gives shell assignments. */
interface Preparation {
  readonly before: RegExp;
  readonly prepare: (reader: Reader) => Promise<string>;
}

/** A reader of the README: a folder, the running service, and a shell. */
interface Reader {
  readonly folder: string;
  readonly batch: string;
  readonly portal: string;
  readonly shell: Shell;
}

const PREPARATIONS: readonly Preparation[] = [
  {
    before: /verify data\/output\/hello/,
    async prepare({ folder }) {
      await until('the signed file', () => existsSync(join(folder, 'data/output/hello.signed.txt')));
      return '';
    },
  },
  {
    before: /^curl .*\/api\/jobs\/\$JOB$/,
    prepare: async (reader) => `JOB=${await jobOf(reader, 'contract.pdf', 'Completed')}`,
  },
  {
    before: /\/api\/jobs\/\$JOB\/cancel/,
    prepare: async (reader) => `JOB=${await jobOf(reader, 'contract.pdf', 'Queued')}`,
  },
  {
    before: /\/api\/jobs\/\$JOB\/retry/,
    async prepare(reader) {
      writeFileSync(join(reader.folder, 'broken.pdf'), '%PDF-1.7\nnot a PDF');
      return `JOB=${await jobOf(reader, 'broken.pdf', 'Failed')}`;
    },
  },
  {
    before: /flow-action-reminder/,
    async prepare(reader) {
      const { flowActions, key } = await documentOf(reader);
      return `FLOW_ACTION=${flowActions[0]?.id} VALIDATION_KEY=${key}`;
    },
  },
  {
    // On both pages the participants act before the signed file is downloaded.
    before: /content\?type=Signatures/,
    async prepare(reader) {
      const { key, flowActions } = await documentOf(reader);
      await act(reader, 'ana@example.com', `${key}/electronic-signature`, { typedName: 'Ana' });
      if (flowActions.length > 1) await act(reader, 'bo@example.com', `${key}/approval`, {});
      await until('the concluded document', async () => (await documentOf(reader)).isConcluded);
      return '';
    },
  },
  {
    before: /validate-signatures/,
    async prepare({ shell, portal }) {
      const file = 'data/output/contract.signed.pdf';
      const { out } = await shell.run(`curl -H "$KEY" -F file=@${file} ${portal}/api/uploads`);
      return `UPLOAD=${JSON.parse(out).id}`;
    },
  },
  {
    // A concluded document cannot be canceled.
    before: /\/cancellation/,
    async prepare({ shell, portal }) {
      const made = await shell.run(`curl -H "$KEY" --json @document.json ${portal}/api/documents`);
      return `DOCUMENT=${JSON.parse(made.out)[0].documentId}`;
    },
  },
];

for (const [page, least] of PAGES) {
  test(`${page}: every command works as printed`, async (t) => {
    const commands = commandsOf(readFileSync(page, 'utf8'));
    t.true(commands.length >= least, `${commands.length} commands found`);
    t.is(commands[0], INSTALL);
    await runAll(t, commands.slice(1));
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

/** Runs the commands of a guide: those that need a stopped service first, then the others. */
async function runGuide(t: ExecutionContext, commands: readonly string[]): Promise<void> {
  const folder = freshFolder();
  symlinkSync(resolve('dist'), join(folder, 'dist'));
  for (const name of ['contract.pdf', 'lease.pdf'])
    writeFileSync(join(folder, name), classicPdf(documentObjects({ pages: 2, text: 'Clause' })));
  writeFileSync(join(folder, 'logo.png'), Buffer.from(LOGO, 'base64'));
  const PATH = process.env['PATH'] ?? '';
  const stopped = new Shell(folder, { PATH });
  t.teardown(() => stopped.close());
  await stopped.run('sealwright() { node dist/main.js "$@"; }');
  const { out } = await stopped.run('sealwright keys create "Sys Admin" Administration --role Administrator');
  const administrator = /^Administration\|\w+$/m.exec(out)?.[0] ?? '';
  t.not(administrator, '', out);
  for (const command of commands.filter((one) => STOPPED.test(one))) {
    const result = await stopped.run(command);
    t.is(result.exitCode, 0, `${command}\n${JSON.stringify(result)}`);
  }
  const { batch, portal } = await startsWithNpm(t, folder);
  const shell = new Shell(folder, { PATH, Batch__Url: batch, Portal__Url: portal });
  t.teardown(() => shell.close());
  const addressed = (command: string) => command.replaceAll('http://127.0.0.1:8090', portal);
  for (const line of prepared(administrator)) {
    const result = await shell.run(addressed(line));
    t.true(works(result), `${line}\n${JSON.stringify(result)}`);
  }
  for (const command of commands.filter((one) => !STOPPED.test(one))) {
    const result = await shell.run(`set -o pipefail\n${addressed(command)}`);
    t.true(works(result), `${command}\n${JSON.stringify(result)}`);
  }
}

/** A PNG of one pixel. */
const LOGO =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Commands that set the variables which the guides name, make a concluded document and a draft. */
function prepared(administrator: string): readonly string[] {
  const flow =
    '"flowActions":[{"user":{"name":"Ana","email":"ana@example.com"},"allowElectronicSignature":true}]';
  const file =
    '"files":[{"id":"\'$UPLOAD\'","displayName":"Lease","name":"lease.pdf","contentType":"application/pdf"}]';
  const roles = '"flowActions":[{"title":"Tenant","allowElectronicSignature":true}]';
  return [
    'PORTAL=http://127.0.0.1:8090',
    'KEY="X-Api-Key: default|$(cat data/keys/portal-application-secret)"',
    `ADMINISTRATOR='${administrator}'`,
    'ALL=$(curl -sH "X-Api-Key: $ADMINISTRATOR" $PORTAL/api/admin/organizations)',
    `ORGANIZATION=$(jq -r '.items[] | select(.name=="Default") | .id' <<< "$ALL")`,
    'APPLICATION=$(curl -sH "X-Api-Key: $ADMINISTRATOR" --json \'{"name":"Guide"}\' $PORTAL/api/admin/organizations/$ORGANIZATION/applications | jq -r .id)',
    'UPLOAD=$(curl -sH "$KEY" -F file=@lease.pdf $PORTAL/api/uploads | jq -r .id)',
    `DOCUMENT=$(curl -sH "$KEY" --json '{${file},${flow}}' $PORTAL/api/documents | jq -r '.[0].documentId')`,
    `ACTION=$(curl -sH "$KEY" $PORTAL/api/documents/$DOCUMENT | jq -r '.flowActions[0].id')`,
    `curl -sH "$KEY" --json '{"flowActionId":"'$ACTION'"}' $PORTAL/api/documents/$DOCUMENT/electronic-signature`,
    `curl -sH "$KEY" --json '{"name":"Lease","document":{${file},${roles}}}' $PORTAL/api/document-drafts`,
  ];
}

async function runAll(t: ExecutionContext, commands: readonly string[]): Promise<void> {
  const folder = freshFolder();
  copyFileSync('package.json', join(folder, 'package.json'));
  copyFileSync('package-lock.json', join(folder, 'package-lock.json'));
  symlinkSync(resolve('dist'), join(folder, 'dist'));
  writeFileSync(join(folder, 'contract.pdf'), classicPdf(documentObjects({ pages: 2, text: 'Clause' })));

  await installs(t, folder);
  const { batch, portal } = await startsWithNpm(t, folder);
  // Commands that ask the running service find it at its addresses.
  const shell = new Shell(folder, {
    PATH: process.env['PATH'] ?? '',
    Batch__Url: batch,
    Portal__Url: portal,
  });
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
      if (before.test(command)) await shell.run(await prepare(reader));
    }
    const result = await shell.run(withAddresses(command));
    t.true(works(result), `${command}\n${JSON.stringify(result)}`);
  }
  const own = new Set([
    'package.json',
    'package-lock.json',
    'dist',
    'node_modules',
    'broken.pdf',
    '.curlrc',
    '.npm',
  ]);
  const made = readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !own.has(name))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  const { stdout } = spawnSync('git', ['check-ignore', '--no-index', ...made], { encoding: 'utf8' });
  t.deepEqual(stdout.trim().split('\n').toSorted(), made.toSorted(), 'git shows none of them as untracked');
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
): Promise<{ batch: string; portal: string }> {
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
  return { batch, portal };
}

/** The command that serves, in a folder of its own. */
async function serves(t: ExecutionContext, command: string): Promise<void> {
  const program = start(freshFolder(), command.split(' ').slice(2), FREE_PORTS);
  await program.says(/\[INF\] Ready/);
  program.child.kill('SIGTERM');
  t.is(await program.ended, 0);
}

/** Sends a file and gives the id of its job, once the job has this status. */
async function jobOf({ batch, shell }: Reader, name: string, status: string): Promise<string> {
  const { out } = await shell.run(`curl -H "$AUTH" -F file=@${name} ${batch}/api/files`);
  const { jobId } = JSON.parse(out) as { jobId: string };
  await until(`job ${jobId} to be ${status}`, async () => {
    const shown = await shell.run(`curl -H "$AUTH" ${batch}/api/jobs/${jobId}`);
    return (JSON.parse(shown.out) as { status: string }).status === status;
  });
  return jobId;
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
  readonly flowActions: readonly { readonly id: string }[];
}

async function documentOf({ portal, shell }: Reader): Promise<ShownDocument> {
  const { out } = await shell.run(`curl -H "$KEY" ${portal}/api/documents/$DOCUMENT`);
  return JSON.parse(out) as ShownDocument;
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await holds()) return;
    await sleep(50);
  }
  throw new Error(`Waited in vain for ${what}.`);
}

/** Commands that read or write the store: `backup`, `store`, `keys`, `verify-history` and `jobs`. */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { USER_ROLES, type UserRole } from '../../machines/portal/accounts/portal-user.ts';
import type { Settings } from '../../settings.ts';
import type { AccessKeyArguments } from '../access-keys.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../exit-codes.ts';
import type { KeyRole, KeysArguments } from '../keys.ts';
import { collect } from '../option-values.ts';
import type { CopyOptions } from '../store-copy.ts';
import type { Terminal } from '../terminal.ts';
import { addConfiguredCommand, type CommandLine } from './command-line.ts';

/** The filters of `GET /api/jobs`, as options take them. */
const JOB_FILTERS = [
  'status',
  'profile',
  'format',
  'source',
  'folder',
  'fileName',
  'createdFrom',
  'createdTo',
  'parentJobId',
];

export function addBackup({ program, terminal, configured }: CommandLine): void {
  const text = 'copy the store, the documents and the keys; the service may run';
  addConfiguredCommand(program, 'backup', text)
    .argument('<dir>', 'a folder that is missing or empty')
    .action(
      configured(async ({ settings }, dir: string) => {
        const { backup } = await import('../backup.ts');
        return backup(settings, resolve(dir), terminal);
      }),
    );
}

const COPY_HELP = `
A store is the folder of an LMDB store (db below Storage:Root) or postgres://user@host:port/database. Give the password
of PostgreSQL in the environment variable PGPASSWORD: other users of the machine can read command lines.
Exit codes: 0 success, 1 source and copy differ, 2 usage, 3 a store is in use, is not available or holds other data.`;

export function addStore(line: CommandLine, version: string): void {
  const store = line.program
    .command('store')
    .description('copy a store, or finish an upgrade of several nodes');
  addConfiguredCommand(
    store,
    'finish-upgrade',
    'end the upgrade: nodes of earlier versions can no longer start; run it while only nodes of this version run',
  )
    .requiredOption('--backup <place>', 'the backup made before the upgrade: the only way back')
    .action(
      line.configured(async ({ settings }, { backup }: { backup: string }) => {
        const { finishUpgradeCommand } = await import('../finish-upgrade.ts');
        return finishUpgradeCommand(settings, { version, backup }, line.terminal);
      }),
    );
  store
    .command('copy')
    .description(
      'copy a store between LMDB and PostgreSQL, and compare both; repeat it after an interruption',
    )
    .requiredOption('--from <store>', 'source')
    .requiredOption('--to <store>', 'target: empty, missing, or left by an interrupted copy')
    .option('--schema <name>', 'schema in PostgreSQL (Runtime:Postgres:Schema)', 'sealwright')
    .option('--json', 'print JSON', false)
    .addHelpText('after', COPY_HELP)
    .action(
      line.action(async (options: CopyOptions) => {
        const { copyCommand } = await import('../store-copy.ts');
        return copyCommand(options, line);
      }),
    );
}

type KeyRun = (words: KeysArguments, options: { readonly json: boolean }) => Promise<void>;
type KeyCommand = (name: string, description: string) => Command;

export function addKeys(line: CommandLine): void {
  const run: KeyRun = (words, { json }) =>
    line.configured(async ({ settings }) => {
      const { keys } = await import('../keys.ts');
      return keys(settings, words, { json }, line);
    })();
  const keys = line.program
    .command('keys')
    .description(
      'administer organizations, applications and keys of the portal while the service is stopped, and keys of the batch service',
    );
  const command: KeyCommand = (name, description) =>
    addConfiguredCommand(keys, name, description).option('--json', 'print JSON', false);
  command('list', 'list organizations, applications and the beginnings of keys').action(
    (options: { json: boolean }) => run({ do: 'list' }, options),
  );
  command('organization', 'create an organization')
    .argument('<name>', 'name of the organization')
    .option('--identifier <text>', 'registration number of the organization')
    .action((organization: string, options: { json: boolean; identifier?: string }) => {
      const { identifier } = options;
      return run({ do: 'organization', organization, ...(identifier && { identifier }) }, options);
    });
  command('create', 'create a key, and the organization and the application if they do not exist')
    .argument('<organization>', 'name of the organization')
    .argument('<application>', 'name of the application, unique over all organizations')
    .addOption(
      new Option('--role <role>', 'Monitor and Administrator are for applications of "Sys Admin"')
        .choices(['Normal', 'Monitor', 'Administrator'])
        .default('Normal'),
    )
    .option(
      '--provision',
      'the key only keeps users and groups: the token of an identity service (SCIM)',
      false,
    )
    .action(
      (
        organization: string,
        application: string,
        options: { json: boolean; role: KeyRole; provision: boolean },
      ) => {
        const { role, provision } = options;
        return run({ do: 'create', organization, application, role, provision }, options);
      },
    );
  command('monitor', 'create a key with the role Monitor')
    .argument('[application]', 'name of the application, in the organization "Sys Admin"', 'monitor')
    .action((application: string, options: { json: boolean }) =>
      run({ do: 'create', organization: 'Sys Admin', application, role: 'Monitor' }, options),
    );
  command('revoke', 'revoke a key')
    .argument('<organization>', 'name of the organization')
    .argument('<application>', 'name of the application')
    .argument('<key>', 'beginning of the secret, or the id of the key')
    .action((organization: string, application: string, key: string, options: { json: boolean }) =>
      run({ do: 'revoke', organization, application, key }, options),
    );
  addUsers(command, run);
  addAccessKeys(keys, line);
}

/** Commands about the people of an organization. */
function addUsers(command: KeyCommand, run: KeyRun): void {
  command('user', 'add a user, who signs in to the pages with a link by e-mail; or change the role of a user')
    .argument('<organization>', 'name of the organization')
    .argument('<email>', 'address to which links are mailed')
    .option('--name <name>', 'name of the user (default: the address)')
    .addOption(
      new Option('--role <role>', 'role of the user').choices([...USER_ROLES]).default('administrator'),
    )
    .action(
      (organization: string, email: string, options: { json: boolean; name?: string; role: UserRole }) => {
        const { name = email, role } = options;
        return run({ do: 'user', organization, email, name, role }, options);
      },
    );
  command('sign-in', 'print a link that signs a user in, also without mail and identity provider')
    .argument('<organization>', 'name of the organization')
    .argument('<email>', 'address of the user')
    .action((organization: string, email: string, options: { json: boolean }) =>
      run({ do: 'sign-in', organization, email }, options),
    );
  command('reset-factor', 'remove the second factor of a user who has lost it')
    .argument('<organization>', 'name of the organization')
    .argument('<email>', 'address of the user')
    .action((organization: string, email: string, options: { json: boolean }) =>
      run({ do: 'reset-factor', organization, email }, options),
    );
}

interface AccessKeyOptions {
  readonly json: boolean;
  readonly scope: string[];
  readonly profile: string[];
  readonly folder: string[];
  readonly expires?: string;
}

/** Keys of the batch service, through its API: it holds them while it runs. */
function addAccessKeys(keys: Command, line: CommandLine): void {
  const run = (words: AccessKeyArguments, options: { readonly json: boolean }) =>
    line.configured(async ({ settings }) => {
      const { accessKeys } = await import('../access-keys.ts');
      return accessKeys(settings, words, options, line.terminal);
    })();
  const service = keys
    .command('service')
    .description('administer the named keys of the batch service; the service must run');
  const command = (name: string, description: string) =>
    addConfiguredCommand(service, name, description).option('--json', 'print JSON', false);
  command('list', 'list the keys').action((options: { json: boolean }) => run({ do: 'list' }, options));
  command('create', 'create a key, and print its secret')
    .argument('<name>', 'lower-case letters, digits and inner hyphens')
    .requiredOption('--scope <scope>', 'read, submit, operate or administer; may be repeated', collect, [])
    .option('--profile <name>', 'only jobs of this profile; may be repeated', collect, [])
    .option('--folder <name>', 'only jobs of this input folder; may be repeated', collect, [])
    .option('--expires <time>', 'day or time at which it ends (default: never)')
    .action((name: string, { scope: scopes, profile, folder, expires, ...options }: AccessKeyOptions) => {
      const body = {
        name,
        scopes,
        ...(profile.length > 0 && { profiles: profile }),
        ...(folder.length > 0 && { folders: folder }),
        ...(expires && { expiresAt: expires }),
      };
      return run({ do: 'create', body }, options);
    });
  command('rotate', 'give a key a new secret, and print it')
    .argument('<name>', 'name of the key')
    .option('--overlap <hours>', 'hours for which the present secret stays valid', '24')
    .action((name: string, { overlap, json }: { overlap: string; json: boolean }) =>
      run({ do: 'rotate', name, overlapHours: Number(overlap) }, { json }),
    );
  command('revoke', 'revoke a key')
    .argument('<name>', 'name of the key')
    .action((name: string, options: { json: boolean }) => run({ do: 'revoke', name }, options));
}

export function addVerifyHistory({ program, terminal, configured }: CommandLine): void {
  const text = 'verify the history, and name the first entry that was changed';
  addConfiguredCommand(program, 'verify-history', text)
    .option('--copy <file>', 'file with copies of checkpoints, one a line; may be repeated', collect, [])
    .option('--files', 'compare outputs and files of the portal with their digests, too', false)
    .option('--json', 'print JSON', false)
    .action(
      configured(
        async (
          { settings },
          { copy: copies, ...options }: { copy: string[]; json: boolean; files: boolean },
        ) => {
          const { verifyHistoryCommand } = await import('../verify-history.ts');
          return verifyHistoryCommand(settings, { copies, ...options }, terminal);
        },
      ),
    );
}

export function addJobs({ program, terminal, configured }: CommandLine): void {
  const jobs = program.command('jobs').description('read jobs from the store');
  const text = 'print each job as a line of JSON, newest first';
  const exporting = addConfiguredCommand(jobs, 'export', text);
  for (const name of JOB_FILTERS)
    exporting.option(`--${name} <value>`, `filter; see ${name} of GET /api/jobs`);
  exporting.action(
    configured(({ settings }, { configDir: _, ...filter }: Readonly<Record<string, string>>) =>
      exportCommand(settings, filter, terminal),
    ),
  );
}

/**
 * Prints every job as one line of JSON, as `GET /api/jobs/{id}` shows it, with the proof of its history: the lines as they
 * are hashed, and the way from the newest sealed one to a signed checkpoint.
 * Source: docs/batch-values.md §13; docs/decisions/0053-tamper-evident-history.md.
 * @param filter the query parameters of `GET /api/jobs`, as text
 */
async function exportCommand(
  settings: Settings,
  filter: Readonly<Record<string, string>>,
  terminal: Pick<Terminal, 'out' | 'err'>,
): Promise<ExitCode> {
  const { exportJobs } = await import('../../actors/index.ts');
  const { encodeJob, readJobFilter } = await import('../../http/index.ts');
  const { openReader } = await import('../../service/open-store.ts');
  try {
    const wanted = readJobFilter(filter);
    const store = await openReader(settings);
    try {
      for await (const { job, journal, proof } of exportJobs(store, wanted)) {
        const historyProof = { lines: journal, sealed: proof ?? null };
        terminal.out(`${JSON.stringify({ ...Object(encodeJob(job)), historyProof })}\n`);
      }
    } finally {
      await store.close();
    }
    return EXIT.good;
  } catch (error) {
    terminal.err(`sealwright jobs export: ${error instanceof Error ? error.message : String(error)}\n`);
    const { code } = error as { code?: unknown };
    return code === 'validation.filter-invalid' ? EXIT.refused : exitCodeOf(error);
  }
}

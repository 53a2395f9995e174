/** Commands that read or write the store: `backup`, `store`, `keys`, `verify-history` and `jobs`. */
import { resolve } from 'node:path';
import { systemClock, systemIds } from '@sealwright/runtime/core';
import { addKeysCommands } from '../keys/keys-options.ts';
import { collect } from '../option-values.ts';
import { addStoreCommands } from '../store/store-options.ts';
import {
  addConfiguredCommand,
  type CommandLine,
  configDir,
  SETTINGS_HELP,
  withSettings,
} from './command-line.ts';

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

export function addBackup({ program, terminal, load, action }: CommandLine): void {
  const text = 'copy the store, the documents and the keys; the service may run';
  addConfiguredCommand(program, 'backup', text)
    .argument('<dir>', 'a folder that is missing or empty')
    .action(
      action((dir: string) =>
        withSettings(load(), terminal, async (settings) => {
          const { backup } = await import('../backup.ts');
          return backup(settings, resolve(dir), terminal);
        }),
      ),
    );
}

export function addStore({ program, terminal, live, action }: CommandLine): void {
  addStoreCommands(
    program,
    action(async (options) => {
      const { copyCommand } = await import('../store/copy.ts');
      return copyCommand(options, { clock: systemClock, terminal, live });
    }),
  );
}

export function addKeys({ program, terminal, load, action }: CommandLine): void {
  addKeysCommands(
    program,
    configDir,
    SETTINGS_HELP,
    action((words, { json }) =>
      withSettings(load(), terminal, async (settings) => {
        const { keys } = await import('../keys/keys.ts');
        return keys(settings, words, { json }, { clock: systemClock, ids: systemIds, terminal });
      }),
    ),
  );
}

export function addVerifyHistory({ program, terminal, load, action }: CommandLine): void {
  const text = 'verify the history, and name the first entry that was changed';
  addConfiguredCommand(program, 'verify-history', text)
    .option('--copy <file>', 'file with copies of checkpoints, one a line; may be repeated', collect, [])
    .option('--json', 'print JSON', false)
    .action(
      action(({ copy, json }: { readonly copy: string[]; readonly json: boolean }) =>
        withSettings(load(), terminal, async (settings) => {
          const { verifyHistoryCommand } = await import('../verify-history.ts');
          return verifyHistoryCommand(settings, { copies: copy, json }, terminal);
        }),
      ),
    );
}

export function addJobs({ program, terminal, load, action }: CommandLine): void {
  const jobs = program.command('jobs').description('read jobs from the store');
  const text = 'print each job as a line of JSON, newest first';
  const exporting = addConfiguredCommand(jobs, 'export', text);
  for (const name of JOB_FILTERS)
    exporting.option(`--${name} <value>`, `filter; see ${name} of GET /api/jobs`);
  exporting.action(
    action((options: Readonly<Record<string, string>>) => {
      const { configDir: _, ...filter } = options;
      return withSettings(load(), terminal, async (settings) => {
        const { exportCommand } = await import('../jobs-export.ts');
        return exportCommand(settings, filter, terminal);
      });
    }),
  );
}

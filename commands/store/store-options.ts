/** `sealwright store …` as the command line has it. */
import type { Command } from 'commander';
import type { CopyOptions } from './copy.ts';

const HELP = `
A store is the folder of an LMDB store (db below Storage:Root) or postgres://user@host:port/database. Give the password
of PostgreSQL in the environment variable PGPASSWORD: other users of the machine can read command lines.
Exit codes: 0 success, 1 source and copy differ, 2 usage, 3 a store is in use, is not available or holds other data.`;

/** @param copy copies a store */
export function addStoreCommands(program: Command, copy: (options: CopyOptions) => Promise<void>): void {
  const store = program.command('store').description('copy the store of a stopped installation');
  store
    .command('copy')
    .description(
      'copy a store between LMDB and PostgreSQL, and compare both; repeat it after an interruption',
    )
    .requiredOption('--from <store>', 'source')
    .requiredOption('--to <store>', 'target: empty, missing, or left by an interrupted copy')
    .option('--schema <name>', 'schema in PostgreSQL (Runtime:Postgres:Schema)', 'sealwright')
    .option('--json', 'print JSON', false)
    .addHelpText('after', HELP)
    .action(copy);
}

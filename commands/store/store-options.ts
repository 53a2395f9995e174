/** `sealwright store …` as the command line has it. */
import type { Command } from 'commander';
import type { CopyOptions } from './copy.ts';

const HELP = `
A store is the folder of an LMDB store (db below Storage:Root) or postgres://user@host:port/database. Give the password
of PostgreSQL in the environment variable PGPASSWORD: other users of the machine can read command lines.
Exit codes: 0 good, 1 source and copy differ, 2 usage, 3 a store that is in use, cannot be had or holds something else.`;

/** @param copy copies a store */
export function addStoreCommands(program: Command, copy: (options: CopyOptions) => Promise<void>): void {
  const store = program
    .command('store')
    .description('move the store of an installation, while it is stopped');
  store
    .command('copy')
    .description('copy an installation between LMDB and PostgreSQL, and compare both; may be repeated')
    .requiredOption('--from <store>', 'store that is copied')
    .requiredOption('--to <store>', 'store that is written: empty, missing, or left by an interrupted copy')
    .option('--schema <name>', 'schema in PostgreSQL (Runtime:Postgres:Schema)', 'sealwright')
    .option('--json', 'print JSON', false)
    .addHelpText('after', HELP)
    .action(copy);
}

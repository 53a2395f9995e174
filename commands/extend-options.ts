/** `sealwright extend` as the command line has it. */
import { type Command, Option } from 'commander';
import type { ExtendOptions } from './extend.ts';
import { collect, parseFormat } from './option-values.ts';

/** @param run extends the files */
export function addExtendCommand(
  program: Command,
  run: (files: readonly string[], options: ExtendOptions) => Promise<void>,
): void {
  program
    .command('extend')
    .description('raise signed files to a higher level, or renew their archive time-stamps')
    .argument('<file...>', 'signed files; the results are written as <name>.extended<extension>')
    .addOption(
      new Option('--level <level>', 'target level; LTA also renews archive time-stamps')
        .choices(['T', 'LT', 'LTA'])
        .default('LTA'),
    )
    .requiredOption('--timestamp-url <url>', 'time-stamp authority (RFC 3161)')
    .option('--timestamp-user <name>', 'user name for HTTP Basic authentication')
    .option(
      '--timestamp-password-env <variable>',
      'environment variable that holds the password of that user',
    )
    .option('--format <format>', 'Pades, Cades, Xades or Asic (default: by extension)', parseFormat)
    .option('--trust <pem>', 'file with trusted root certificates; may be repeated', collect, [])
    .option('--intermediates <pem>', 'file with certificates below the roots; may be repeated', collect, [])
    .option('--content <file>', 'content of a detached signature')
    .option('--password-env <variable>', 'environment variable that holds the password of encrypted PDFs')
    .option('--out <file>', 'path of the extended file; must not exist')
    .option('--allow-private', 'connect to loopback and private addresses too', false)
    .option('--json', 'print JSON', false)
    .action(run);
}

/** Commands that work on files: `verify`, `extend` and `decrypt`. */
import { readFileSync, statSync } from 'node:fs';
import { type Clock, describeFailure } from '@sealwright/runtime/core';
import type {
  CollectOnline,
  CompareIndependently,
  ExtendOptions,
  VerifyOptions,
} from '@sealwright/signatures/command-line';
import { Option } from 'commander';
import { escapeControls } from '../../logging.ts';
import type { LoadedSettings } from '../../settings.ts';
import type { ExitCode } from '../exit-codes.ts';
import { collect, type Format, parseCount, parseFormat, parseTime } from '../option-values.ts';
import type { Terminal } from '../terminal.ts';
import type { CommandLine } from './command-line.ts';

/** Options of `verify` as they come from the command line. */
type VerifyArguments = Omit<VerifyOptions, 'format' | 'content' | 'at' | 'password'> & {
  readonly passwordEnv?: string;
  readonly allowPrivate: boolean;
  readonly format?: Format;
  readonly content: readonly string[];
  readonly at?: number;
};

export function addVerify(line: CommandLine): void {
  line.program
    .command('verify')
    .description('check the signatures of files')
    .argument('<file...>', 'signed files')
    .option(
      '--format <format>',
      'Pades, Cades, Xades or Asic (default: by extension and content)',
      parseFormat,
    )
    .option(
      '--trust <pem>',
      'file with trusted root certificates; may be repeated (default: those that this installation trusts)',
      collect,
      [],
    )
    .option(
      '--trust-lists <folder>',
      'folder with the European list of lists, its pivots and national lists: qualifies signatures, and trusts listed services',
    )
    .option('--list-anchors <folder>', 'certificates of the Official Journal (default: those of C/2026/1944)')
    .option('--list-journal <address>', 'address of that journal, as the list of lists names it')
    .option('--intermediates <pem>', 'file with certificates below the roots; may be repeated', collect, [])
    .option('--content <file>', 'content of a detached signature; may be repeated', collect, [])
    .option(
      '--certificate <pem>',
      "file with the signer's certificate, for signatures that hold none; may be repeated",
      collect,
      [],
    )
    .option('--at <time>', 'validate as of this time, such as 2026-05-17T12:00:00Z (default: now)', parseTime)
    .addOption(
      new Option('--revocation <mode>', 'check of revocation; without an answer, soft warns and hard fails')
        .choices(['none', 'soft', 'hard'])
        .default('soft'),
    )
    .option('--online', 'ask the authorities named in the certificates for data that the file lacks', false)
    .option('--allow-private', 'let --online connect to loopback and private addresses too', false)
    .option(
      '--independent',
      'check with a second implementation (pkijs, xml-crypto) too; a disagreement fails the file',
      false,
    )
    .option('--password-env <variable>', 'environment variable that holds the password of encrypted PDFs')
    .option('--report', 'print the validation report of ETSI TS 119 102-2 (XML) of one file', false)
    .option('--no-chain', 'check the integrity only, not the certificates')
    .option('--json', 'print JSON', false)
    .action(line.action((files: string[], options: VerifyArguments) => verify(line, files, options)));
}

async function verify(
  { terminal, load, clock, env }: CommandLine,
  files: readonly string[],
  options: VerifyArguments,
): Promise<ExitCode> {
  const { verifyFiles } = await import('@sealwright/signatures/command-line');
  const { validateFile } = await import('@sealwright/signatures');
  const { format, content, at = clock.now() } = options;
  const { online, allowPrivate } = options;
  const askOnline = online ? await collectOnline(clock, allowPrivate, load()) : undefined;
  const compare = options.independent ? compareIndependently(at) : undefined;
  const password = options.passwordEnv === undefined ? undefined : env[options.passwordEnv];
  const { readOwnTrust } = await import('../verify/own-trust.ts');
  const own = options.trust.length === 0 ? readOwnTrust(load()) : undefined;
  const wanted = { ...options, program: 'sealwright', own, format, content, at, password };
  return verifyFiles(files, wanted, terminal, { validate: validateFile, askOnline, compareWith: compare });
}

/**
 * Network access of `verify --online`. Asks as the service does: issuers come from the hosts of `Signing:Trust:AiaHosts`
 * alone.
 * @param allowPrivate certificates may name addresses that are not public
 */
async function collectOnline(
  clock: Clock,
  allowPrivate: boolean,
  loaded: LoadedSettings,
): Promise<CollectOnline> {
  const { createAuthorityTransport, evidenceOver, NO_TRUST } = await import('../../actors/index.ts');
  const { ownIssuerHosts } = await import('../verify/own-trust.ts');
  const issuerHosts = ownIssuerHosts(loaded);
  const transport = createAuthorityTransport({ clock, allowPrivate, issuerHosts });
  return ({ anchors, intermediates = [] }) =>
    evidenceOver(transport, { ...NO_TRUST, roots: anchors, intermediates, issuerHosts }, clock);
}

/**
 * `verify --independent`: the second implementation's verdict on a file, compared with the engine's.
 * @param at time of validation, milliseconds since the epoch
 */
export function compareIndependently(at: number): CompareIndependently {
  return async ({ format, signatures }, path, content) => {
    const { compareReports, MAX_COMPARED_BYTES, verifyIndependently } = await import(
      '../../independent/index.ts'
    );
    const paths = content === undefined ? [path] : [path, content];
    if (paths.reduce((sum, one) => sum + statSync(one).size, 0) > MAX_COMPARED_BYTES)
      return { verdict: 'not-comparable', details: [`The file is longer than ${MAX_COMPARED_BYTES} bytes.`] };
    const report = await verifyIndependently({
      format,
      bytes: readFileSync(path),
      ...(content !== undefined && { content: readFileSync(content) }),
      at,
    });
    return compareReports(signatures, report);
  };
}

export function addExtend(line: CommandLine): void {
  line.program
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
    .action(
      line.action(async (files: readonly string[], options: ExtendOptions) => {
        const { extendFiles } = await import('@sealwright/signatures/command-line');
        const { createAuthorityTransport } = await import('../../actors/index.ts');
        const { ownIssuerHosts } = await import('../verify/own-trust.ts');
        const { terminal, env, clock, ids } = line;
        const issuerHosts = ownIssuerHosts(line.load());
        const { allowPrivate = false } = options;
        return extendFiles(files, { ...options, program: 'sealwright' }, terminal, {
          env,
          transport: createAuthorityTransport({ clock, allowPrivate, issuerHosts }),
          issuerHosts,
          now: () => clock.now(),
          wait: (ms) => clock.sleep(ms),
          random: (length) => Buffer.from(ids.bytes(length)),
        });
      }),
    );
}

export function addDecrypt({ program, terminal, env, action }: CommandLine): void {
  program
    .command('decrypt')
    .description('decrypt an encrypted output')
    .requiredOption('--password-env <variable>', 'environment variable that holds the password')
    .requiredOption('--salt-b64 <salt>', 'the salt, Base64 (Encryption:Salt)')
    .option('--iterations <number>', 'rounds of key derivation (Encryption:Iterations)', parseCount, 600_000)
    .requiredOption('--in <file>', 'the encrypted file')
    .requiredOption('--out <file>', 'the decrypted file; must not exist')
    .addHelpText(
      'after',
      '\nExit codes: 0 success, 1 not an encrypted file or truncated, 2 wrong password or salt, 3 usage or a file that is not available.',
    )
    .action(action((options: DecryptOptions) => decrypt(options, env, terminal)));
}

interface DecryptOptions {
  /** Name of the environment variable with the password. */
  readonly passwordEnv: string;
  readonly saltB64: string;
  readonly iterations: number;
  readonly in: string;
  readonly out: string;
}

/** Exit codes of this command; they are older than those of the other commands and differ. */
const DECRYPT_EXIT = { good: 0, malformed: 1, wrongTag: 2, usage: 3 } as const;

/**
 * Takes a published file out of its encryption envelope, on any machine that knows password, salt and iterations. Writes
 * the decrypted file under a name that is free; on any failure there is none. Source: docs/batch-values.md §9.
 */
async function decrypt(
  options: DecryptOptions,
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<(typeof DECRYPT_EXIT)[keyof typeof DECRYPT_EXIT]> {
  const { decryptFile, EnvelopeError, envelopeKey } = await import('@sealwright/signatures');
  const refuse = (text: string, exit: 1 | 2 | 3 = DECRYPT_EXIT.usage) => {
    terminal.err(`sealwright decrypt: ${escapeControls(text)}\n`);
    return exit;
  };
  const password = env[options.passwordEnv];
  if (password === undefined || password === '')
    return refuse(`the environment variable ${options.passwordEnv} is not set.`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(options.saltB64) || options.saltB64.length % 4 !== 0)
    return refuse('--salt-b64 must be Base64.');
  try {
    const key = await envelopeKey(password, Buffer.from(options.saltB64, 'base64'), options.iterations);
    decryptFile({ input: options.in, output: options.out, key });
  } catch (error) {
    if (!(error instanceof EnvelopeError)) return refuse(describeFailure(error).message);
    const { malformed, wrongTag } = DECRYPT_EXIT;
    return refuse(`${options.in}: ${error.message}`, error.code === 'envelope.tag' ? wrongTag : malformed);
  }
  terminal.out(`${escapeControls(options.out)}\n`);
  return DECRYPT_EXIT.good;
}

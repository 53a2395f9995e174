#!/usr/bin/env node
/** Command line of the package. Loads the engine only for a command. */
import { parseArgs } from 'node:util';
import { machineTime } from '../core/system-time.ts';
import { type ExitCode, escapeControls, failureOf, type Terminal } from './terminal.ts';

const HELP = `Usage: sealwright-signatures <command> <file...> [options]

sign      sign each file, or all into one container
  --key <file>                   PKCS#12 container, or a private key with --certificate
  --certificate <pem>            certificates of a private key in PEM or DER
  --pkcs11 <module>              key on a token, with --thumbprint; takes the package pkcs11js
  --thumbprint <hex>             SHA-1 of the signer's certificate, where a source has several
  --key-password-env <variable>  environment variable with the password or PIN
  --key-password-file <file>     file whose first line is the password or PIN
  --level <level>                B-B (default), B-T, B-LT or B-LTA
  --format <format>              Pades, Cades or Xades (default: by content)
  --container <kind>             S (one file) or E: ASiC
  --digest <name>                sha256, sha384 or sha512
  --detached                     write the signature alone
  --out <file>                   path of the result; must not exist
  --reason, --location, --field  entries of a PDF signature
  --text <line>, --image <file>  visible signature; --text may be repeated
  --place <page,left,top,width,height>  where, in points from the upper left corner; page 0 is the last one

extend    raise signatures to a higher level, or renew archive time-stamps
  --level <level>                B-T, B-LT or B-LTA (default)
  --format, --content, --out     as for the other commands

verify    print verdict and reasons for each file
  --content <file>               content of a detached signature; may be repeated
  --certificate <pem>            signer's certificate, for signatures that hold none; may be repeated
  --at <time>                    validate as of this time, such as 2026-05-17T12:00:00Z
  --trust-lists <folder>         European trusted lists; qualifies signatures and trusts listed services
  --list-anchors <folder>        certificates of the Official Journal, with --list-journal <address>
  --revocation <mode>            none, soft (default) or hard
  --online                       ask the authorities that certificates name
  --no-chain                     integrity only: whose certificate it is, is not checked
  --json, --report               JSON; the report of ETSI TS 119 102-2 (XML)

All commands
  --trust <pem>, --intermediates <pem>  certificates; may be repeated
  --timestamp-url <url>          time-stamp authority (RFC 3161), from B-T on
  --timestamp-user <name>, --timestamp-password-env <variable>  its HTTP Basic authentication
  --allow-private                let certificates name addresses that are not public
  --password-env <variable>      environment variable with the password of encrypted PDFs

Exit codes: 0 success or valid, 1 failure or not valid, 2 usage.
`;

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;
const LIST = { type: 'string', multiple: true } as const;
const COMMON = {
  trust: LIST,
  intermediates: LIST,
  format: TEXT,
  'timestamp-url': TEXT,
  'timestamp-user': TEXT,
  'timestamp-password-env': TEXT,
  'allow-private': FLAG,
  'password-env': TEXT,
} as const;
const CHANGING = { level: TEXT, out: TEXT } as const;
const OPTIONS = {
  sign: {
    ...COMMON,
    ...CHANGING,
    key: TEXT,
    certificate: TEXT,
    pkcs11: TEXT,
    thumbprint: TEXT,
    'key-password-env': TEXT,
    'key-password-file': TEXT,
    container: TEXT,
    digest: TEXT,
    detached: FLAG,
    reason: TEXT,
    location: TEXT,
    field: TEXT,
    text: LIST,
    image: TEXT,
    place: TEXT,
  },
  extend: { ...COMMON, ...CHANGING, content: TEXT, json: FLAG },
  verify: {
    ...COMMON,
    content: LIST,
    certificate: LIST,
    at: TEXT,
    revocation: TEXT,
    online: FLAG,
    'no-chain': FLAG,
    json: FLAG,
    report: FLAG,
    'trust-lists': TEXT,
    'list-anchors': TEXT,
    'list-journal': TEXT,
  },
} as const;

const FORMATS = ['Pades', 'Cades', 'Xades', 'Asic'] as const;
const LEVELS = { 'B-B': 'B', 'B-T': 'T', 'B-LT': 'LT', 'B-LTA': 'LTA' } as const;

/** Returns the one of `choices` that a text names, in any casing. @throws {Error} a sentence for people */
function oneOf<T extends string>(
  option: string,
  text: string | undefined,
  choices: readonly T[],
): T | undefined {
  if (text === undefined) return undefined;
  const found = choices.find((choice) => choice.toLowerCase() === text.toLowerCase());
  if (found === undefined) throw new Error(`--${option} is one of ${choices.join(', ')}.`);
  return found;
}

function levelOf(text: string | undefined) {
  const name = text?.toUpperCase().replace(/^(B|T|LT|LTA)$/, 'B-$1');
  const found = oneOf('level', name, Object.keys(LEVELS) as (keyof typeof LEVELS)[]);
  return found && LEVELS[found];
}

/** Members that are given, with names as in the options of commands. */
function given(values: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()), value]),
  );
}

function placeOf(text: string | undefined) {
  if (text === undefined) return undefined;
  const numbers = text.split(',').map(Number);
  if (numbers.length !== 5 || numbers.some((number) => !(number >= 0)))
    throw new Error('--place is page,left,top,width,height.');
  return numbers as [number, number, number, number, number];
}

async function run(all: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { env } = process;
  const isHelp = all[0] === 'help' || all.some((word) => word === '--help' || word === '-h');
  const [command, ...words] = isHelp ? [] : all;
  if (command === 'sign') {
    const { values, positionals: files } = parse(words, OPTIONS.sign);
    const format = oneOf('format', values.format, ['Pades', 'Cades', 'Xades']);
    const container = oneOf('container', values.container, ['S', 'E']);
    const digest = oneOf('digest', values.digest, ['sha256', 'sha384', 'sha512']);
    const level = levelOf(values.level) ?? 'B';
    const place = placeOf(values.place);
    const { trust = [], intermediates = [], text = [], detached = false } = values;
    const options = { ...given(values), trust, intermediates, text, detached, level };
    const { signFiles } = await import('./sign-command.ts');
    return signFiles(files, { ...options, ...given({ format, container, digest, place }) }, terminal, {
      env,
      at: machineTime(),
    });
  }
  if (command === 'extend') {
    const { values, positionals: files } = parse(words, OPTIONS.extend);
    const level = levelOf(values.level) ?? 'LTA';
    const { trust = [], intermediates = [], json = false, 'timestamp-url': timestampUrl } = values;
    if (level === 'B') throw new Error('--level is one of B-T, B-LT, B-LTA.');
    if (timestampUrl === undefined) throw new Error('--timestamp-url is missing.');
    const format = oneOf('format', values.format, FORMATS);
    const options = {
      ...given(values),
      trust,
      intermediates,
      json,
      level,
      timestampUrl,
      ...given({ format }),
    };
    const { extendFiles } = await import('./extend-command.ts');
    return extendFiles(files, options, terminal, { env });
  }
  if (command === 'verify') {
    const { values, positionals: files } = parse(words, OPTIONS.verify);
    const { trust = [], intermediates = [], json = false, report = false, online = false } = values;
    const { content, certificate } = values;
    const at = values.at === undefined ? machineTime() : Date.parse(values.at);
    if (Number.isNaN(at)) throw new Error('--at is a date and time, such as 2026-05-17T12:00:00Z.');
    const password = values['password-env'] === undefined ? undefined : env[values['password-env']];
    const { verifyFiles } = await import('./verify-command.ts');
    const { validateFile } = await import('../files/validate-file.ts');
    const { servicesOf } = await import('./services.ts');
    return verifyFiles(
      files,
      {
        trust,
        intermediates,
        json,
        report,
        online,
        content,
        certificate,
        at,
        password,
        format: oneOf('format', values.format, FORMATS),
        revocation: oneOf('revocation', values.revocation, ['none', 'soft', 'hard']) ?? 'soft',
        chain: values['no-chain'] !== true,
        trustLists: values['trust-lists'],
        listAnchors: values['list-anchors'],
        listJournal: values['list-journal'],
      },
      terminal,
      {
        validate: validateFile,
        askOnline: ({ anchors, intermediates: found = [] }) =>
          servicesOf(given(values), { anchors, intermediates: found }, env, {}).evidence,
      },
    );
  }
  (isHelp ? terminal.out : terminal.err)(HELP);
  return isHelp ? 0 : 2;
}

function parse<T extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(
  words: readonly string[],
  options: T,
) {
  const parsed = parseArgs({ args: [...words], options: options as T & {}, allowPositionals: true });
  if (parsed.positionals.length === 0) throw new Error('Name at least one file.');
  return parsed;
}

const terminal: Terminal = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  colors: process.stdout.isTTY === true && !process.env['NO_COLOR'],
};
try {
  process.exitCode = await run(process.argv.slice(2), terminal);
} catch (error) {
  terminal.err(`sealwright-signatures: ${escapeControls(failureOf(error).message)}\n`);
  process.exitCode = 2;
}

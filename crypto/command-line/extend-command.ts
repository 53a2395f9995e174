/**
 * `extend <file…>`: raises signed files to a higher level, or renews their archive time-stamps. The signed file is kept;
 * the extended one gets a name of its own.
 */
import { parse, resolve } from 'node:path';
import { augmentAsic } from '../asic/augment.ts';
import { machineTime } from '../core/system-time.ts';
import type { SignatureLevel } from '../core/types.ts';
import type { ValidationReport } from '../core/validation-report.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import { augmentFile } from '../files/sign-file.ts';
import { readCertificateFiles } from './read-certificates.ts';
import { type CommandServices, type ServiceOptions, servicesOf } from './services.ts';
import { type ExitCode, escapeControls, failureOf, type Terminal } from './terminal.ts';
import { formatOf } from './verify-command.ts';

export interface ExtendOptions extends ServiceOptions {
  /** As in `VerifyOptions`. */
  readonly program?: string;
  readonly json: boolean;
  /** Overrides the format that the extension suggests. */
  readonly format?: ValidationReport['format'];
  readonly level: Exclude<SignatureLevel, 'B'>;
  readonly timestampUrl: string;
  readonly trust: readonly string[];
  readonly intermediates: readonly string[];
  /** Files that a detached signature covers. */
  readonly content?: string;
  /** Path of the extended file, for one file. @default `<name>.extended<extension>` beside the signed file */
  readonly out?: string;
  /** Name of the environment variable with the password of encrypted PDFs. */
  readonly passwordEnv?: string;
}

/** 0 when every file was extended, 1 when one was not, 2 for unusable options. */
export async function extendFiles(
  files: readonly string[],
  options: ExtendOptions,
  terminal: Terminal,
  { env, ...surroundings }: CommandServices & { readonly env: Readonly<Record<string, string | undefined>> },
): Promise<ExitCode> {
  const refuse = (text: string): ExitCode => {
    terminal.err(`${options.program ?? 'sealwright-signatures'} extend: ${escapeControls(text)}\n`);
    return 2;
  };
  if (options.out !== undefined && files.length > 1)
    return refuse('--out names one file; leave it out for several.');
  const anchors = readCertificateFiles(options.trust, terminal);
  const intermediates = readCertificateFiles(options.intermediates, terminal);
  if (anchors === undefined || intermediates === undefined) return 2;
  const { now = machineTime } = surroundings;
  let services: SigningServices;
  try {
    services = servicesOf(options, { anchors, intermediates }, env, surroundings);
  } catch (error) {
    return refuse(failureOf(error).message);
  }
  const results: { file: string; output: string | null; error: { code: string; message: string } | null }[] =
    [];
  const password = options.passwordEnv === undefined ? undefined : env[options.passwordEnv];
  for (const file of files) {
    const output = options.out ?? extendedName(file);
    try {
      await extend(file, services, { ...options, output, at: now(), password });
      results.push({ file, output, error: null });
      if (!options.json) terminal.out(`${escapeControls(output)}\n`);
    } catch (error) {
      const { code, message } = failureOf(error);
      results.push({ file, output: null, error: { code, message } });
      if (!options.json) terminal.err(`${escapeControls(file)}: ${escapeControls(message)} (${code})\n`);
    }
  }
  const ok = results.every(({ error }) => error === null);
  if (options.json) terminal.out(`${JSON.stringify({ ok, files: results }, null, 2)}\n`);
  return ok ? 0 : 1;
}

/** `a.signed.pdf` → `a.signed.extended.pdf`, in the same folder. */
function extendedName(file: string): string {
  const { dir, name, ext } = parse(file);
  return `${dir === '' ? '' : `${dir}/`}${name}.extended${ext}`;
}

async function extend(
  file: string,
  services: SigningServices,
  {
    output,
    at,
    format: wanted,
    level: to,
    content,
    password,
  }: ExtendOptions & {
    readonly output: string;
    readonly at: number;
    readonly password: string | undefined;
  },
): Promise<void> {
  const format = wanted ?? formatOf(file);
  const request = {
    input: resolve(file),
    output: resolve(output),
    to,
    at,
    ...(password !== undefined && { password }),
  };
  if (format === 'Asic') await augmentAsic(request, services);
  else
    await augmentFile(
      { ...request, format, ...(content !== undefined && { content: resolve(content) }) },
      services,
    );
}

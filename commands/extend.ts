/**
 * `sealwright extend <file…>`: raises signed files to a higher level, or renews their archive time-stamps. The signed file is
 * kept; the extended one gets a name of its own.
 *
 * Source: docs/operations.md.
 */
import { parse, resolve } from 'node:path';
import { describeFailure } from '@sealwright/runtime/core';
import {
  augmentAsic,
  augmentFile,
  createEvidenceSource,
  createTimestampAuthority,
  type SignatureLevel,
  type SigningServices,
} from '@sealwright/signatures';
import { createAuthorityTransport } from '../actors/index.ts';
import { escapeControls } from '../logging.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { Format } from './option-values.ts';
import { readCertificateFiles } from './read-certificates.ts';
import type { CommandContext } from './terminal.ts';
import { formatOf } from './verify/verify.ts';

export interface ExtendOptions {
  readonly json: boolean;
  /** Overrides the format that the extension suggests. */
  readonly format?: Format;
  readonly level: Exclude<SignatureLevel, 'B'>;
  /** Address of the time-stamp authority. */
  readonly timestampUrl: string;
  readonly timestampUser?: string;
  /** Name of the environment variable with that user's password. */
  readonly timestampPasswordEnv?: string;
  readonly trust: readonly string[];
  readonly intermediates: readonly string[];
  /** Files that a detached signature covers. */
  readonly content?: string;
  /** Path of the extended file, for one file. @default `<name>.extended<extension>` beside the signed file */
  readonly out?: string;
  readonly allowPrivate: boolean;
  /** Name of the environment variable with the password of encrypted PDFs. */
  readonly passwordEnv?: string;
}

const TIMEOUT_MS = 10_000;

/** 0 when every file was extended, 1 when one was not, 2 for unusable options. */
export async function extendFiles(
  files: readonly string[],
  options: ExtendOptions,
  /** Hosts that missing issuers are fetched from. */
  issuerHosts: readonly string[],
  { terminal, clock, ids, env }: CommandContext,
): Promise<ExitCode> {
  const refuse = (text: string): ExitCode => {
    terminal.err(`sealwright extend: ${escapeControls(text)}\n`);
    return EXIT.refused;
  };
  if (options.out !== undefined && files.length > 1)
    return refuse('--out names one file; leave it out for several.');
  const anchors = readCertificateFiles(options.trust, terminal);
  const intermediates = readCertificateFiles(options.intermediates, terminal);
  if (anchors === undefined || intermediates === undefined) return EXIT.refused;
  let services: SigningServices;
  try {
    services = servicesOf(options, anchors, intermediates, issuerHosts, { clock, ids, env });
  } catch (error) {
    return refuse(describeFailure(error).message);
  }
  const results: { file: string; output: string | null; error: { code: string; message: string } | null }[] =
    [];
  const password = options.passwordEnv === undefined ? undefined : env[options.passwordEnv];
  for (const file of files) {
    const output = options.out ?? extendedName(file);
    try {
      await extend(file, output, { ...options, password }, services, clock.now());
      results.push({ file, output, error: null });
      if (!options.json) terminal.out(`${escapeControls(output)}\n`);
    } catch (error) {
      const { code, message } = describeFailure(error);
      results.push({ file, output: null, error: { code, message } });
      if (!options.json) terminal.err(`${escapeControls(file)}: ${escapeControls(message)} (${code})\n`);
    }
  }
  const ok = results.every(({ error }) => error === null);
  if (options.json) terminal.out(`${JSON.stringify({ ok, files: results }, null, 2)}\n`);
  return ok ? EXIT.good : EXIT.failed;
}

/** `a.signed.pdf` → `a.signed.extended.pdf`, in the same folder. */
function extendedName(file: string): string {
  const { dir, name, ext } = parse(file);
  return `${dir === '' ? '' : `${dir}/`}${name}.extended${ext}`;
}

async function extend(
  file: string,
  output: string,
  { format: wanted, level: to, content, password }: ExtendOptions & { readonly password: string | undefined },
  services: SigningServices,
  at: number,
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

function servicesOf(
  options: ExtendOptions,
  anchors: readonly Buffer[],
  intermediates: readonly Buffer[],
  issuerHosts: readonly string[],
  { clock, ids, env }: Pick<CommandContext, 'clock' | 'ids' | 'env'>,
): SigningServices {
  const { timestampUrl, timestampUser, timestampPasswordEnv, allowPrivate } = options;
  const asking = {
    transport: createAuthorityTransport({ clock, allowPrivate, issuerHosts }),
    now: () => clock.now(),
    wait: (ms: number) => clock.sleep(ms),
    retries: 1,
    timeoutMs: TIMEOUT_MS,
  };
  const password = timestampPasswordEnv === undefined ? '' : (env[timestampPasswordEnv] ?? '');
  return {
    timestamps: createTimestampAuthority({
      ...asking,
      url: timestampUrl,
      ...(timestampUser !== undefined && { username: timestampUser, password }),
      random: (length) => Buffer.from(ids.bytes(length)),
    }),
    evidence: createEvidenceSource({ ...asking, anchors, intermediates, issuerHosts, cacheMinutes: 60 }),
  };
}

/** `sealwright verify <file…>`: checks signed files and says why, check by check. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import type { SignatureFormat, VerificationReport, VerifyFileRequest } from '../crypto/index.ts';
import { escapeControls } from '../logging.ts';
import { describeFailure } from '../runtime/index.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { painter, type Terminal } from './terminal.ts';

export interface VerifyOptions {
  readonly json: boolean;
  /** Overrides the format that the extension suggests. */
  readonly format: SignatureFormat | undefined;
  /** PEM files of trusted roots; with none the chain is not checked. */
  readonly trust: readonly string[];
  /** Time at which certificates must be valid, milliseconds since the epoch. */
  readonly at: number;
}

interface FileVerdict extends VerificationReport {
  readonly file: string;
  readonly format: SignatureFormat;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Prints one verdict per file; 0 when every file is good, 1 when one is not, 2 when a trust file is unusable. */
export function verifyFiles(
  files: readonly string[],
  verify: (request: VerifyFileRequest) => VerificationReport,
  options: VerifyOptions,
  terminal: Terminal,
): ExitCode {
  const anchors = readAnchors(options.trust, terminal);
  if (anchors === undefined) return EXIT.refused;
  const verdicts = files.map((file) => {
    const verdict = judge(file, verify, options, anchors);
    if (!options.json) terminal.out(verdictText(verdict, anchors.length > 0, terminal));
    return verdict;
  });
  const ok = verdicts.every((verdict) => verdict.ok);
  if (options.json) {
    terminal.out(`${JSON.stringify({ ok, chainChecked: anchors.length > 0, files: verdicts }, null, 2)}\n`);
  }
  return ok ? EXIT.good : EXIT.failed;
}

/** The format a file of this name most likely has. Source: batch-gaps §4, "Format choice". */
export function formatOf(file: string): SignatureFormat {
  const extension = extname(file).toLowerCase();
  return extension === '.pdf' ? 'Pades' : extension === '.xml' ? 'Xades' : 'Cades';
}

function judge(
  file: string,
  verify: (request: VerifyFileRequest) => VerificationReport,
  options: VerifyOptions,
  anchors: readonly Buffer[],
): FileVerdict {
  const format = options.format ?? formatOf(file);
  const trust = anchors.length > 0 ? { anchors } : {};
  try {
    const report = verify({ format, path: resolve(file), at: options.at, ...trust });
    return { file, format, ...report, error: null };
  } catch (error) {
    return { file, format, ok: false, signatures: 0, checks: [], error: describeFailure(error) };
  }
}

function verdictText(verdict: FileVerdict, chainChecked: boolean, terminal: Terminal): string {
  const { bold, dim, green, red } = painter(terminal);
  const mark = verdict.ok ? green('good') : red('BAD ');
  const count = `${verdict.signatures} ${verdict.signatures === 1 ? 'signature' : 'signatures'}`;
  const lines = [`${mark}  ${bold(escapeControls(verdict.file))}  ${dim(`${verdict.format}, ${count}`)}`];
  const width = Math.max(0, ...verdict.checks.map(({ name }) => name.length));
  for (const check of verdict.checks) {
    const sign = check.ok ? green('ok  ') : red('FAIL');
    lines.push(
      `  ${sign}  ${escapeControls(check.name).padEnd(width)}  ${dim(escapeControls(check.detail))}`,
    );
  }
  if (verdict.error)
    lines.push(
      `  ${red('FAIL')}  ${escapeControls(verdict.error.message)} ${dim(`(${verdict.error.code})`)}`,
    );
  if (verdict.ok && !chainChecked)
    lines.push(`  ${dim('note')}  no --trust given: who issued the certificate was not checked`);
  return `${lines.join('\n')}\n`;
}

function readAnchors(files: readonly string[], terminal: Terminal): readonly Buffer[] | undefined {
  const anchors: Buffer[] = [];
  for (const file of files) {
    try {
      anchors.push(...certificatesIn(readFileSync(file)));
    } catch (error) {
      terminal.err(
        `${escapeControls(file)} holds no readable certificate: ${escapeControls(describeFailure(error).message)}\n`,
      );
      return undefined;
    }
  }
  return anchors;
}

/** DER of every certificate in a PEM file, or of the one in a DER file. */
function certificatesIn(content: Buffer): Buffer[] {
  const blocks = content
    .toString('latin1')
    .match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  return blocks === null
    ? [new X509Certificate(content).raw]
    : blocks.map((block) => new X509Certificate(block).raw);
}

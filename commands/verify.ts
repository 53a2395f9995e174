/** `sealwright verify <file…>`: says of each signature who made it, when, over what, and whether that holds. */
import { readFileSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import {
  certificatesIn,
  type EvidenceSource,
  readCertificate,
  type SignatureRecord,
  type TrustSettings,
  type ValidateFileRequest,
  type ValidationReport,
} from '../crypto/index.ts';
import { escapeControls } from '../logging.ts';
import { describeFailure } from '../runtime/index.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';
import { verdictText } from './verify-text.ts';
import type { FileVerdict, VerifyOptions } from './verify-verdict.ts';

export type { VerifyOptions } from './verify-verdict.ts';

/** Asks authorities, over the network, for these anchors. */
export type AskOnline = (trust: Pick<TrustSettings, 'anchors' | 'intermediates'>) => EvidenceSource;

type Validate = (request: ValidateFileRequest) => Promise<ValidationReport>;

/**
 * Prints one verdict per file; 0 when every file is good, 1 when one is not, 2 when a certificate file is unusable.
 * @param askOnline called only with `options.online`
 */
export async function verifyFiles(
  files: readonly string[],
  validate: Validate,
  options: VerifyOptions,
  terminal: Terminal,
  askOnline?: AskOnline,
): Promise<ExitCode> {
  const anchors = readCertificates(options.trust, terminal);
  const intermediates = readCertificates(options.intermediates, terminal);
  if (anchors === undefined || intermediates === undefined) return EXIT.refused;
  const trust: TrustSettings = {
    anchors,
    intermediates,
    revocation: options.revocation,
    ...(options.online && askOnline && { online: askOnline({ anchors, intermediates }) }),
  };
  const verdicts: FileVerdict[] = [];
  for (const file of files) {
    const verdict = await judge(file, validate, options, trust);
    verdicts.push(verdict);
    if (!options.json) terminal.out(verdictText(verdict, options, terminal));
  }
  const ok = verdicts.every((verdict) => verdict.ok);
  if (options.json) {
    const chainChecked = options.chain;
    const revocationAskedOnline = options.online === true && options.revocation !== 'none';
    terminal.out(
      `${JSON.stringify({ ok, chainChecked, revocationAskedOnline, files: verdicts }, null, 2)}\n`,
    );
  }
  return ok ? EXIT.good : EXIT.failed;
}

/** The format a file of this name most likely has. Source: batch-gaps §4, "Format choice". */
export function formatOf(file: string): ValidationReport['format'] {
  const extension = extname(file).toLowerCase();
  if (CONTAINER.includes(extension)) return 'Asic';
  return extension === '.pdf' ? 'Pades' : XML.includes(extension) ? 'Xades' : 'Cades';
}

/** EN 319 162-1 §4.3.2, §4.4.2, and what was in use before. Others are known by what is in them. */
const CONTAINER: readonly string[] = ['.asics', '.scs', '.asice', '.sce', '.bdoc', '.edoc'];
const XML: readonly string[] = ['.xml', '.xades', '.xsig'];

async function judge(
  file: string,
  validate: Validate,
  { format: wanted, content, at, chain }: VerifyOptions,
  trust: TrustSettings,
): Promise<FileVerdict> {
  const format = wanted ?? formatOf(file);
  const beside = content === undefined ? {} : { content: resolve(content) };
  try {
    const report = await validate({ format, path: resolve(file), at, trust, ...beside });
    const ok = chain ? report.indication === 'TOTAL-PASSED' : isIntact(report);
    return { file, format: report.format, ok, report, error: null };
  } catch (error) {
    return { file, format, ok: false, report: null, error: describeFailure(error) };
  }
}

/** True when all that can be held against any signature is its signer. */
function isIntact({ signatures, results }: ValidationReport): boolean {
  return signatures.length > 0 && results.isValid && signatures.every(hasOnlyChainErrors);
}

function hasOnlyChainErrors({ results }: SignatureRecord): boolean {
  return results.errors.every(({ type }) => type === 'chain');
}

/** DER of all certificates in the files; undefined, and said, when one holds none. */
function readCertificates(files: readonly string[], terminal: Terminal): readonly Buffer[] | undefined {
  const certificates: Buffer[] = [];
  for (const file of files) {
    try {
      const found = certificatesIn(readFileSync(file));
      if (found.length === 0) throw new Error('nothing in it is a certificate');
      for (const der of found) readCertificate(der);
      certificates.push(...found);
    } catch (error) {
      const { message } = describeFailure(error);
      terminal.err(`${escapeControls(file)} holds no readable certificate: ${escapeControls(message)}\n`);
      return undefined;
    }
  }
  return certificates;
}

/** `verify <file…>`: says of each signature who made it, when, over what, and whether that holds. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { formatOfHeader, HEADER_BYTES } from '../core/header-format.ts';
import type { SignatureRecord, ValidationReport } from '../core/validation-report.ts';
import type { EvidenceSource } from '../evidence/authorities.ts';
import type { ValidateFileRequest } from '../files/validate-file.ts';
import { type FolderLists, readListFolder } from '../trust-lists/list-folder.ts';
import type { TrustSettings } from '../validation/trust.ts';
import { validationReportXml } from '../validation/validation-report-xml.ts';
import { readCertificateFiles } from './read-certificates.ts';
import { type ExitCode, escapeControls, failureOf, type Terminal } from './terminal.ts';
import { verdictText } from './verify-text.ts';
import type { FileVerdict, Opinion, VerifyOptions } from './verify-verdict.ts';

export type { VerifyOptions } from './verify-verdict.ts';

/** Asks authorities, over the network, for these anchors. */
export type CollectOnline = (trust: Pick<TrustSettings, 'anchors' | 'intermediates'>) => EvidenceSource;

/** Compares a report with what the second implementation says of the same file. */
export type CompareIndependently = (
  report: ValidationReport,
  path: string,
  content: string | undefined,
) => Promise<Opinion>;

type Validate = (request: ValidateFileRequest) => Promise<ValidationReport>;

/** Functions that judge the files. */
interface Validation {
  readonly validate: Validate;
  /** Called only with `options.online`. */
  readonly askOnline?: CollectOnline | undefined;
  /** The second implementation; left out, it is not asked. */
  readonly compareWith?: CompareIndependently | undefined;
}

/** Prints one verdict per file; 0 when every file is good, 1 when one is not, 2 when a certificate file is unusable. */
export async function verifyFiles(
  files: readonly string[],
  options: VerifyOptions,
  terminal: Terminal,
  { validate, askOnline, compareWith }: Validation,
): Promise<ExitCode> {
  const anchors = readCertificateFiles(options.trust, terminal);
  const intermediates = readCertificateFiles(options.intermediates, terminal);
  const given = readCertificateFiles(options.certificate ?? [], terminal);
  if (anchors === undefined || intermediates === undefined || given === undefined) return 2;
  const { own } = options;
  const certificates = {
    anchors: [...anchors, ...(own?.roots ?? [])],
    intermediates: [...intermediates, ...(own?.intermediates ?? [])],
  };
  const lists = listsFor(options, terminal);
  if (lists === 'refused') return 2;
  const trust: TrustSettings = {
    ...certificates,
    revocation: options.revocation,
    lists,
    ...(options.online && askOnline && { online: askOnline(certificates) }),
  };
  if (options.report && files.length > 1) {
    terminal.err(`${options.program ?? 'sealwright-signatures'} verify: --report is for one file.\n`);
    return 2;
  }
  const verdicts: FileVerdict[] = [];
  for (const file of files) {
    const verdict = await judge(file, (one) => validate({ ...one, certificates: given }), {
      options,
      trust,
      compare: compareWith,
    });
    verdicts.push(verdict);
    if (options.report) tellReport(verdict, options, terminal);
    else if (!options.json) terminal.out(verdictText(verdict, options, terminal));
  }
  if (!options.json && !options.report)
    for (const problem of lists?.problems ?? []) terminal.err(`${escapeControls(problem)}\n`);
  const ok = verdicts.every((verdict) => verdict.ok);
  if (options.json && !options.report) {
    const chainChecked = options.chain;
    const revocationAskedOnline = options.online === true && options.revocation !== 'none';
    const trustLists = lists && { sequence: lists.sequence, problems: lists.problems };
    terminal.out(
      `${JSON.stringify({ ok, chainChecked, revocationAskedOnline, trustLists, files: verdicts }, null, 2)}\n`,
    );
  }
  return ok ? 0 : 1;
}

/** Lists of `--trust-lists`; `refused` when they are not usable, which is said. */
function listsFor(
  { trustLists: folder, listAnchors: anchors, listJournal: journal, at, program }: VerifyOptions,
  terminal: Terminal,
): FolderLists | 'refused' | undefined {
  if (folder === undefined) return undefined;
  try {
    return readListFolder({ folder, anchors, journal, at });
  } catch (error) {
    const { message } = failureOf(error);
    terminal.err(`${program ?? 'sealwright-signatures'} verify: ${escapeControls(message)}\n`);
    return 'refused';
  }
}

function tellReport(
  { file, report, error }: FileVerdict,
  { at, content }: VerifyOptions,
  terminal: Terminal,
): void {
  if (report === null) {
    terminal.err(`${escapeControls(file)}: ${escapeControls(error?.message ?? 'It failed.')}\n`);
    return;
  }
  const named = (path: string) => ({
    name: basename(path),
    sha256: createHash('sha256').update(readFileSync(path)).digest('hex'),
  });
  terminal.out(validationReportXml(report, { ...named(file), at, contents: (content ?? []).map(named) }));
}

/** The format of a file, by its content, else by its name. */
export function formatOf(file: string): ValidationReport['format'] {
  return formatOfHeader(headerOf(file)) ?? formatOfName(file);
}

/** Empty for a file that cannot be read: its validation says why. */
function headerOf(file: string): Buffer {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const head = Buffer.alloc(HEADER_BYTES);
      return head.subarray(0, readSync(descriptor, head));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

function formatOfName(file: string): ValidationReport['format'] {
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
  {
    options: { format: wanted, content, at, chain, password },
    trust,
    compare,
  }: {
    readonly options: VerifyOptions;
    readonly trust: TrustSettings;
    readonly compare: CompareIndependently | undefined;
  },
): Promise<FileVerdict> {
  const format = wanted ?? formatOf(file);
  const contents = (content ?? []).map((path) => resolve(path));
  const beside = contents.length === 0 ? {} : { content: contents };
  try {
    const report = await validate({
      format,
      path: resolve(file),
      at,
      trust,
      ...beside,
      ...(password !== undefined && { password }),
    });
    const opinion =
      compare && (await compare(report, resolve(file), contents.length === 1 ? contents[0] : undefined));
    const own = chain ? report.indication === 'TOTAL-PASSED' : isIntact(report);
    const ok = own && opinion?.verdict !== 'disagrees';
    return { file, format: report.format, ok, report, ...(opinion && { independent: opinion }), error: null };
  } catch (error) {
    return { file, format, ok: false, report: null, error: failureOf(error) };
  }
}

/** True when all that can be held against any signature is its signer. */
function isIntact({ signatures, results }: ValidationReport): boolean {
  return signatures.length > 0 && results.isValid && signatures.every(isIntactSignature);
}

function isIntactSignature({ results, counterSignatures }: SignatureRecord): boolean {
  const isSound = results.errors.every(({ type }) => type === 'chain' || type.startsWith('policy.'));
  return isSound && counterSignatures.every(isIntactSignature);
}

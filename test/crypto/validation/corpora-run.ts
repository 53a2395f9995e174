/**
 * Compares our verdicts with those that public corpora state. The corpora are git directories on this machine; nothing
 * of them is kept in the repository.
 *
 * `node dist/test/crypto/validation/corpora-run.js [--list] dss=<git dir> digidoc4j=<git dir> xmlsec=<git dir> itext=<git dir>`
 *
 * No trust anchor is given, so that a verdict is about integrity: *intact* (each signature's value and digests were
 * verified), *open* (something is not judged) or *broken* (proven). A stated verdict of valid agrees with intact; one
 * of invalid with open and broken. *Said* is intact with a warning of what differs beside it, and agrees with both.
 * Corpora call files invalid for reasons of trust and time too, which are intact here.
 * *Incomplete* ones, whose certificate or content comes from elsewhere, are counted apart.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import type { SignatureRecord, ValidationItem, ValidationReport } from '#crypto/core/validation-report.js';
import { validateFile } from '#crypto/files/validate-file.js';

type Stated = 'valid' | 'invalid';
/** `said`: intact, with a warning of something that differs beside the signed data. */
type Outcome = 'intact' | 'said' | 'open' | 'broken' | 'incomplete';

interface Sample {
  readonly path: string;
  readonly stated: Stated;
  /** Content of a detached signature. */
  readonly content?: string;
}

/** Files of a git directory. */
class Corpus {
  readonly #folder: string;
  readonly #directory: string;

  constructor(directory: string, folder: string) {
    this.#directory = directory;
    this.#folder = folder;
  }

  #git(...args: readonly string[]): Buffer {
    return execFileSync('git', ['--git-dir', this.#directory, ...args], {
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  }

  list(): string[] {
    return this.#git('ls-tree', '-r', '-z', '--name-only', 'HEAD').toString().split('\0').filter(Boolean);
  }

  text(path: string): string {
    return this.#git('show', `HEAD:${path}`).toString();
  }

  /** Texts of files in the order given, by one program for all of them. */
  texts(paths: readonly string[]): string[] {
    const input = paths.map((path) => `HEAD:${path}\n`).join('');
    const output = execFileSync('git', ['--git-dir', this.#directory, 'cat-file', '--batch'], {
      input,
      maxBuffer: 2 ** 30,
    });
    let at = 0;
    return paths.map(() => {
      // <object> blob <size> LF <bytes> LF, or <name> missing LF
      const end = output.indexOf('\n', at);
      const size = Number(/ blob (\d+)$/.exec(output.toString('latin1', at, end))?.[1] ?? -1);
      const text = output.toString('utf8', end + 1, end + 1 + Math.max(0, size));
      at = end + 1 + (size < 0 ? 0 : size + 1);
      return text;
    });
  }

  /** Writes a file to the folder; undefined for one that the snapshot lacks. */
  file(path: string): string | undefined {
    const target = join(this.#folder, path);
    try {
      const bytes = this.#git('show', `HEAD:${path}`);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, bytes);
      return target;
    } catch {
      return undefined;
    }
  }
}

/** Tests in Java name a file; they assert that its signatures are valid, unless they override that check. */
function ofJavaTests(corpus: Corpus): Sample[] {
  const samples = new Map<string, Sample>();
  const tests = corpus
    .list()
    .filter((path) => /^dss-(xades|cades|pades|asic)[^/]*\/src\/test\/java\/.*\.java$/.test(path));
  const texts = corpus.texts(tests);
  for (const [index, test] of tests.entries()) {
    const text = texts[index] ?? '';
    if (!/extends Abstract\w*TestValidation\b/.test(text)) continue;
    const method = (name: string): string | undefined =>
      new RegExp(`\\b${name}\\([^)]*\\)[^{;]*\\{(.*?)\\n\\t\\}`, 's').exec(text)?.[1];
    const files = (name: string): string[] =>
      [...(method(name) ?? '').matchAll(/new FileDocument\(\s*"([^"]+)"/g)].map(([, path = '']) =>
        join(test.split('/', 1)[0] ?? '', path),
      );
    const [path] = files('getSignedDocument');
    const [content] = files('getDetachedContents');
    const check = method('checkBLevelValid');
    if (path === undefined || check?.trim() === '') continue;
    const isInvalid = /assertFalse\([^;]*(TechnicallyValid|SignatureValid|Intact|DataFound)/.test(text);
    const isSaid = check === undefined || isInvalid || /assertTrue\(|super\./.test(check);
    const stated = isInvalid ? 'invalid' : 'valid';
    if (isSaid && !samples.has(path))
      samples.set(path, { path, stated, ...(content !== undefined && { content }) });
  }
  return [...samples.values()];
}

/** Folders state the verdict. */
function ofFolders(corpus: Corpus): Sample[] {
  return corpus
    .list()
    .filter((path) => /\.(asice|asics|bdoc|sce|scs|edoc)$/i.test(path))
    .flatMap((path) => {
      const stated = /\/(valid|invalid)-containers\//.exec(path)?.[1] as Stated | undefined;
      return stated === undefined ? [] : [{ path, stated }];
    });
}

/** A shell script names files with the expected results. */
function ofShellTests(corpus: Corpus): Sample[] {
  const script = corpus.text('tests/testDSig.sh');
  const stated = new Map<string, Stated>();
  for (const [, result, folder = '', name = ''] of script.matchAll(
    /execDSigTest \$res_(success|fail) \\\s*"([^"]*)" \\\s*"([^"]+)"/g,
  )) {
    const path = join('tests', folder, `${name}.xml`);
    if (result === 'success' || !stated.has(path))
      stated.set(path, result === 'success' ? 'valid' : 'invalid');
  }
  return [...stated].map(([path, verdict]) => ({ path, stated: verdict }));
}

/** Tests in Java say of the revisions of a PDF whether each permits the next; those of two opinions are left out. */
function ofRevisionTests(corpus: Corpus): Sample[] {
  const tests = corpus.list().filter((path) => /\/DocumentRevisionsValidator\w*Test\.java$/.test(path));
  return corpus.texts(tests).flatMap((text, index) => {
    const folder = (tests[index] ?? '').replace('/java/', '/resources/').replace(/\.java$/, '');
    return text.split('public void ').flatMap((method) => {
      const [, name] = /"([^"]+\.pdf)"/.exec(method) ?? [];
      const said = new Set(Array.from(method.matchAll(/ValidationResult\.(\w+)/g), ([, status]) => status));
      if (name === undefined || said.size !== 1 || said.has('INDETERMINATE')) return [];
      return [{ path: join(folder, name), stated: said.has('VALID') ? 'valid' : 'invalid' } as const];
    });
  });
}

const CORPORA: { readonly [name: string]: (corpus: Corpus) => Sample[] } = {
  dss: ofJavaTests,
  digidoc4j: ofFolders,
  xmlsec: ofShellTests,
  itext: ofRevisionTests,
};

/** Types of errors about trust, time and policy, which say nothing about integrity. */
const OF_TRUST =
  /^(chain|trust|revocation|certificate\.(validity|purpose|usage|key|time|expired|policy)|algorithms?\.(policy|weak|strength|date)|time|level|policy|signing-time|poe)/;

function outcomeOf(report: ValidationReport): {
  readonly outcome: Outcome;
  readonly reasons: readonly string[];
} {
  const records: readonly SignatureRecord[] = report.signatures;
  const errors = [report.results, ...records.map(({ results }) => results)]
    .flatMap((results) => results.errors)
    .filter(({ type }) => !OF_TRUST.test(type));
  const isVerified = ({ results }: SignatureRecord): boolean =>
    results.passedChecks.some(
      ({ type }: ValidationItem) =>
        type === 'signature.value' || type === 'timestamp.signature' || type === 'timestamp.value',
    );
  const isProven =
    records.some(({ subIndication }) => /^(FORMAT|HASH|SIG_CRYPTO)_FAILURE$/.test(subIndication ?? '')) ||
    (report.indication === 'TOTAL-FAILED' && report.results.errors.length > 0);
  const reasons = [...new Set(errors.map(({ type, message }) => `${type}: ${message.slice(0, 90)}`))];
  if (isProven) return { outcome: 'broken', reasons };
  const isElsewhere = ({ type, message }: ValidationItem): boolean =>
    type === 'reference.outside' || (type === 'certificate.signer' && !/cannot be read/.test(message));
  if (errors.length > 0 && errors.every(isElsewhere)) return { outcome: 'incomplete', reasons };
  if (records.length > 0 && errors.length === 0 && records.every(isVerified)) {
    const said = warningsOf(report);
    return said.length > 0 ? { outcome: 'said', reasons: said } : { outcome: 'intact', reasons };
  }
  return { outcome: 'open', reasons: reasons.length > 0 ? reasons : ['nothing verified'] };
}

/** Warnings of what was computed or compared and differs, which leave the signature itself intact. */
function warningsOf({ results, signatures }: ValidationReport): readonly string[] {
  const stamps = signatures.flatMap(({ timestamps = [] }) => timestamps);
  const broken = stamps.flatMap(({ kind, subIndication = '' }) =>
    /^(?:FORMAT_FAILURE|HASH_FAILURE|SIG_CRYPTO_FAILURE|SIG_CONSTRAINTS_FAILURE|SIGNED_DATA_NOT_FOUND|GENERIC)$/.test(
      subIndication,
    )
      ? [`timestamp.${kind}: ${subIndication}`]
      : [],
  );
  const others = [results, ...signatures.map((one) => one.results)]
    .flatMap(({ warnings }) => warnings)
    .flatMap(({ type }) =>
      /^(?:container\.media-type|time\.certificate|revocation\.unreadable)$/.test(type) ? [type] : [],
    );
  return [...new Set([...broken, ...others])];
}

function formatOf(path: string): ValidationReport['format'] {
  const extension = extname(path).toLowerCase();
  if (extension === '.pdf') return 'Pades';
  if (extension === '.xml') return 'Xades';
  return /^\.(asice|asics|bdoc|sce|scs|edoc|zip)$/.test(extension) ? 'Asic' : 'Cades';
}

async function judged(path: string, content: string | undefined): ReturnType<typeof judgedAs> {
  const result = await judgedAs(formatOf(path), path, content);
  // Corpora name some files in other ways.
  return result.reasons[0]?.startsWith('thrown') ? judgedAs('Asic', path, content) : result;
}

async function judgedAs(
  format: ValidationReport['format'],
  path: string,
  content: string | undefined,
): Promise<{ readonly outcome: Outcome; readonly reasons: readonly string[] }> {
  try {
    const trust = { anchors: [], intermediates: [], revocation: 'none' } as const;
    return outcomeOf(
      await validateFile({ format, path, at: Date.now(), trust, ...(content !== undefined && { content }) }),
    );
  } catch (error) {
    return { outcome: 'open', reasons: [`thrown: ${(error as Error).message.slice(0, 90)}`] };
  }
}

const folder = mkdtempSync(join(tmpdir(), 'sealwright-corpora-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const [list, ...given] = process.argv.includes('--list')
  ? ['--list', ...process.argv.slice(2).filter((one) => one !== '--list')]
  : ['', ...process.argv.slice(2)];
const counts = new Map<string, number>();
const reasonsBy = new Map<string, number>();
const count = (map: Map<string, number>, key: string): void => void map.set(key, (map.get(key) ?? 0) + 1);
let agreed = 0;
let total = 0;
let incomplete = 0;
for (const argument of given) {
  const [name = '', directory = ''] = argument.split('=');
  const samplesOf = CORPORA[name];
  if (samplesOf === undefined) throw new Error(`No corpus is called ${name}.`);
  const corpus = new Corpus(directory, join(folder, name));
  for (const { path, stated, content } of samplesOf(corpus)) {
    const file = corpus.file(path);
    if (file === undefined) continue;
    const { outcome, reasons } = await judged(file, content === undefined ? undefined : corpus.file(content));
    const isIntact = outcome === 'intact' || outcome === 'said';
    const agrees = stated === 'valid' ? isIntact : outcome !== 'intact';
    if (outcome === 'incomplete') incomplete += 1;
    else total += 1;
    if (agrees && outcome !== 'incomplete') agreed += 1;
    const group = `${name} ${formatOf(path)} stated ${stated}`;
    count(counts, `${group}: ${outcome}`);
    if (!agrees && outcome !== 'incomplete')
      for (const reason of isIntact ? ['intact'] : reasons.slice(0, 1))
        count(reasonsBy, `${stated}, ${outcome}: ${reason}`);
    if (list !== '')
      process.stdout.write(
        `${agrees ? 'agrees' : 'DIFFERS'} ${stated} ${outcome} ${name}/${path} ${agrees && outcome !== 'said' ? '' : reasons.join(' | ')}\n`,
      );
  }
}
for (const [key, number] of [...counts].sort()) process.stdout.write(`${number}\t${key}\n`);
process.stdout.write('\nReasons of the rest:\n');
for (const [key, number] of [...reasonsBy].sort(([, one], [, other]) => other - one))
  process.stdout.write(`${number}\t${key}\n`);
process.stdout.write(`\n${agreed} of ${total} agree; ${incomplete} are incomplete\n`);

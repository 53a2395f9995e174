/**
 * Compares the engine's validation of valid files with that of other programs, and prints a table in Markdown:
 * `node dist/test/verifiers/agreement.js [folder with PDFs]…`. The files are those of the test corpus and of the folders,
 * signed here with RSA; every file is also validated with one changed byte.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SignatureFormat } from '#crypto/core/types.js';
import { CryptoError } from '#crypto/core/types.js';
import { signFile } from '#crypto/files/sign-file.js';
import { validateFile } from '#crypto/files/validate-file.js';
import { rawSignatures } from '../crypto/pades/inspect.ts';
import { CONTENTS, STRUCTURES, THROUGH_QPDF } from '../crypto/pdf/corpus.ts';
import { generateDocument } from '../crypto/xml/documents.ts';
import { pki } from '../pki/pki.ts';
import { isPresent, mutool, opensslCms, pdfsig, xmlsec1 } from './index.ts';

type Judge = 'pdfsig' | 'mutool' | 'openssl' | 'xmlsec1';

const JUDGES: { readonly [format in SignatureFormat]?: readonly Judge[] } = {
  Pades: ['pdfsig', 'mutool', 'openssl'],
  Cades: ['openssl'],
  Xades: ['xmlsec1'],
};

interface Source {
  readonly name: string;
  readonly format: SignatureFormat;
  readonly bytes: Buffer;
  /** False for a PDF that mutool cannot judge (see `CorpusFile`). */
  readonly mutool?: boolean;
}

export interface Agreement {
  readonly format: SignatureFormat;
  readonly judge: Judge;
  both: number;
  /** Names of files that only one of the two accepts. */
  readonly onlyEngine: string[];
  readonly onlyJudge: string[];
  readonly neither: string[];
}

export interface AgreementResult {
  readonly rows: readonly Agreement[];
  readonly files: number;
  /** Files that are not signed, with the reason. */
  readonly refused: readonly string[];
  /** Files with a changed byte that the engine accepts and another program refuses. */
  readonly falseAccepts: readonly string[];
}

/** Files to compare. */
interface Selection {
  /** Folders with PDFs. */
  readonly folders?: readonly string[];
  /** True for the PDFs of the test corpus. */
  readonly corpus?: boolean;
  /** Number of generated XML documents. */
  readonly xmlDocuments?: number;
}

async function* sources({
  folders = [],
  corpus = false,
  xmlDocuments = 0,
}: Selection): AsyncGenerator<Source> {
  for (const recipe of corpus ? [...STRUCTURES, ...CONTENTS, ...THROUGH_QPDF] : []) {
    if (!(recipe.tools ?? []).every(isPresent)) continue;
    const { mutool = true } = recipe;
    yield { name: `PDF ${recipe.name}`, format: 'Pades', bytes: await recipe.make(), mutool };
  }
  for (const folder of folders) {
    for (const name of readdirSync(folder).filter((one) => /\.pdf$/i.test(one))) {
      const bytes = readFileSync(join(folder, name));
      yield { name, format: 'Pades', bytes };
      yield { name, format: 'Cades', bytes };
    }
  }
  for (let seed = 1; seed <= xmlDocuments; seed++) {
    const bytes = Buffer.from(generateDocument(seed).text);
    for (const format of ['Xades', 'Cades'] as const) yield { name: `XML document ${seed}`, format, bytes };
  }
}

async function accepted(judge: Judge, path: string, folder: string): Promise<boolean> {
  const ca = pki().rootFile;
  switch (judge) {
    case 'pdfsig': {
      const [newest] = (await pdfsig(path, pki())).slice(-1);
      return newest?.signature === 'Signature is Valid.' && newest.coversWholeFile;
    }
    case 'mutool':
      return (await mutool(path)).some(({ unchanged }) => unchanged);
    case 'xmlsec1':
      return (await xmlsec1({ file: path, ca, untrusted: pki().issuingFile })).ok;
    case 'openssl': {
      if (!path.endsWith('.pdf')) return (await opensslCms({ signature: path, ca })).ok;
      const [newest] = rawSignatures(path).slice(-1);
      const signature = join(folder, 'signature.der');
      const content = join(folder, 'content.bin');
      writeFileSync(signature, newest?.signature ?? '');
      writeFileSync(content, newest?.content ?? '');
      return (await opensslCms({ signature, content, ca })).ok;
    }
  }
}

async function passes(path: string, format: SignatureFormat): Promise<boolean> {
  const trust = { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' } as const;
  return (await validateFile({ format, path, at: Date.now(), trust })).indication === 'TOTAL-PASSED';
}

/** Compares the selected files. */
export async function compareValidators(selection: Selection): Promise<AgreementResult> {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-agreement-'));
  const rows = new Map<string, Agreement>();
  const refused: string[] = [];
  const falseAccepts: string[] = [];
  let files = 0;
  try {
    for await (const { name, format, bytes, mutool = true } of sources(selection)) {
      const input = join(folder, 'input');
      const output = join(
        folder,
        `signed.${{ Pades: 'pdf', Cades: 'p7m', Xades: 'xml', Asic: 'asice' }[format]}`,
      );
      rmSync(output, { force: true });
      writeFileSync(input, bytes);
      try {
        signFile({ format, input, output, signer: pki().signer('rsa-2048'), at: Date.now() });
      } catch (error) {
        if (!(error instanceof CryptoError)) throw error;
        refused.push(`${name} (${error.code})`);
        continue;
      }
      files++;
      const own = await passes(output, format);
      for (const judge of JUDGES[format] ?? []) {
        if ((judge === 'mutool' && !mutool) || !isPresent(judge)) continue;
        const key = `${format} ${judge}`;
        const row = rows.get(key) ?? { format, judge, both: 0, onlyEngine: [], onlyJudge: [], neither: [] };
        rows.set(key, row);
        const other = await accepted(judge, output, folder);
        if (own && other) row.both++;
        else (own ? row.onlyEngine : other ? row.onlyJudge : row.neither).push(name);
      }
      const changed = readFileSync(output);
      const at = Math.floor(changed.length / 3);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(output, changed);
      if (!(await passes(output, format))) continue;
      // A change in a comment or in the spaces of a tag is none in the canonical form of XML.
      for (const judge of (JUDGES[format] ?? []).filter(isPresent))
        if (!(await accepted(judge, output, folder))) falseAccepts.push(`${name} (${judge})`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { rows: [...rows.values()], files, refused, falseAccepts };
}

function table({ rows, files, refused, falseAccepts }: AgreementResult): string {
  const list = (names: readonly string[]): string =>
    names.length === 0 ? '0' : `${names.length}: ${names.join('; ')}`;
  return [
    '| Format | Other program | Both accept | Only the engine | Only the other | Neither |',
    '|---|---|---|---|---|---|',
    ...rows.map(
      ({ format, judge, both, onlyEngine, onlyJudge, neither }) =>
        `| ${format} | ${judge} | ${both} | ${list(onlyEngine)} | ${list(onlyJudge)} | ${list(neither)} |`,
    ),
    '',
    `${files} signed files. With a changed byte, accepted by the engine and refused by another: ${list(falseAccepts)}. Not signed: ${list(refused)}.`,
  ].join('\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.stdout.write(
    `${table(await compareValidators({ folders: process.argv.slice(2), corpus: true, xmlDocuments: 100 }))}\n`,
  );
}

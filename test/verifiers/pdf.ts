import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Pki } from '../pki/pki.ts';
import { runTool } from './tool.ts';

/** Result of pdfsig for one signature; `number` counts from 1 in document order. */
export interface PdfsigVerdict {
  readonly number: number;
  /** E.g. `ETSI.CAdES.detached`. */
  readonly type: string;
  /** `Signature is Valid.`, `Digest Mismatch.`, … */
  readonly signature: string;
  /** `Certificate is Trusted.`, …; empty when it was not checked. */
  readonly certificate: string;
  readonly coversWholeFile: boolean;
  /** True when all four lines are as expected for the newest signature. */
  readonly ok: boolean;
  /** Like `ok`, but later revisions may follow. */
  readonly okEarlier: boolean;
}

/**
 * Runs pdfsig with the root of `pki` as the only trusted one. Needs `pdfsig` and `certutil`.
 * An empty list means the tool found no signature; empty fields are left out.
 */
export async function pdfsig(pdf: string, pki: TrustedFolder): Promise<readonly PdfsigVerdict[]> {
  const nss = await nssDatabase(pki);
  const { stdout } = await runTool('pdfsig', ['-nssdir', nss, '-no-ocsp', pdf]);
  return stdout
    .split(/^Signature #(?=\d+:)/m)
    .slice(1)
    .filter((block) => !block.includes('The signature form field is not signed.'))
    .map((block) => {
      const field = (name: string) => new RegExp(`^ *- ${name}: (.*)$`, 'm').exec(block)?.[1]?.trim() ?? '';
      const type = field('Signature Type');
      const signature = field('Signature Validation');
      const certificate = field('Certificate Validation');
      const coversWholeFile = /^ *- Total document signed$/m.test(block);
      const okEarlier =
        type === 'ETSI.CAdES.detached' &&
        signature === 'Signature is Valid.' &&
        certificate === 'Certificate is Trusted.';
      return {
        number: Number.parseInt(block, 10),
        type,
        signature,
        certificate,
        coversWholeFile,
        ok: okEarlier && coversWholeFile,
        okEarlier,
      };
    });
}

/** Root certificate, and a folder for a database of trusted roots. */
type TrustedFolder = Pick<Pki, 'folder' | 'rootFile'>;

const databases = new Map<string, Promise<string>>();

function nssDatabase(pki: TrustedFolder): Promise<string> {
  const ready = databases.get(pki.folder) ?? makeDatabase(pki);
  databases.set(pki.folder, ready);
  return ready;
}

async function makeDatabase(pki: TrustedFolder): Promise<string> {
  const folder = join(pki.folder, 'nss');
  if (!existsSync(folder)) {
    mkdirSync(folder);
    await must('-N', '-d', `sql:${folder}`, '--empty-password');
    await must('-A', '-d', `sql:${folder}`, '-n', 'Test Root', '-t', 'C,C,C', '-i', pki.rootFile);
  }
  return folder;
}

async function must(...args: readonly string[]): Promise<void> {
  const { exit, stderr } = await runTool('certutil', args);
  if (exit !== 0) throw new Error(`certutil ${args[0]} ended with ${exit}: ${stderr}`);
}

/** Result of mutool for one signature. */
export interface MutoolVerdict {
  /** True when the document is unchanged since this signature. */
  readonly unchanged: boolean;
  /** True when the signature is valid and the document has later additions. */
  readonly editedSince: boolean;
  /** Text after `Digest error:`; empty when there is none. */
  readonly digestError: string;
}

/**
 * Runs `mutool sign -v`; one result per signature field. Its trust result is ignored, because it accepts no custom
 * roots.
 */
export async function mutool(pdf: string): Promise<readonly MutoolVerdict[]> {
  const { stdout, stderr } = await runTool('mutool', ['sign', '-v', pdf]);
  return `${stdout}\n${stderr}`
    .split(/^verifying signature /im)
    .slice(1)
    .map((block) => ({
      unchanged: block.includes('The document is unchanged since signing.'),
      editedSince: block.includes('The signature is valid but there have been edits since signing.'),
      digestError: /Digest error: (.*)/i.exec(block)?.[1]?.trim() ?? '',
    }));
}

export interface QpdfVerdict {
  /** 0 clean, 2 errors, 3 warnings. */
  readonly exit: 0 | 2 | 3 | number;
  /** Warnings and errors. */
  readonly text: string;
}

/** Runs `qpdf --check`. A signed file must not have more problems than its original. */
export async function qpdf(pdf: string): Promise<QpdfVerdict> {
  const { exit, stdout, stderr } = await runTool('qpdf', ['--check', pdf]);
  return { exit, text: `${stdout}\n${stderr}`.trim() };
}

/** Signs and verifies documents in files of a folder of their own. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DigestName, SignedFile, Signer, VerificationReport } from '../../../crypto/types.ts';
import { signXades } from '../../../crypto/xades/sign.ts';
import { verifyXades } from '../../../crypto/xades/verify.ts';
import { pki } from '../../pki/pki.ts';
import { type XmlsecVerdict, xmlsec1 } from '../../verifiers/index.ts';

export const NOW = Date.now();

const folder = mkdtempSync(join(tmpdir(), 'sealwright-xades-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

export interface SignedDocument {
  readonly original: Buffer;
  readonly inputPath: string;
  readonly path: string;
  readonly file: SignedFile;
  readonly bytes: Buffer;
}

/** A new path in the folder. */
export function newPath(): string {
  return join(folder, `${++files}.xml`);
}

export function signDocument(
  document: string | Buffer,
  options: { readonly signer?: Signer; readonly digest?: DigestName; readonly at?: number } = {},
): SignedDocument {
  const original = Buffer.from(document);
  const inputPath = newPath();
  writeFileSync(inputPath, original);
  const path = newPath();
  const { signer = pki().signer('p-256'), at = NOW } = options;
  const file = signXades({
    format: 'Xades',
    input: inputPath,
    output: path,
    signer,
    at,
    digest: options.digest ?? 'sha256',
  });
  return { original, inputPath, path, file, bytes: readFileSync(path) };
}

/** Our verdict with everything asked for that can be asked for. */
export function verdict(path: string, original: Buffer, signer = pki().signer('p-256')): VerificationReport {
  const sha256 = createHash('sha256').update(original).digest('hex');
  return verifyXades({
    format: 'Xades',
    path,
    signer: signer.fingerprint,
    content: { sha256, length: original.length },
    anchors: [pki().root.certificate],
    at: NOW,
  });
}

/** Names of the checks that failed. */
export function failed(report: VerificationReport): string[] {
  return report.checks.filter(({ ok }) => !ok).map(({ name }) => name);
}

/** The verdict of xmlsec1 on a file. */
export function byXmlsec(path: string): Promise<XmlsecVerdict> {
  return xmlsec1({ file: path, ca: pki().rootFile });
}

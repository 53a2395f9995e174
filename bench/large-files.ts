/** Sparse files of any size, and jobs on them in separate processes. */
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { closeSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DOCUMENT_SIGNING, issueCertificate } from '../crypto/x509/issue.ts';
import type { LargeJob, LargeResult } from './large-job.ts';
import { samplePdf, sampleXml } from './samples.ts';

/** Creates a sparse file of zeros. */
export function zeros(path: string, bytes: number): void {
  writeFileSync(path, '');
  truncateSync(path, bytes);
}

/** Creates a PDF whose first object is an embedded file of zeros. */
export function largePdf(path: string, bytes: number): void {
  const pdf = samplePdf(2000);
  const text = pdf.toString('latin1');
  const at = text.indexOf('1 0 obj');
  const head = `${text.slice(0, at)}7 0 obj\n<< /Type /EmbeddedFile /Length ${bytes} >>\nstream\n`;
  const added = head.length - at + bytes + '\nendstream\nendobj\n'.length;
  const moved = (offset: string): string => String(Number(offset) + added);
  const start = head.length + bytes;
  const tail = Buffer.from(
    `\nendstream\nendobj\n${text
      .slice(at)
      .replace(/\d{10}(?= 00000 n)/g, (offset) => moved(offset).padStart(10, '0'))
      .replace(/xref\n0 7\n/, 'xref\n0 8\n')
      .replace('trailer', `${String(at).padStart(10, '0')} 00000 n \ntrailer`)
      .replace('/Size 7', '/Size 8')
      .replace(/startxref\n(\d+)/, (_all, offset: string) => `startxref\n${moved(offset)}`)}`,
    'latin1',
  );
  const fd = openSync(path, 'w');
  writeSync(fd, head, 0, 'latin1');
  writeSync(fd, tail, 0, tail.length, start);
  closeSync(fd);
}

export function largeXml(path: string, bytes: number): void {
  writeFileSync(path, sampleXml(bytes));
}

/** Creates a signer below its own root, valid around `at` (milliseconds since the epoch). */
export function largeSigner(at: number): LargeJob['signer'] {
  const [authority, pair] = [
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ];
  const shared = {
    issuer: { commonName: 'Benchmark root' },
    issuerKey: authority.privateKey,
    notBefore: at - 3_600_000,
    notAfter: at + 86_400_000,
  };
  const root = issueCertificate({
    ...shared,
    subject: shared.issuer,
    publicKey: authority.publicKey,
    serial: randomBytes(16),
    use: { kind: 'ca' },
  });
  const certificate = issueCertificate({
    ...shared,
    subject: { commonName: 'Benchmark signer' },
    publicKey: pair.publicKey,
    serial: randomBytes(16),
    use: { kind: 'signer', purposes: DOCUMENT_SIGNING },
  });
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'der' });
  return {
    certificate: certificate.toString('base64'),
    privateKey: privateKey.toString('base64'),
    root: root.toString('base64'),
  };
}

/** Runs one job in a separate process. Throws with its output when it fails. */
export function runLargeJob(job: LargeJob): LargeResult {
  const script = fileURLToPath(new URL('./large-job.js', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    input: JSON.stringify(job),
    encoding: 'utf8',
    timeout: 600_000,
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as LargeResult;
}

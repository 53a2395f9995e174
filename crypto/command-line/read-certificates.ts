/** Reads the certificate files that options name. */
import { readFileSync } from 'node:fs';
import { certificatesIn, readCertificate } from '../x509/certificate.ts';
import { escapeControls, failureOf, type Terminal } from './terminal.ts';

/** DER of all certificates in the files; undefined, and said, when one holds none. */
export function readCertificateFiles(
  files: readonly string[],
  terminal: Terminal,
): readonly Buffer[] | undefined {
  const certificates: Buffer[] = [];
  for (const file of files) {
    try {
      const found = certificatesIn(readFileSync(file));
      if (found.length === 0) throw new Error('nothing in it is a certificate');
      for (const der of found) readCertificate(der);
      certificates.push(...found);
    } catch (error) {
      const { message } = failureOf(error);
      terminal.err(`${escapeControls(file)} holds no readable certificate: ${escapeControls(message)}\n`);
      return undefined;
    }
  }
  return certificates;
}

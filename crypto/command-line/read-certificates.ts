/** Reads the certificate files that options name. */
import { readFileSync } from 'node:fs';
import { certificatesInBundle } from '../cms/parse.ts';
import { certificatesIn, readCertificate } from '../x509/certificate.ts';
import { escapeControls, failureOf, type Terminal } from './terminal.ts';

/** DER of the readable certificates in the files; undefined, and said, when one holds none. Says how many are left out. */
export function readCertificateFiles(
  files: readonly string[],
  terminal: Terminal,
): readonly Buffer[] | undefined {
  const certificates: Buffer[] = [];
  for (const file of files) {
    try {
      const bytes = readFileSync(file);
      const all = certificatesIn(bytes);
      const found = certificatesInBundle(bytes);
      if (found.length === 0) {
        for (const der of all) readCertificate(der);
        throw new Error('nothing in it is a certificate');
      }
      if (found.length < all.length)
        terminal.err(
          `${escapeControls(file)}: ${all.length - found.length} of ${all.length} certificates cannot be read, and are left out\n`,
        );
      certificates.push(...found);
    } catch (error) {
      const { message } = failureOf(error);
      terminal.err(`${escapeControls(file)} holds no readable certificate: ${escapeControls(message)}\n`);
      return undefined;
    }
  }
  return certificates;
}

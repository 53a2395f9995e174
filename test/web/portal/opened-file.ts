/** Opens certificate files with the page's own script, outside of a browser. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Forge } from '../../../web/client/portal/forge.ts';
import { type OpenedFile, openPkcs12 } from '../../../web/client/portal/pkcs12.ts';
import type { CertificateFile } from '../../browser/certificate-files.ts';

/** The file that browsers get; it expects a window. */
Object.assign(globalThis, { window: globalThis });
const forge = createRequire(import.meta.url)('node-forge/dist/forge.min.js') as Forge;

export function open(bytes: Buffer, password: string): Promise<OpenedFile> {
  return openPkcs12(forge, bytes, password);
}

/** Faults of the opened file. */
export function flaws({ certificate, privateKey }: OpenedFile, made: CertificateFile): string[] {
  const key = createPrivateKey({ key: Buffer.from(privateKey), format: 'der', type: 'pkcs8' });
  const parsed = new X509Certificate(certificate);
  return [
    ...(key.equals(made.privateKey) ? [] : ['another key']),
    ...(parsed.checkPrivateKey(made.privateKey) ? [] : ['not the certificate of the key']),
  ];
}

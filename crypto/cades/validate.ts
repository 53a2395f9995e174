/** Inspects a CAdES file: enveloping or detached, in DER, BER or PEM, of any size (EN 319 122-1). */

import type { Finding } from '../core/finding.ts';
import type { Source } from '../files/source.ts';
import type { FileSignatures } from '../validation/signature-info.ts';
import { inspectCms } from '../validation/signed-data/signed-data-report.ts';
import { readSignatureFile } from './signed-content.ts';

export interface InspectCadesOptions {
  /** Content of a detached signature. */
  readonly content?: Source;
}

/**
 * Reads the file once, and its content again only for a digest that the file did not announce. Malformed bytes are
 * findings.
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function inspectCades(file: Source, { content }: InspectCadesOptions = {}): FileSignatures {
  const read = readSignatureFile(file, content);
  if ('reason' in read) return { signatures: [], findings: [unreadable(read.reason)] };
  const digests = read.content;
  const signatures = inspectCms(read.der, {
    format: 'Cades',
    scope: digests.scope,
    signingTime: 'present',
    contentDigest: (hash) => digests.of(hash),
  });
  const findings = content === undefined ? [] : digests.compare();
  return { signatures, findings };
}

function unreadable(reason: string): Finding {
  return {
    status: 'failed',
    type: 'structure.cms',
    message: `This is no CMS signature: ${reason}`,
    subIndication: 'FORMAT_FAILURE',
  };
}

/** What is to be found out about a CAdES file: enveloping or detached, in DER, BER or PEM, of any size (EN 319 122-1). */
import { cmsFacts } from '../cms/facts.ts';
import type { Source } from '../files/source.ts';
import type { FileFacts, Finding } from '../validation/facts.ts';
import { readSignatureFile } from './signed-content.ts';

export interface CadesFactsOptions {
  /** What a detached signature is over. */
  readonly content?: Source;
}

/**
 * Reads the file once, and its content again only for a digest that it didn't announce. Bad bytes are findings.
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function cadesFacts(file: Source, { content }: CadesFactsOptions = {}): FileFacts {
  const read = readSignatureFile(file, content);
  if ('because' in read) return { signatures: [], findings: [unreadable(read.because)] };
  const digests = read.content;
  const signatures = cmsFacts(read.der, {
    format: 'Cades',
    scope: digests.scope,
    signingTime: 'present',
    contentDigest: (hash) => digests.of(hash),
  });
  const findings = content === undefined ? [] : digests.compare();
  return { signatures, findings };
}

function unreadable(because: string): Finding {
  return {
    status: 'failed',
    type: 'structure.cms',
    message: `This is no CMS signature: ${because}`,
    subIndication: 'FORMAT_FAILURE',
  };
}

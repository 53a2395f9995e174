/** A signer whose signatures the engine accepts and the second implementation refuses. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signFile } from '@sealwright/signatures';
import { verifyIndependently } from '../../independent/index.ts';
import { DOCUMENT_SIGNING, issueCertificate } from './issuing.ts';
import { keyOf, pki, type TestSigner, testSigner } from './pki.ts';

/**
 * Returns a signer whose chain holds a twin: a certificate of the same issuer and serial number for another key. The
 * library takes the first of them; the engine goes by the digest of the certificate.
 */
export async function ambiguousSigner(): Promise<TestSigner> {
  const serial = randomBytes(16);
  const made = ['one', 'two'].map((commonName) => {
    const pair = keyOf('p-256');
    const certificate = issueCertificate({
      subject: { country: 'XX', organization: 'Sealwright tests', commonName },
      issuer: { country: 'XX', organization: 'Sealwright tests', commonName: pki().issuing.name },
      publicKey: pair.publicKey,
      issuerKey: pki().issuing.key,
      serial,
      notBefore: Date.now() - 86_400_000,
      notAfter: Date.now() + 86_400_000,
      use: { kind: 'signer', purposes: DOCUMENT_SIGNING },
    });
    return { pair, certificate };
  });
  for (const [own, twin] of [made, [...made].reverse()]) {
    if (!own || !twin) continue;
    const chain = [twin.certificate, pki().issuing.certificate];
    const signer = testSigner(own.pair.privateKey, own.certificate, chain);
    const bytes = signedBy(signer);
    const { signatures } = await verifyIndependently({ format: 'Cades', bytes, at: Date.now() });
    if (signatures[0]?.verdict === 'invalid') return signer;
  }
  throw new Error('The library picked the right certificate both times.');
}

function signedBy(signer: TestSigner): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-ambiguous-'));
  try {
    const input = join(folder, 'input');
    const output = join(folder, 'output');
    writeFileSync(input, 'x');
    signFile({ format: 'Cades', input, output, signer, at: Date.now() });
    return readFileSync(output);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

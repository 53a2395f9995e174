import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSigner, makeDevelopmentCertificates, signFileAtLevel } from '@sealwright/signatures';
import test from 'ava';
import { createEvidenceSource } from '#crypto/evidence/evidence-source.js';
import { certificatesIn } from '#crypto/x509/certificate.js';
import { startAuthority } from '../../pki/authority.ts';
import { classicPdf, documentObjects } from '../pdf/build.ts';

const folder = mkdtempSync(join(tmpdir(), 'sealwright-development-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const INPUT = { Pades: classicPdf(documentObjects()), Cades: Buffer.from('x'), Xades: Buffer.from('<a/>') };

test('level LT with the development certificate is refused at once, because no authority can be asked about it', async (t) => {
  const now = Date.now();
  const made = await makeDevelopmentCertificates({
    label: 'sealwright',
    now,
    random: (length) => randomBytes(length),
  });
  const path = join(folder, 'signer.pem');
  writeFileSync(path, made.certificate + made.key + made.caCertificate);
  const signer = await loadSigner({ source: 'Pem', certificatePath: path, keyPath: path });
  const authority = await startAuthority();
  try {
    const evidence = createEvidenceSource({
      anchors: [...certificatesIn(Buffer.from(made.caCertificate)), authority.pki.root.certificate],
      intermediates: [],
      issuerHosts: [],
      transport: authority.transport,
      now: () => now,
      wait: () => t.fail('nothing is tried again') as never,
      cacheMinutes: 1,
      timeoutMs: 60_000,
      retries: 5,
    });
    const services = { ...authority.services, evidence };
    for (const format of ['Pades', 'Cades', 'Xades'] as const) {
      const input = join(folder, `${format}.in`);
      writeFileSync(input, INPUT[format]);
      const output = `${input}.signed`;
      const error = await t.throwsAsync<Error & { readonly code: string }>(
        signFileAtLevel({ format, input, output, signer, at: now, level: 'LT' }, services),
      );
      t.is(error?.code, 'revocation.missing');
      t.regex(error?.message ?? '', /development signer.* names no address that leads anywhere.* LT and LTA/);
      t.throws(() => readFileSync(output), { code: 'ENOENT' });
      await signFileAtLevel({ format, input, output, signer, at: now, level: 'T' }, services);
    }
  } finally {
    await authority.close();
  }
});

import { validateFile } from '@sealwright/signatures';
import test from 'ava';
import { NO_TRUST } from '../../../../actors/shared/signing/trust-options.ts';
import { startAuthority } from '../../../pki/authority.ts';
import { pki } from '../../../pki/pki.ts';
import { runTool } from '../../../verifiers/index.ts';
import { ORIGIN, person, portalFixture, signer } from '../documents/flow-harness.ts';

test.serial(
  'a document with a requested time-stamp gets it at its end, and shows that it waits while the authority is unavailable',
  async (t) => {
    const authority = await startAuthority();
    t.teardown(() => authority.close());
    const choices = { timestamp: { url: authority.timestampUrl, timeoutMs: 60_000 } };
    const fixture = await portalFixture(t, { choices });
    authority.break('timestamp', 'busy');
    const id = await fixture.create([signer('Ana')], { timestampEnabled: true });
    await fixture.sign(id, 'ana@example.org');
    const waiting = await fixture.until(id, ({ processingError }) => processingError !== null);
    t.is(waiting.status, 'FlowConcluded');
    t.regex(waiting.processingError?.code ?? '', /^authority\./);
    authority.mend('timestamp');
    await fixture.portal.documents.retryProcessing(fixture.tenant, id);
    await fixture.until(id, ({ status }) => status === 'Concluded');
    const { stdout } = await runTool('pdfsig', ['-nocert', await fixture.signedFile(id)]);
    // This pdfsig sees the time-stamp, over the whole file, and calls its type unknown.
    t.regex(stdout, /Authority time-stamps[\s\S]*Total document signed/);
    t.is(stdout.match(/Signature is Valid/g)?.length, 1);
    const { signers } = await fixture.portal.validation.byDocument(fixture.tenant, id);
    t.deepEqual(
      signers.map(({ isTimestamp, isElectronic }) => [isTimestamp, isElectronic]),
      [
        [false, true],
        [true, false],
      ],
    );
  },
);

test.serial(
  'seals and certificate signatures of a profile above level B carry time-stamps of their own',
  async (t) => {
    const authority = await startAuthority();
    t.teardown(() => authority.close());
    const timestamp = { url: authority.timestampUrl, timeoutMs: 60_000 };
    const fixture = await portalFixture(t, { choices: { level: 'T', timestamp } });
    const id = await fixture.create([signer('Ana'), { user: person('Cy'), step: 1 }]);
    await fixture.sign(id, 'ana@example.org');
    await fixture.until(id, ({ flowActions: [first] }) => first?.status === 'Completed');
    const access = await fixture.ticket(id, 'cy@example.org');
    const { certificate, key } = pki().signer('rsa-2048');
    const { toSign, token } = await fixture.portal.signing.startCertificate(access, {
      certificate,
      positions: [],
    });
    if (toSign === null || token === null) throw new Error('nothing to sign');
    const signature = key.sign(Buffer.from(toSign, 'base64'), { scheme: 'rsa-pkcs1', digest: 'sha256' });
    t.true((await fixture.portal.signing.completeCertificate(access, { token, signature }, ORIGIN)).success);
    await fixture.until(id, ({ status }) => status === 'Concluded');
    const { signers } = await fixture.portal.validation.byDocument(fixture.tenant, id);
    t.deepEqual(
      signers.map(({ signatureTimestamps }) => signatureTimestamps.length),
      [1, 1],
    );
  },
);

test.serial('a signature with a certificate of the participant has the level of the profile', async (t) => {
  const authority = await startAuthority();
  t.teardown(() => authority.close());
  const timestamp = { url: authority.timestampUrl, timeoutMs: 60_000 };
  const { root, issuing, signer: signerOf } = authority.pki;
  const trust = {
    ...NO_TRUST,
    roots: [root.certificate],
    intermediates: [issuing.certificate],
    revocation: 'soft' as const,
    allowPrivate: true,
  };
  const signedWith = async (level: 'LT' | 'LTA', sources: 'all' | 'none') => {
    const fixture = await portalFixture(t, { choices: { level, timestamp }, trust });
    const id = await fixture.create([signer('Cy')]);
    const access = await fixture.ticket(id, 'cy@example.org');
    const { certificate, key } = signerOf('rsa-2048');
    if (sources === 'none')
      for (const service of ['ocsp', 'crl'] as const) authority.break(service, 'missing');
    const started = await fixture.portal.signing.startCertificate(access, { certificate, positions: [] });
    const { toSign, token, validationResults } = started;
    if (toSign === null || token === null) throw new Error(JSON.stringify(validationResults));
    const signature = key.sign(Buffer.from(toSign, 'base64'), { scheme: 'rsa-pkcs1', digest: 'sha256' });
    t.true((await fixture.portal.signing.completeCertificate(access, { token, signature }, ORIGIN)).success);
    await fixture.until(id, ({ status }) => status === 'Concluded');
    const path = await fixture.signedFile(id);
    const report = await validateFile({
      format: 'Pades' as const,
      path,
      at: Date.now(),
      trust: { anchors: [root.certificate], intermediates: [issuing.certificate], revocation: 'none' },
    });
    const warnings = validationResults.warnings.map(({ type }) => type);
    await fixture.close();
    return { level: report.signatures[0]?.level, warnings };
  };
  t.deepEqual(await signedWith('LT', 'all'), { level: 'LT', warnings: [] });
  t.deepEqual(await signedWith('LTA', 'all'), { level: 'LTA', warnings: [] });
  // Without revocation data that level cannot be had, and the person is told before the signature.
  const plain = await signedWith('LT', 'none');
  t.is(plain.level, 'T');
  t.true(plain.warnings.includes('signature.level'));
});

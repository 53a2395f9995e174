/** `VerifyIndependently`: a second implementation judges outputs before they are published. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addAsicSignature } from '@sealwright/signatures';
import test from 'ava';
import { NO_OBSERVER } from '../../../actors/batch/observer.ts';
import { checkIndependently } from '../../../actors/pool/independent-check.ts';
import { PLAIN_FORM } from '../../../actors/shared/files/output-names.ts';
import { NO_TRUST } from '../../../actors/shared/signing/trust-options.ts';
import { samplePdf } from '../../../bench/samples.ts';
import type { ProfileName } from '../../../machines/ids.ts';
import { file, made, remade, replacing } from '../../crypto/asic/container-harness.ts';
import { ambiguousSigner } from '../../pki/ambiguous-signer.ts';
import { pki, type TestSigner } from '../../pki/pki.ts';
import { reached } from '../../project/waiting.ts';
import { batchFixture } from '../batch/batch-harness.ts';

function profileOf(signer: TestSigner) {
  return {
    method: 'Local',
    verify: true,
    verifyIndependently: true,
    encrypt: false,
    name: 'default' as ProfileName,
    format: undefined,
    signer,
    anchors: [pki().root.certificate],
    validTo: Date.now() + 86_400_000,
    certificate: 'test',
  } as const;
}

test('outputs of every format pass the second implementation, with a history line and a count', async (t) => {
  const verdicts: (string | undefined)[] = [];
  const observer = { completed: (job: { independent?: string }) => verdicts.push(job.independent) };
  const { batch, upload, reach } = await batchFixture(t, {
    profiles: [profileOf(pki().signer('p-256'))],
    observer: { ...NO_OBSERVER, ...observer },
  });
  const ids = [
    await upload('a.pdf', samplePdf()),
    await upload('a.txt', 'content'),
    await upload('a.xml', '<order/>'),
    await upload('b.xml', '<order><?a processing instruction?></order>'),
  ];
  await reach('Completed', 4);
  const histories = (await Promise.all(ids.map((id) => batch.jobs.get(id)))).map(
    ({ history }) => history.at(-1)?.message,
  );
  t.deepEqual(
    histories.slice(0, 3),
    Array(3).fill('Verified, also by an independent implementation, and published.'),
  );
  t.regex(
    histories[3] ?? '',
    /^Verified and published\. The independent implementation cannot judge it: .*processing/,
  );
  t.deepEqual(verdicts.sort(), ['agrees', 'agrees', 'agrees', 'not-comparable']);
});

test('a real disagreement fails the job, publishes nothing, and keeps original, output and both verdicts', async (t) => {
  const signer = await ambiguousSigner();
  const failures: (string | null)[] = [];
  const { batch, upload, reach, layout } = await batchFixture(t, {
    profiles: [profileOf(signer)],
    observer: { ...NO_OBSERVER, failed: ({ code }: { code: string | null }) => failures.push(code) },
    watch: false,
  });
  const id = await upload('a.txt', 'content');
  await reach('Failed', 1);
  const job = await batch.jobs.get(id);
  t.is(job.errorCode, 'verification.disagreement');
  t.deepEqual(failures, ['verification.disagreement']);
  t.deepEqual(await readdir(layout.output).catch(() => []), []);
  t.true(existsSync(job.originalPath));
  const kept = join(layout.error, id);
  await reached(() => existsSync(kept));
  t.deepEqual(
    (await readdir(kept)).sort(),
    ['a.signed.txt', 'a.txt', 'verification-disagreement.json'].sort(),
  );
  const report = JSON.parse(await readFile(join(kept, 'verification-disagreement.json'), 'utf8'));
  t.like(report, { library: 'pkijs' });
  t.is(report.signatures[0].verdict, 'invalid');
  t.like(report.engine, { isValid: true, errors: [] });
  t.like(report.engine.signatures, [{ indication: 'TOTAL-PASSED', errors: [] }]);
});

test('a signature that was invalid in a container before another one is added is no disagreement', async (t) => {
  const damaged = replacing('META-INF/signature001.p7s', (bytes) => {
    const last = bytes.length - 1;
    return Buffer.concat([bytes.subarray(0, last), Buffer.from([(bytes[last] ?? 0) ^ 1])]);
  });
  const stagedPath = remade(await made('E', 'Cades'), damaged);
  const path = file(undefined, 'asice');
  const signer = pki().signer('p-256');
  await addAsicSignature({ input: stagedPath, output: path, signer, at: Date.now() });
  const profile = {
    name: 'one',
    signer,
    choices: { coSign: true },
    form: { ...PLAIN_FORM, container: 'E' },
    verify: true,
    verifyIndependently: true,
    compareContent: true,
    anchors: [],
    services: {},
  } as const;
  const check = { format: 'Cades', path, fileName: 'a.asice', stagedPath, content: null } as const;
  const { verdict } = await checkIndependently({
    ...check,
    profile,
    trust: NO_TRUST,
    remote: false,
    at: Date.now(),
  });
  t.is(verdict, 'agrees');
});

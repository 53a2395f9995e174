import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import test from 'ava';
import type { LocalProfile } from '../../../../actors/index.ts';
import { samplePdf } from '../../../../bench/samples.ts';
import type { ProfileName } from '../../../../machines/ids.ts';
import { pki } from '../../../pki/pki.ts';
import { batchFixture } from '../batch-harness.ts';

const DAY = 86_400_000;
const PLAIN = { preserveFileExtension: true, saveAsPem: false, detached: false };

function profile(name: string, more: Partial<LocalProfile> = {}): LocalProfile {
  return {
    method: 'Local',
    name: name as ProfileName,
    format: undefined,
    verify: true,
    encrypt: false,
    signer: pki().signer('p-256'),
    anchors: [pki().root.certificate],
    validTo: Date.now() + DAY,
    certificate: 'test',
    ...more,
  };
}

test('an output is served with the media type of its form and its digest, envelopes included', async (t) => {
  const it = await batchFixture(t, {
    watch: false,
    encryptionKey: Buffer.alloc(32, 7),
    profiles: [
      profile('default'),
      profile('pem', { format: 'Cades', form: { ...PLAIN, preserveFileExtension: false, saveAsPem: true } }),
      profile('detached', { format: 'Cades', form: { ...PLAIN, detached: true } }),
      profile('secret', { encrypt: true }),
    ],
  });
  const { jobs } = it.batch;
  const send = async (fileName: string, content: string | Buffer, named: string) => {
    const sink = await jobs.uploads.openUpload(fileName);
    await sink.write(Buffer.from(content));
    const { format, profile: found } = jobs.uploads.plan({ fileName, format: undefined, profile: named });
    return (await jobs.uploads.acceptUpload(sink, { fileName, format, profile: found })).id;
  };
  const sent = [
    { id: await send('a.pdf', samplePdf(2000), ''), name: 'a.signed.pdf', type: 'application/pdf' },
    { id: await send('a.xml', '<a/>', ''), name: 'a.signed.xml', type: 'application/xml' },
    { id: await send('a.bin', 'x', ''), name: 'a.signed.bin', type: 'application/pkcs7-mime' },
    { id: await send('a.bin', 'x', 'pem'), name: 'a.bin.pem', type: 'application/x-pem-file' },
    { id: await send('a.bin', 'x', 'detached'), name: 'a.bin.p7s', type: 'application/pkcs7-signature' },
    { id: await send('a.txt', 'x', 'secret'), name: 'a.signed.txt.enc', type: 'application/octet-stream' },
  ];
  await it.reach('Completed', sent.length);
  for (const { id, name, type } of sent) {
    const output = await jobs.output(id);
    t.is(output.fileName, name);
    t.is(output.contentType, type);
    const bytes = await readFile(output.path);
    const digest = createHash('sha256').update(bytes).digest('hex');
    t.deepEqual([output.sha256, output.length], [digest, bytes.length], name);
    const detail = await jobs.get(id);
    t.like(detail, { outputSha256: digest, outputFileName: name, outputEncrypted: name.endsWith('.enc') });
    t.is(detail.updatedAt >= (detail.history.at(-1)?.timestamp ?? 0), true);
  }
});

test('the cached job is the last one read, and is dropped after a step of the job', async (t) => {
  const { batch } = await batchFixture(t, { watch: false, start: false });
  const { jobs } = batch;
  const sink = await jobs.uploads.openUpload('a.txt');
  await sink.write(Buffer.from('content'));
  const { format, profile: named } = jobs.uploads.plan({
    fileName: 'a.txt',
    format: undefined,
    profile: undefined,
  });
  const { id } = await jobs.uploads.acceptUpload(sink, { fileName: 'a.txt', format, profile: named });
  t.is(jobs.peek(id), undefined, 'not read yet');
  const read = await jobs.get(id);
  t.is(jobs.peek(id), read);
  await jobs.cancel(id, null);
  t.is(jobs.peek(id), undefined);
  t.is((await jobs.get(id)).status, 'Canceled');
  t.is(jobs.peek(id)?.status, 'Canceled');
});

test('a retry under a removed profile is refused, and the job stays unchanged', async (t) => {
  const first = await batchFixture(t, { watch: false, profiles: [profile('default'), profile('old')] });
  const sink = await first.batch.jobs.uploads.openUpload('broken.pdf');
  await sink.write(Buffer.from('no PDF'));
  const named = { fileName: 'broken.pdf', format: 'Pades', profile: 'old' as ProfileName } as const;
  const { id } = await first.batch.jobs.uploads.acceptUpload(sink, named);
  await first.reach('Failed', 1);
  const root = first.layout.root;
  await first.close();
  const { batch } = await batchFixture(t, { root, watch: false });
  const before = await batch.jobs.get(id);
  await t.throwsAsync(batch.jobs.retry(id), { code: 'profile.not-found' });
  t.deepEqual((await batch.jobs.get(id)).history, before.history);
  t.is((await batch.jobs.list({ statuses: [], profile: 'old', page: 1, pageSize: 5 })).totalCount, 1);
  t.is((await batch.bulk.retryMany({ limit: 10, countOnly: false })).items[0]?.code, 'profile.not-found');
});

test('the listed profiles are those that an upload may name, with the default one', async (t) => {
  const facts = { source: 'Pfx', subject: 'CN=A', thumbprint: 'AB', notAfter: Date.now() + DAY };
  const { batch } = await batchFixture(t, {
    watch: false,
    start: false,
    profiles: [
      profile('first', { facts, format: 'Xades', validateCertificate: true, verify: false }),
      {
        method: 'RemoteSigner',
        name: 'far' as ProfileName,
        format: 'Pades',
        verify: true,
        encrypt: false,
        anchors: [],
        participant: {
          name: 'A',
          email: 'a@example.org',
          identifier: '1',
          allowElectronicSignature: false,
        },
      },
    ],
  });
  t.deepEqual(batch.profiles.list(), [
    {
      name: 'first' as ProfileName,
      format: 'Xades',
      method: 'Local',
      verify: false,
      encrypt: false,
      validateCertificate: true,
      certificate: facts,
      default: true,
    },
    {
      name: 'far' as ProfileName,
      format: 'Pades',
      method: 'RemoteSigner',
      verify: true,
      encrypt: false,
      validateCertificate: false,
      certificate: null,
      default: false,
    },
  ]);
});

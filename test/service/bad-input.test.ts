import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import test from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { Service, temporaryRoot } from './service.ts';
import { brokenPromises } from './signing/evidence.ts';

const pdf = samplePdf(4000);

/** A PDF with this text in the place of its first object's body. */
function withCatalogue(body: string): Buffer {
  return Buffer.from(pdf.toString('latin1').replace('<< /Type /Catalog /Pages 2 0 R >>', body), 'latin1');
}

/** Each must fail its job with a code and a sentence, quickly, and touch nothing else. */
const HOSTILE: Readonly<Record<string, string | Buffer>> = {
  'random.pdf': randomBytes(20_000),
  'text.pdf': 'no PDF at all',
  'half.pdf': pdf.subarray(0, pdf.length >> 1),
  'head-only.pdf': pdf.subarray(0, 9),
  'no-pages.pdf': withCatalogue('<< /Type /Catalog >>'),
  'own-parent.pdf': Buffer.from(pdf.toString('latin1').replace('/Kids [3 0 R]', '/Kids [2 0 R]'), 'latin1'),
  'deep-arrays.pdf': withCatalogue(`<< /Type /Catalog /Pages 2 0 R /X ${'['.repeat(200_000)} >>`),
  'deep-dictionaries.pdf': withCatalogue(`<< /Type /Catalog /X ${'<</A '.repeat(100_000)} >>`),
  'entity-bomb.xml': `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 12 }, (_, n) => `<!ENTITY ${String.fromCharCode(98 + n)} "${`&${String.fromCharCode(97 + n)};`.repeat(10)}">`).join('')}]><a>&m;</a>`,
  'external-entity.xml': '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
  'external-dtd.xml': '<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><a/>',
  'deep.xml': '<a>'.repeat(100_000) + '</a>'.repeat(100_000),
  'unclosed.xml': '<a><b></a>',
  'half.xml': '<order><line>on',
  'two-roots.xml': '<a/><b/>',
  'attributes.xml': `<a ${Array.from({ length: 200_000 }, (_, n) => `a${n}="1"`).join(' ')}/>`,
  'unknown-entity.xml': '<a>&nbsp;</a>',
  'random.xml': randomBytes(20_000),
  'encoding.xml': Buffer.from('<?xml version="1.0" encoding="EBCDIC-CP-US"?><a/>'),
};

test.serial(
  'hostile and broken files fail with a reason, one by one, and the jobs after them are signed',
  async (t) => {
    const root = await temporaryRoot(t);
    const service = await Service.start(t, { root, settings: { 'Pipeline:MaxConcurrency': 4 } });
    for (const [name, content] of Object.entries(HOSTILE))
      await writeFile(join(root, 'input', name), content);
    const expected = Object.keys(HOSTILE).length;
    await service.until('every one to end', async () =>
      (await service.count('Failed')) + (await service.count('Completed')) === expected ? true : undefined,
    );
    for (const job of await service.jobs()) {
      const detail = await service.job(job.id);
      t.is(detail.status, 'Failed', job.fileName);
      t.regex(detail.errorCode ?? '', /^(pdf|xml|input)\.[a-z-]+$/, job.fileName);
      t.true(
        (detail.errorMessage ?? '').length > 10 && (detail.errorMessage ?? '').length < 2000,
        job.fileName,
      );
      t.deepEqual(
        await readFile(detail.originalPath),
        Buffer.from(HOSTILE[job.fileName] ?? ''),
        'the input is untouched',
      );
    }
    const { jobId } = await service.upload('fine.pdf', samplePdf());
    t.is((await service.finished(jobId)).status, 'Completed');
    await service.until('everything to be put away', async () =>
      (await brokenPromises(service, { accepted: [jobId], dropped: [] })).length === 0 ? true : undefined,
    );
    t.is(await service.stop(), 0, 'the process it all happened in is the one that ends');
  },
);

test.serial('an endlessly inflating stream, and enormous numbers, do not end the process', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root });
  const bomb = deflateSync(Buffer.alloc(200 << 20));
  const head = Buffer.from('%PDF-1.7\n');
  const stream = Buffer.concat([
    Buffer.from(
      `1 0 obj\n<< /Type /XRef /Size 99999999999 /W [8 8 8] /Index [0 99999999999] /Root 2 0 R /Filter /FlateDecode /Length ${bomb.length} >>\nstream\n`,
    ),
    bomb,
    Buffer.from(`\nendstream\nendobj\nstartxref\n${head.length}\n%%EOF\n`),
  ]);
  const huge = pdf.toString('latin1').replace(/startxref\n\d+/, 'startxref\n99999999999999999999');
  for (const [name, content] of [
    ['bomb.pdf', Buffer.concat([head, stream])],
    ['size.pdf', withCatalogue('<< /Type /Catalog /Pages 99999999999999999999 0 R >>')],
  ] as const) {
    const { jobId } = await service.upload(name, content);
    const job = await service.finished(jobId);
    t.is(job.status, 'Failed', name);
    t.regex(job.errorCode ?? '', /^pdf\./, name);
  }
  const repaired = await service.upload('startxref.pdf', Buffer.from(huge, 'latin1'));
  t.is(
    (await service.finished(repaired.jobId)).errorMessage,
    null,
    'a wrong startxref is repaired in the reading',
  );
  t.is(await service.stop(), 0);
});

test.serial('10,000 files dropped at once are all queued, each once', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, {
    root,
    settings: { 'WatchedFolder:StabilityPollIntervalMs': 500, 'WatchedFolder:StabilityRequiredSamples': 3 },
  });
  const total = async () => (await service.json<{ totalCount: number }>('/api/jobs?pageSize=1')).totalCount;
  for (let index = 0; index < 10_000; index += 1)
    await writeFile(join(root, 'input', `file-${index}.txt`), `content ${index}`);
  await service.until('10,000 jobs', async () => ((await total()) >= 10_000 ? true : undefined), 90);
  const names = new Set((await service.jobs()).map((job) => job.fileName));
  t.is(names.size, 10_000);
  t.is(await total(), 10_000);
  await service.kill();
});

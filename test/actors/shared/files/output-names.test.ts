import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import {
  NAME_LIMIT,
  type OutputFormat,
  outputContentType,
  outputName,
  outputNames,
  PLAIN_FORM,
  possibleOutputNames,
  shortFileName,
} from '../../../../actors/shared/files/output-names.ts';
import type { JobFormat } from '../../../../machines/batch/job-context.ts';
import { reached } from '../../../project/waiting.ts';
import { batchFixture } from '../../batch/batch-harness.ts';

const ID = '1a2b3c4d-0000-4000-8000-000000000000';

/** A name of so many bytes that ends in `.txt`. */
function nameOf(bytes: number): string {
  return `${'n'.repeat(bytes - 4)}.txt`;
}

test('the second name of an output is at most as long as the first, and keeps whole characters', (t) => {
  t.is(outputNames('report.pdf', ID)[1], 'report-1a2b3c4d.signed.pdf');
  for (const name of [
    nameOf(240),
    nameOf(248),
    `${'ä'.repeat(122)}.txt`,
    `${'😀'.repeat(61)}.txt`,
    `a.${'x'.repeat(246)}`,
    'n'.repeat(248),
  ]) {
    const [first, second, third] = outputNames(name, ID);
    t.true(Buffer.byteLength(third) <= NAME_LIMIT, third);
    t.true(Buffer.byteLength(first) <= NAME_LIMIT);
    t.true(Buffer.byteLength(second) <= NAME_LIMIT, second);
    t.is(Buffer.from(second).toString(), second, 'no half characters');
    t.true(second.includes('-1a2b3c4d.signed'));
  }
});

/** Source: docs/batch-values.md §1 row 1, §3, §6.1 and §9. */
const NAMES: readonly (readonly [
  file: string,
  format: JobFormat,
  form: Partial<OutputFormat>,
  wanted: string,
  beside: string,
  contentType: string,
])[] = [
  ['a.pdf', 'Pades', {}, 'a.signed.pdf', 'a-1a2b3c4d.signed.pdf', 'application/pdf'],
  ['a.tar.gz', 'Cades', {}, 'a.tar.signed.gz', 'a.tar-1a2b3c4d.signed.gz', 'application/pkcs7-mime'],
  ['name', 'Cades', {}, 'name.signed', 'name-1a2b3c4d.signed', 'application/pkcs7-mime'],
  [
    'a.pdf',
    'Pades',
    { preserveFileExtension: false, encrypted: true },
    'a.signed.pdf.enc',
    'a-1a2b3c4d.signed.pdf.enc',
    'application/octet-stream',
  ],
  [
    'a.bin',
    'Cades',
    { preserveFileExtension: false },
    'a.bin.p7m',
    'a-1a2b3c4d.bin.p7m',
    'application/pkcs7-mime',
  ],
  [
    'a.bin',
    'Cades',
    { preserveFileExtension: false, saveAsPem: true },
    'a.bin.pem',
    'a-1a2b3c4d.bin.pem',
    'application/x-pem-file',
  ],
  ['a.bin', 'Cades', { detached: true }, 'a.bin.p7s', 'a-1a2b3c4d.bin.p7s', 'application/pkcs7-signature'],
  [
    'a.dat',
    'Xades',
    { preserveFileExtension: false },
    'a.signed.xml',
    'a-1a2b3c4d.signed.xml',
    'application/xml',
  ],
  ['a.dat', 'Xades', { detached: true }, 'a.signed.dat', 'a-1a2b3c4d.signed.dat', 'application/xml'],
];
for (const [file, format, form, wanted, beside, contentType] of NAMES) {
  test(`${format} of ${file} with ${JSON.stringify(form)} is published as ${wanted}`, (t) => {
    const whole = { ...PLAIN_FORM, ...form };
    const names = outputNames(file, ID, format, whole);
    t.deepEqual(names.slice(0, 2), [wanted, beside]);
    t.is(names[2], beside.replace('-1a2b3c4d', `-${ID}`));
    t.is(outputContentType(format, whole), contentType);
    t.true(possibleOutputNames(file, ID).includes(wanted));
    t.true(possibleOutputNames(file, ID).includes(beside));
    t.true(possibleOutputNames(file, ID).includes(names[2]));
  });
}

test('outputs of jobs of two nodes whose ids begin alike have a name each, also where the wanted one is taken', (t) => {
  const [wanted, beside, whole] = outputNames('a.pdf', ID);
  const others = outputNames('a.pdf', ID.replace(/0$/, '1'));
  t.deepEqual(others.slice(0, 2), [wanted, beside]);
  t.not(others[2], whole);
});

test('a staged name is truncated between characters and keeps a short extension', (t) => {
  const name = shortFileName(`${'😀'.repeat(100)}.pdf`);
  t.is(name, `${'😀'.repeat(62)}.pdf`);
});

test('files with names of up to 248 bytes are published beside outputs that have their names', async (t) => {
  const { layout, reach } = await batchFixture(t);
  const names = [240, 245, 248].map(nameOf);
  for (const name of names) await writeFile(join(layout.output, outputName(name)), 'taken');
  for (const name of names) await writeFile(join(layout.input, name), `content of ${name.length}`);
  await reach('Completed', 3);
  t.is((await readdir(layout.output)).length, 6);
});

test('a job whose name has no room for a second one is put aside when it fails in Verifying', async (t) => {
  const { batch, layout, upload, reach } = await batchFixture(t, { watch: false, outputCollision: 'fail' });
  const names = [240, 245, 248].map(nameOf);
  for (const name of names) await writeFile(join(layout.output, outputName(name)), 'taken');
  const ids = [];
  for (const name of names) ids.push(await upload(name, 'content'));
  await reach('Failed', 3);
  for (const id of ids) {
    t.is((await batch.jobs.get(id)).errorCode, 'output.exists');
    await reached(() => !existsSync(join(layout.processing, id)));
    t.is((await readdir(join(layout.error, id))).length, 2, 'the input and what was signed');
  }
});

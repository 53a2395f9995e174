/** Files of several documents in one, over HTTP. Source: docs/decisions/0128-files-of-several-documents.md. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import JSZip from 'jszip';
import { memberNames, safeFileName } from '../../../../actors/portal/documents/document-packages.ts';
import { SAMPLE, sharedProgram, startProgram, until } from '../../../actors/portal/service.ts';
import { temporaryRoot } from '../../../service/service.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';

const toolTest = withTools(test, 'qpdf');

const FLOW = [{ user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true }];

test('an archive has the unchanged files of all documents, each under its own name', async (t) => {
  const root = await temporaryRoot(t);
  const { acme } = await startProgram(t, { root });
  const large = { name: '../große Datei.txt', type: 'text/plain', content: Buffer.alloc(3_000_000, 'text ') };
  const documents = [await acme.create(FLOW), await acme.create(FLOW), await acme.create(FLOW, {}, large)];
  const answer = await acme.send('/api/documents/archive', { documents });
  t.is(answer.status, 200);
  t.is(answer.headers.get('content-type'), 'application/zip');
  t.regex(answer.headers.get('content-disposition') ?? '', /filename="documents\.zip"/);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const zip = await JSZip.loadAsync(bytes, { checkCRC32: true });
  t.deepEqual(Object.keys(zip.files), ['Vertrag ä.pdf', 'Vertrag ä (2).pdf', 'große Datei.txt']);
  t.deepEqual(await zip.file('Vertrag ä (2).pdf')?.async('nodebuffer'), SAMPLE.content);
  t.deepEqual(await zip.file('große Datei.txt')?.async('nodebuffer'), large.content);
  await until(async () => {
    const left = await readdir(join(root, 'portal/incoming'));
    return left.length === 0 ? true : undefined;
  });

  for (const more of [{}, { type: 'Signatures' }]) {
    const unknown = more.type === undefined ? ['7c9e6679-7425-40de-944b-e07fc1f90ae7'] : [];
    const refused = await acme.send('/api/documents/archive', {
      documents: [...documents, ...unknown],
      ...more,
    });
    t.is(refused.status, 422, 'all or nothing');
  }
  const many = Array.from({ length: 51 }, () => documents[0]);
  t.is((await acme.send('/api/documents/archive', { documents: many })).status, 400);
  t.is((await acme.send('/api/documents/archive', { documents: [] })).status, 400);
});

toolTest('a combined PDF has the pages of all documents, and only PDFs can be combined', async (t) => {
  const root = await temporaryRoot(t);
  const { acme } = await startProgram(t, { root });
  const documents = [await acme.create(FLOW), await acme.create(FLOW), await acme.create(FLOW)];
  const answer = await acme.send('/api/documents/combined', { documents });
  t.is(answer.status, 200);
  t.is(answer.headers.get('content-type'), 'application/pdf');
  const path = join(root, 'combined.pdf');
  await writeFile(path, Buffer.from(await answer.arrayBuffer()));
  t.is((await runTool('qpdf', ['--show-npages', path])).stdout.trim(), '3');

  const text = { name: 'a.txt', type: 'text/plain', content: Buffer.from('text') };
  const mixed = [...documents, await acme.create(FLOW, {}, text)];
  const refused = await acme.send('/api/documents/combined', { documents: mixed });
  t.is(refused.status, 422);
  t.is(((await refused.json()) as { code: string }).code, 'EnvelopeRequiresPdf');
});

test('aborted downloads of several documents free their places', async (t) => {
  const { acme } = await sharedProgram(t);
  const documents = [await acme.create(FLOW)];
  for (let count = 0; count < 5; count += 1) {
    const abort = new AbortController();
    const answer = await until(async () => {
      const init = { method: 'POST', body: JSON.stringify({ documents }), signal: abort.signal };
      const headers = { 'Content-Type': 'application/json' };
      const given = await acme.fetch('/api/documents/archive', { ...init, headers });
      return given.status === 200 ? given : undefined;
    });
    t.is(answer.status, 200);
    abort.abort();
  }
});

test('names in an archive are valid on every common file system', (t) => {
  const names = {
    'CON.pdf': 'CON-.pdf',
    nul: 'nul-',
    'a. .': 'a-',
    'a\u202efdp.exe': 'a-fdp.exe',
    'Contract.pdf': '',
  };
  for (const [given, safe] of Object.entries(names)) t.is(safeFileName(given), safe || given);
  const long = `${'ü'.repeat(200)}.pdf`;
  const file = (fileName: string) => ({ path: '', length: 0, contentType: '', etag: '', fileName });
  t.deepEqual(memberNames([file('a.pdf'), file('A.pdf'), file(long), file(long)]), [
    'a.pdf',
    'A (2).pdf',
    `${'ü'.repeat(125)}.pdf`,
    `${'ü'.repeat(123)} (2).pdf`,
  ]);
});

/** Errors of the system while an upload is stored, and the formats of files that come without one. Source: docs/batch-values.md §3, §4. */
import { execFileSync } from 'node:child_process';
import { openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Retryable } from '@sealwright/runtime';
import test from 'ava';
import { Upload, unavailable } from '../../../../actors/batch/uploads/upload-storage.ts';
import { SLOT_BYTES, type UploadSlot, UploadThread } from '../../../../actors/batch/uploads/upload-thread.ts';
import { DiskSync } from '../../../../actors/shared/files/disk-sync.ts';
import { formatByContent, formatOfSigned } from '../../../../actors/shared/files/signing-format.ts';
import { samplePdf } from '../../../../bench/samples.ts';
import type { JobFormat } from '../../../../machines/batch/job-context.ts';
import type { ProfileName } from '../../../../machines/ids.ts';
import { pki } from '../../../pki/pki.ts';
import { reached } from '../../../project/waiting.ts';
import { folderFor } from '../../../runtime/folder.ts';
import { batchFixture } from '../batch-harness.ts';

const systemError = (code: string): Error => Object.assign(new Error(code), { code });

test('a full folder, and one that may not be written, can be tried again, and other errors are kept', (t) => {
  for (const [codes, expected] of [
    [['ENOSPC', 'EDQUOT'], 'storage.full'],
    [['EROFS', 'EPERM', 'EACCES', 'ENOENT', 'EMFILE', 'ENFILE', 'EIO'], 'storage.unavailable'],
  ] as const) {
    for (const code of codes) {
      const error = unavailable(systemError(code));
      t.true(error instanceof Retryable, code);
      t.is((error as Retryable).code, expected);
    }
  }
  const other = systemError('EINVAL');
  t.is(unavailable(other), other);
});

test('an upload whose bytes or whose name cannot be synced can be tried again, and makes no job', async (t) => {
  const { batch, layout } = await batchFixture(t, { start: false, watch: false });
  const { format, profile } = batch.jobs.uploads.plan({
    fileName: 'a.txt',
    format: undefined,
    profile: undefined,
  });
  const folder = folderFor(t);
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const regular = join(folder, 'regular');
  writeFileSync(regular, '');
  for (const [path, file, isTaken] of [
    // The system syncs neither a pipe nor a folder of processes.
    [join(layout.input, 'a.txt'), openSync(pipe, 'r+'), false],
    ['/proc/self/a.txt', openSync(regular, 'r+'), false],
    [join(layout.input, 'a.txt'), openSync(regular, 'r+'), true],
  ] as const) {
    const upload = new Upload({ path, target: file, disk: new DiskSync(), hash: undefined });
    await upload.write(Buffer.from('content'));
    const accepted = batch.jobs.uploads.acceptUpload(upload, { fileName: 'a.txt', format, profile });
    if (isTaken) await accepted;
    else await t.throwsAsync(accepted, { code: 'storage.unavailable' });
    t.is(batch.count(), isTaken ? 1 : 0);
  }
  class Nameless extends Upload {
    override rename(): Promise<void> {
      return Promise.reject(systemError('EIO'));
    }
  }
  const nameless = new Nameless({
    path: join(layout.input, 'b.txt'),
    target: openSync(regular, 'r+'),
    disk: new DiskSync(),
    hash: undefined,
  });
  await nameless.write(Buffer.from('content'));
  await t.notThrowsAsync(
    batch.jobs.uploads.acceptUpload(nameless, { fileName: 'b.txt', format, profile }),
    'its job is stored',
  );
});

/** A slot of the thread, once it runs. */
async function slotOf(thread: UploadThread): Promise<UploadSlot> {
  let slot: UploadSlot | undefined;
  await reached(() => (slot ??= thread.slot()));
  return slot as UploadSlot;
}

test('the thread of uploads stores, renames and refuses as a file of its own does, and leaves larger files to one', async (t) => {
  const { batch, layout } = await batchFixture(t, { start: false, watch: false });
  const { format, profile } = batch.jobs.uploads.plan({
    fileName: 'a.txt',
    format: undefined,
    profile: undefined,
  });
  const thread = new UploadThread(1);
  const accept = async (path: string, pieces: readonly Buffer[]) => {
    const upload = new Upload({ path, target: await slotOf(thread), disk: new DiskSync(), hash: undefined });
    for (const piece of pieces) await upload.write(piece);
    return batch.jobs.uploads
      .acceptUpload(upload, { fileName: 'a.txt', format, profile })
      .catch(async (error) => {
        await upload.abort();
        throw error;
      });
  };
  // More than there are slots: they are used again.
  const contents = Array.from({ length: 200 }, (_, n) => [Buffer.from(`first ${n}`), Buffer.alloc(n, 'x')]);
  contents.push(
    [Buffer.alloc(SLOT_BYTES - 1, 'a'), Buffer.from('b')],
    [Buffer.alloc(SLOT_BYTES, 'a'), Buffer.from('b')],
    // Within a word of the memory.
    ...[SLOT_BYTES - 1, SLOT_BYTES].map((length) => [
      Buffer.from('###'.padEnd(3 + length, 'abc')).subarray(3),
      Buffer.from('d'),
    ]),
  );
  await Promise.all(contents.map((pieces, n) => accept(join(layout.input, `${n}.txt`), pieces)));
  for (const [n, pieces] of contents.entries())
    t.deepEqual(readFileSync(join(layout.input, `${n}.txt`)), Buffer.concat(pieces));
  t.is(batch.count(), contents.length);
  const slot = await slotOf(thread);
  const from = join(layout.input, 'from.txt');
  const to = join(layout.input, 'renamed.txt');
  slot.bytes.set(Buffer.from('x'));
  await slot.store(from, 1);
  slot.release();
  await slot.rename(from, to);
  t.is(readFileSync(to, 'utf8'), 'x');
  await t.throwsAsync(slot.rename(from, to), { code: 'ENOENT' });
  rmSync(to);
  // The system makes no file there.
  await t.throwsAsync(accept('/proc/self/a.txt', [Buffer.from('content')]), { code: 'storage.unavailable' });
  const dropped = new Upload({
    path: join(layout.input, 'dropped.txt'),
    target: await slotOf(thread),
    disk: new DiskSync(),
    hash: undefined,
  });
  await dropped.write(Buffer.from('content'));
  await dropped.abort();
  t.is(batch.count(), contents.length);
  t.is(readdirSync(layout.input).length, contents.length);
});

test('uploads that the thread has not stored when it ends can be tried again, and later ones do without it', async (t) => {
  const ends = `import { parentPort } from 'node:worker_threads'; parentPort.once('message', () => process.exit());`;
  const thread = new UploadThread(1, new URL(`data:text/javascript,${ends}`));
  const slot = await slotOf(thread);
  await t.throwsAsync(slot.store(join(folderFor(t), 'a.txt'), 1), { code: 'storage.unavailable' });
  t.is(thread.slot(), undefined);
});

test('a profile with a container and without Format puts a PDF into it, and extends a signed one as what it is', async (t) => {
  const { batch } = await batchFixture(t, {
    start: false,
    watch: false,
    profiles: [
      {
        method: 'Local',
        verify: true,
        encrypt: false,
        format: undefined,
        certificate: 'test',
        signer: pki().signer('p-256'),
        anchors: [pki().root.certificate],
        name: 'boxed' as ProfileName,
        validTo: Date.now() + 30 * 86_400_000,
        form: { preserveFileExtension: true, saveAsPem: false, detached: false, container: 'E' },
        choices: { level: 'T', timestamp: { url: 'http://127.0.0.1:9/', timeoutMs: 100 } },
      },
    ],
  });
  const formatOf = (operation: 'Extend' | undefined) =>
    batch.jobs.uploads.plan({ fileName: 'a.pdf', format: undefined, profile: 'boxed', operation }).format;
  t.is(formatOf(undefined), 'Cades');
  t.is(formatOf('Extend'), 'Pades');
});

const PDF = samplePdf(2_000, 'mixed');
const PDF_BEHIND_LINES = Buffer.concat([Buffer.from('@PJL SET COPIES=1\r\n'), PDF]);
const XML = '<?xml version="1.0"?>\n<order><line>1</line></order>';
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const UTF16_XML = utf16(XML.replace('?>', ' encoding="UTF-16"?>'));

/** Name, content, the format that the file gets, and the name of what is published of it; undefined: it cannot be signed. */
const MIXED: readonly (readonly [string, string | Buffer, JobFormat, string?])[] = [
  ['named.pdf', PDF, 'Pades', 'named.signed.pdf'],
  ['behind.PDF', PDF_BEHIND_LINES, 'Pades', 'behind.signed.PDF'],
  ['named.xml', '<order/>', 'Xades', 'named.signed.xml'],
  ['wide.xml', UTF16_XML, 'Xades', 'wide.signed.xml'],
  ['text.txt', 'words', 'Cades', 'text.signed.txt'],
  ['scan.dat', PDF, 'Pades', 'scan.signed.dat'],
  ['scan', PDF_BEHIND_LINES, 'Pades', 'scan.signed'],
  ['order.dat', XML, 'Xades', 'order.signed.dat'],
  ['order.edi', `\ufeff${XML}`, 'Xades', 'order.signed.edi'],
  ['wide.dat', UTF16_XML, 'Xades', 'wide.signed.dat'],
  ['wide.be', Buffer.from(UTF16_XML).swap16(), 'Xades', 'wide.signed.be'],
  ['about.txt', 'The header is %PDF-1.7 or later.', 'Cades', 'about.signed.txt'],
  ['tag.txt', '<br> is a line break; <?xml version="1.0"?>', 'Cades', 'tag.signed.txt'],
  ['page.html', '<!doctype html><title>a</title>', 'Cades', 'page.signed.html'],
  ['page.xhtml', '<?xml version="1.0"?><html><p>a</p></html>', 'Cades', 'page.signed.xhtml'],
  ['typed.dat', '<?xml version="1.0"?><!DOCTYPE a><a/>', 'Cades', 'typed.signed.dat'],
  ['mail.eml', 'Subject: a\r\n\r\n<?xml version="1.0"?><a/>', 'Cades', 'mail.signed.eml'],
  ['other.pdf', XML, 'Pades'],
  ['other.xml', PDF, 'Xades'],
];

test('files of a mixed folder, uploaded or watched, are signed in the format of their extension, else of their content', async (t) => {
  for (const watched of [false, true]) {
    const it = await batchFixture(t, { watch: watched });
    const published = MIXED.filter(([, , , output]) => output !== undefined).length;
    for (const [name, content] of MIXED)
      if (watched) writeFileSync(join(it.layout.input, name), content);
      else await it.upload(name, content);
    await it.reach('Completed', published);
    await it.reach('Failed', MIXED.length - published);
    const { items } = await it.batch.jobs.list({ statuses: [], page: 1, pageSize: 50 });
    const found = await Promise.all(
      items.map(async ({ id, fileName, format }) => [
        fileName,
        format,
        (await it.batch.jobs.get(id)).outputFileName ?? undefined,
      ]),
    );
    const expected = MIXED.map(([name, , format, output]) => [name, format, output]);
    t.deepEqual(found.sort(), expected.sort(), watched ? 'watched' : 'uploaded');
  }
});

test('what is signed already stays what it is: content to sign, or of its format to extend', async (t) => {
  const it = await batchFixture(t, { watch: false });
  await it.upload('a.txt', 'words');
  await it.reach('Completed', 1);
  const cms = readFileSync(join(it.layout.output, 'a.signed.txt'));
  // The local header of the first member of a container.
  const container = Buffer.from(
    `PK\x03\x04${'\0'.repeat(22)}\x08\0\0\0mimetypeapplication/vnd.etsi.asic-e+zip%PDF-1.7\n`,
    'latin1',
  );
  for (const [name, head, toSign, signed] of [
    ['a.p7m', cms, 'Cades', 'Cades'],
    ['a.asice', container, 'Cades', 'Cades'],
    ['a.dat', PDF, 'Pades', 'Pades'],
    [
      'a.xsig',
      Buffer.from('<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/>'),
      'Cades',
      'Xades',
    ],
  ] as const) {
    t.is(formatByContent(head, name), toSign, name);
    t.is(formatOfSigned(head), signed, name);
  }
});

/** Errors of the system while an upload is stored. Source: docs/batch-values.md §3. */
import { execFileSync } from 'node:child_process';
import { openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Retryable } from '@sealwright/runtime';
import test from 'ava';
import { SLOT_BYTES, type UploadSlot, UploadThread } from '../../../../actors/batch/jobs/upload-thread.ts';
import { Upload, unavailable } from '../../../../actors/batch/jobs/uploads.ts';
import { DiskSync } from '../../../../actors/shared/disk-sync.ts';
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

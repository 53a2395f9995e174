/** Errors of the system while an upload is stored. Source: docs/batch-values.md §3. */
import { execFileSync } from 'node:child_process';
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Retryable } from '@sealwright/runtime';
import test from 'ava';
import { Upload, unavailable } from '../../../../actors/batch/jobs/uploads.ts';
import { DiskSync } from '../../../../actors/shared/disk-sync.ts';
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
    const upload = new Upload(path, file, new DiskSync(), undefined);
    await upload.write(Buffer.from('content'));
    const accepted = batch.jobs.uploads.acceptUpload(upload, { fileName: 'a.txt', format, profile });
    if (isTaken) await accepted;
    else await t.throwsAsync(accepted, { code: 'storage.unavailable' });
    t.is(batch.count(), isTaken ? 1 : 0);
  }
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import {
  createDirectoryWatches,
  LARGE_DIRECTORY,
} from '../../../../actors/batch/watched-folder/directory-watches.ts';
import { reached } from '../../../project/waiting.ts';

test('a directory with many events gets the watch of large ones when it is reopened, and is no longer busy', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-watches-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const names = new Set<string | undefined>();
  let busy = 0;
  const watches = createDirectoryWatches({
    folder,
    onName: (_, name) => names.add(name),
    onBusy: () => {
      busy += 1;
    },
    onError: (_, error) => t.fail(error.message),
    onRefused: (_, message) => t.fail(message),
  });
  const dropAndRemove = async (prefix: string) => {
    const made = Array.from({ length: LARGE_DIRECTORY + 1 }, (_, at) => `${prefix}-${at}`);
    for (const name of made) writeFileSync(join(folder, name), 'x');
    await reached(() => made.every((name) => names.has(name)));
    for (const name of made) rmSync(join(folder, name));
  };
  await watches.open('', 'one');
  await dropAndRemove('first');
  t.is(busy, 1);
  await watches.open('', 'one');
  await dropAndRemove('second');
  t.is(busy, 1);
  await watches.retainOnly(new Set());
});

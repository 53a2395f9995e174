/** Inputs found by the fuzzer for which validation once threw an error instead of reporting a failure. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { validateFile } from '@sealwright/signatures';
import test from 'ava';

const FOLDER = 'test/fixtures/hostile';

test('files that once crashed the validation get a report, and none passes', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-hostile-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const names = await readdir(FOLDER);
  t.true(names.length >= 2);
  for (const name of names) {
    const path = join(folder, basename(name, '.gz'));
    await writeFile(path, gunzipSync(await readFile(join(FOLDER, name))));
    const report = await validateFile({
      format: path.endsWith('.pdf') ? 'Pades' : 'Cades',
      path,
      at: Date.UTC(2026, 10, 21),
      trust: { anchors: [], intermediates: [], revocation: 'none' },
    });
    t.not(report.indication, 'TOTAL-PASSED', name);
  }
});

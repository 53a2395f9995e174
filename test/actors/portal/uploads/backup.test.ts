import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { folderFor } from '../../../runtime/folder.ts';
import { newTenant, portalStoreFixture } from './upload-harness.ts';

const MAIN = new URL('../../../../main.js', import.meta.url).pathname;

test('a backup taken while the portal works has its uploads and their files', async (t) => {
  const it = await portalStoreFixture(t);
  const tenant = await newTenant(it, 'Org');
  const sink = await it.uploads.open();
  await sink.write(Buffer.from('the content'));
  const { id } = await it.uploads.accept(tenant, sink, { name: 'a.txt', contentType: 'text/plain' });
  mkdirSync(join(it.root, 'keys'));
  const target = join(folderFor(t), 'copy');
  await promisify(execFile)(process.execPath, [MAIN, 'backup', target, `--Storage:Root=${it.root}`]);
  const restored = await portalStoreFixture(t, { root: target });
  const { blob, name } = await restored.uploads.findUpload(tenant.organization.id, id);
  t.is(name, 'a.txt');
  t.is(readFileSync(restored.blobs.pathOf(blob), 'utf8'), 'the content');
});

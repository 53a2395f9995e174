/**
 * Stores files in all ways of the product, under a tracer: `<root> <other device or ->`. Says on standard output what it
 * promised at this moment: `upload <path>`, `keys`, `moved`, `published`, `blob <sha256>`, `deleting <document id>`.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock, systemIds } from '@sealwright/runtime';
import type { ExecutionContext } from 'ava';
import { move } from '../../../actors/shared/files/move.ts';
import { publish } from '../../../actors/shared/files/publish.ts';
import { openKeyFolder } from '../../../service/key-folder.ts';
import { batchFixture } from '../../actors/batch/batch-harness.ts';
import { portalFixture, signer } from '../../actors/portal/documents/flow-harness.ts';

const [, , root = '', device = '-'] = process.argv;
/** Nothing is cleaned up: the process ends. */
const t = { teardown() {} } as unknown as ExecutionContext;
const say = (line: string) => writeSync(1, `${line}\n`);

const keys = openKeyFolder(join(root, 'keys'), systemIds);
await keys.loadOrCreate('api-key', () => 'made once');
say('keys');
keys.replace('session.json', 'replaced');
say('keys');

if (device !== '-') {
  const job = join(root, 'job');
  mkdirSync(job);
  for (const name of ['moved.txt', 'a.signed.txt']) writeFileSync(join(job, name), `content of ${name}`);
  move(join(job, 'moved.txt'), join(device, 'moved.txt'));
  say('moved');
  publish(join(job, 'a.signed.txt'), device, ['a.signed.txt']);
  say('published');
}

const batch = await batchFixture(t, { root: join(root, 'batch'), start: false, watch: false });
const jobId = await batch.upload('a.txt', 'an upload');
say(`upload ${(await batch.batch.jobs.get(jobId)).originalPath}`);

let skipped = 0;
const clock: Clock = { ...systemClock, now: () => systemClock.now() + skipped };
const portal = await portalFixture(t, { root: join(root, 'portal-root'), clock });
for (const content of [Buffer.from('a small file'), Buffer.alloc(300_000, 'a large file')]) {
  await portal.file('a.bin', content, 'application/octet-stream');
  say(`blob ${createHash('sha256').update(content).digest('hex')}`);
}
const id = await portal.create([signer('Ana')]);
await portal.sign(id, 'ana@example.org');
await portal.until(id, ({ status }) => status === 'Concluded');
// The grace period of its files is over.
skipped = 2 * 3_600_000;
say(`deleting ${id}`);
await portal.portal.documents.remove(portal.tenant, id);
await portal.close();
process.exit(0);

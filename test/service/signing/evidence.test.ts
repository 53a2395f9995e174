/** The proofs of the kill tests are worth what their evidence can see. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { Service, temporaryRoot } from '../service.ts';
import { brokenPromises, sha256 } from './evidence.ts';

test('the check detects a file that was signed twice, one that was lost and one that stayed', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root });
  const twice = await Promise.all(['a.txt', 'b.txt'].map((name) => service.upload(name, 'signed twice')));
  for (const { jobId } of twice) t.is((await service.finished(jobId)).status, 'Completed');
  const dropped = [sha256('signed twice')];
  const once = await service.upload('c.txt', 'signed once');
  await service.finished(once.jobId);
  const tidy = async () => {
    const found = await brokenPromises(service, { accepted: [], dropped: [sha256('signed once')] });
    return found.length === 0 ? true : undefined;
  };
  await service.until('everything to be put away', tidy);
  t.deepEqual(await brokenPromises(service, { accepted: [], dropped }), [
    `the dropped file ${dropped[0]} was signed 2 times`,
  ]);
  t.deepEqual(await brokenPromises(service, { accepted: ['nobody'], dropped: [sha256('lost')] }), [
    'the accepted upload nobody has no job',
    `the dropped file ${sha256('lost')} is neither there nor signed`,
  ]);
  await writeFile(join(root, 'input', '.kept'), 'signed once');
  const found = await brokenPromises(service, { accepted: [], dropped: [sha256('signed once')] });
  t.true(found.includes(`the dropped file ${sha256('signed once')} is signed and still there`));
  await service.kill();
});

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import { copyWhole } from '../../../actors/shared/files/copy.ts';
import { move } from '../../../actors/shared/files/move.ts';
import { isPublished, publish } from '../../../actors/shared/files/publish.ts';
import { stage } from '../../../actors/shared/files/stage.ts';
import { quarantine } from '../../../actors/shared/files/tidy.ts';
import { reached } from '../../project/waiting.ts';
import { withTools } from '../../verifiers/tool.ts';
import { batchFixture } from './batch-harness.ts';
import { otherDevice } from './devices.ts';

const toolTest = withTools(test, 'device');

const JOB = '11111111-1111-4111-8111-111111111111';

/** A working folder with a signed file. */
function working(
  t: ExecutionContext,
  name = 'a.signed.txt',
): { folder: string; signed: string; parent: string } {
  const parent = mkdtempSync(join(tmpdir(), 'sealwright-devices-'));
  t.teardown(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, JOB);
  mkdirSync(folder);
  writeFileSync(join(folder, name), 'signed');
  return { folder, signed: join(folder, name), parent };
}

toolTest(
  'an output on another device is published once and found again, also under the longest name',
  (t) => {
    const output = otherDevice(t);
    const name = `${'n'.repeat(251)}.txt`;
    const { signed } = working(t, name);
    t.is(publish(signed, output, [name]), name);
    t.true(isPublished(signed, join(output, name)));
    t.is(publish(signed, output, [name]), name, 'done again: the same name');
    t.deepEqual(readdirSync(output), [name]);
  },
);

(process.platform === 'linux' ? test : test.skip)(
  'a copy that differs from its source is removed and refused',
  (t) => {
    const { parent } = working(t);
    // Each reading of this file gives other bytes, as a failing disk would.
    const source = '/proc/sys/kernel/random/uuid';
    t.throws(() => copyWhole(source, join(parent, 'copy')), { code: 'copy.damaged' });
    t.false(existsSync(join(parent, 'copy')));
  },
);

toolTest('quarantine removes the hidden copy of an interrupted publication', (t) => {
  const output = otherDevice(t);
  const { folder, signed, parent } = working(t);
  const names = ['a.signed.txt'];
  publish(signed, output, names);
  const hidden = join(output, `.${JOB}.part`);
  writeFileSync(hidden, 'sig');
  mkdirSync(join(parent, 'error'));
  quarantine(folder, join(parent, 'error', JOB), { output, names, signedNames: ['a.signed.txt'] });
  t.deepEqual(readdirSync(output), [], 'neither the hidden copy nor the output nobody committed');
});

toolTest('a working folder is moved completely to another device, and a repetition changes nothing', (t) => {
  const error = otherDevice(t);
  const { folder } = working(t);
  writeFileSync(join(folder, 'a.txt'), 'input');
  quarantine(folder, join(error, JOB), null);
  t.false(existsSync(folder));
  t.deepEqual(readdirSync(error), [JOB]);
  t.deepEqual(readdirSync(join(error, JOB)).sort(), ['a.signed.txt', 'a.txt']);
  quarantine(folder, join(error, JOB), null);
  // A crash after the copy and before the removal leaves both.
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.txt'), 'input');
  quarantine(folder, join(error, JOB), null);
  t.false(existsSync(folder));
  t.is(readFileSync(join(error, JOB, 'a.txt'), 'utf8'), 'input');
});

toolTest('a folder with folders and links in it moves to another device unchanged', (t) => {
  const error = otherDevice(t);
  const { folder } = working(t);
  mkdirSync(join(folder, 'deep', 'er'), { recursive: true });
  writeFileSync(join(folder, 'deep', 'er', 'x'), 'x');
  symlinkSync('/nowhere', join(folder, 'link'));
  const name = 'n'.repeat(255);
  move(folder, join(error, name));
  t.is(readFileSync(join(error, name, 'deep', 'er', 'x'), 'utf8'), 'x');
  t.is(readlinkSync(join(error, name, 'link')), '/nowhere');
  t.false(existsSync(folder));
});

toolTest('a symbolic link that replaces the input at any moment is never followed', async (t) => {
  const elsewhere = otherDevice(t);
  const { folder, parent } = working(t);
  writeFileSync(join(parent, 'secret'), 'secret');
  const original = join(elsewhere, 'a.txt');
  writeFileSync(original, 'plain');
  const swaps = new Worker(
    `const { renameSync, symlinkSync, writeFileSync } = require('node:fs');
     const { workerData: { original, secret } } = require('node:worker_threads');
     for (;;) {
       symlinkSync(secret, original + '.new'); renameSync(original + '.new', original);
       writeFileSync(original + '.new', 'plain'); renameSync(original + '.new', original);
     }`,
    { eval: true, workerData: { original, secret: join(parent, 'secret') } },
  );
  await new Promise((resolve) => swaps.once('online', resolve));
  const seen = new Set<string>();
  // The other thread may be without a processor for longer than many rounds take.
  for (let round = 0; round < 1_500 || (seen.size < 2 && round < 200_000); round += 1) {
    try {
      seen.add(readFileSync(stage(original, folder, `${round}.txt`).path, 'utf8'));
    } catch (error) {
      seen.add((error as { code: string }).code);
    }
  }
  await swaps.terminate();
  t.deepEqual([...seen].sort(), ['input.unreadable', 'plain'], 'both were met, and nothing else');
});

toolTest(
  'the service puts jobs aside, publishes and starts with its error and output folders on another device',
  async (t) => {
    const elsewhere = otherDevice(t);
    const root = mkdtempSync(join(tmpdir(), 'sealwright-mounts-'));
    t.teardown(() => rmSync(root, { recursive: true, force: true }));
    for (const name of ['error', 'output']) {
      mkdirSync(join(elsewhere, name));
      symlinkSync(join(elsewhere, name), join(root, name));
    }
    const stray = join(root, 'processing', 'stray');
    mkdirSync(stray, { recursive: true });
    mkdirSync(join(root, 'processing', 'lost+found'));
    writeFileSync(join(stray, 'a.txt'), 'whose?');
    const { batch, upload, reach, layout } = await batchFixture(t, { root, watch: false });
    t.is(batch.recovery.orphans, 1);
    t.is(readFileSync(join(layout.error, 'stray', 'a.txt'), 'utf8'), 'whose?');
    t.true(existsSync(join(root, 'processing', 'lost+found')), 'the file system made it and wants it there');
    const id = await upload('broken.pdf', 'no PDF');
    await upload('a.txt', 'content');
    await reach('Failed', 1);
    await reach('Completed', 1);
    await reached(() => !existsSync(join(layout.processing, id)));
    t.deepEqual(readdirSync(join(layout.error, id)), ['broken.pdf']);
    t.deepEqual(readdirSync(layout.output), ['a.signed.txt']);
  },
);

test('an orphan never replaces a file of the error folder, and one that cannot move refuses no start', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'sealwright-orphans-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ['processing', 'error']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'processing', 'note'), 'newer');
  writeFileSync(join(root, 'error', 'note'), 'older');
  writeFileSync(join(root, 'processing', 'n'.repeat(255)), 'its name has no room for a number');
  writeFileSync(join(root, 'error', 'n'.repeat(255)), 'taken');
  const { layout, complaints, upload, reach } = await batchFixture(t, { root, watch: false, threads: 1 });
  await upload('a.txt', 'the service is at work');
  await reach('Completed', 1);
  t.is(readFileSync(join(layout.error, 'note'), 'utf8'), 'older');
  t.is(readFileSync(join(layout.error, 'note.1'), 'utf8'), 'newer');
  t.true(existsSync(join(layout.processing, 'n'.repeat(255))));
  t.true(complaints.some((line) => line.includes('cannot be moved to the error folder')));
});

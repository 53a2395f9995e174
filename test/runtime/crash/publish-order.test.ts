/** In which order the running service tells the disk: what follows from a file may only be written once the file is safe. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import ava from 'ava';
import { contract } from '../../crypto/pades/validation/attack-files.ts';
import { Service, temporaryRoot } from '../../service/service.ts';
import { withTools } from '../../verifiers/tool.ts';
import { plainArgs, readCalls, type SystemCall } from '../store/system-calls.ts';

const test = withTools(ava, 'strace');

const CALLS = [
  'link',
  'linkat',
  'unlink',
  'unlinkat',
  'rename',
  'renameat',
  'renameat2',
  'fsync',
  'fdatasync',
  'write',
  'writev',
  'pwrite64',
  'pwritev',
  'sendto',
  'sendmsg',
];

interface ReadableCall extends SystemCall {
  /** Arguments with their texts and paths readable. */
  readonly plain: string;
}

/** The first call after another that is as asked; fails the test when there is none. */
function firstAfter(
  calls: readonly ReadableCall[],
  moment: number,
  what: string,
  isIt: (call: ReadableCall) => boolean,
): ReadableCall {
  const found = calls.find((call) => call.begun > moment && isIt(call));
  if (found === undefined) throw new Error(`after line ${moment} there is no ${what}`);
  return found;
}

test('an output is synced before its rename, the rename is durable before its job is Completed, and only then the original is removed', async (t) => {
  t.timeout(180_000);
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root });
  const log = join(root, 'calls');
  const args = ['-f', '-xx', '-y', '-s', '1000000', '-e', `trace=${CALLS.join(',')}`, '-e', 'signal=none'];
  const tracer = spawn('strace', [...args, '-o', log, '-p', String(service.pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said] = (await Promise.race([once(tracer.stderr, 'data'), once(tracer, 'exit')])) as [unknown];
  t.true(String(said).includes('attached'), String(said));
  const originals = new Map<string, string>();
  for (const name of ['one.pdf', 'two.pdf']) {
    const { jobId, originalPath } = await service.upload(name, contract());
    originals.set(jobId, basename(originalPath));
    t.is((await service.finished(jobId)).status, 'Completed');
  }
  await service.until('the originals to go', async () =>
    readdirSync(join(root, 'input')).length === 0 ? true : undefined,
  );
  t.is(await service.stop(), 0);
  if (tracer.exitCode === null) await once(tracer, 'exit');
  const calls = (await readCalls(log))
    .filter(({ result }) => result >= 0)
    .map((call): ReadableCall => ({ ...call, plain: plainArgs(call.args) }));
  const isSync = ({ name }: SystemCall) => name === 'fsync' || name === 'fdatasync';
  const isStore = ({ plain }: ReadableCall) => plain.includes('/db/data.mdb>');
  for (const [id, original] of originals) {
    const named = calls.find(
      ({ name, plain }) => /^(link|rename)/.test(name) && plain.includes(id) && plain.includes('/output/'),
    );
    t.truthy(named, 'the output is linked');
    if (named === undefined) return;
    const isOutput = ({ plain }: ReadableCall) => plain.includes(`/processing/${id}/`);
    const written = calls.findLast(
      (call) => /^p?write/.test(call.name) && isOutput(call) && call.ended < named.begun,
    );
    const synced = calls.find(
      (call) =>
        isSync(call) && isOutput(call) && call.begun > (written?.ended ?? 0) && call.ended < named.begun,
    );
    t.truthy(written, 'the output is written in the working folder');
    t.truthy(synced, 'and synced before it has its name');
    const folder = firstAfter(
      calls,
      named.ended,
      'sync of the output folder',
      (call) => isSync(call) && call.plain.endsWith('/output>'),
    );
    const state = new RegExp(`"id":"${id}"[^{}]*\\}[^{}]{0,80}"state":"Completed"`);
    const completed = calls.find((call) => isStore(call) && state.test(call.plain));
    t.truthy(completed, 'the job is Completed');
    if (completed === undefined) return;
    t.true(folder.ended < completed.begun, 'no Completed before the name of the output is safe');
    const durable = firstAfter(
      calls,
      completed.ended,
      'sync of the store',
      (call) => isSync(call) && isStore(call),
    );
    const removed = calls.filter(
      ({ name, plain }) => name.startsWith('unlink') && plain.includes(`/input/${original}`),
    );
    for (const call of removed)
      t.true(call.begun > durable.ended, 'the original stays until Completed is safe');
    t.true(removed.length > 0, 'the original is removed');
  }
});

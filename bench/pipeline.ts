/**
 * Small PDFs through a watched folder: signed, verified, published, the input removed. The bare loop runs before and after,
 * on the same disk, so that the ratio holds where the figures do not; processor time is counted by thread, so that
 * this holds on a machine that others use too.
 */
import { closeSync, openSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@sealwright/runtime';
import { verifyFile } from '../crypto/index.ts';
import { type Bench, type BenchContext, Unverified } from './frame/bench.ts';
import { verifiedByOtherTool } from './frame/judges.ts';
import { BARE_LOOP, bareLoop } from './pipeline/bare.ts';
import { IN_FLIGHT, PipelineService, type Totals } from './pipeline/service.ts';
import { syncsPerFile } from './pipeline/syncs.ts';

/**
 * Files that go through first, for each measured one. Four threads each compile what they run: 2 ms of processor time a file
 * among the first thousand, 0.4 after 2,500. So a full run warms up with as many before it measures a steady state.
 */
const WARM_UP = 0.5;
const COUNTED_FILES = 400;
/** Outputs that another program verifies. */
const JUDGED = 5;

export const bench: Bench = {
  name: 'pipeline',
  question: 'how many PDFs of 28 KB a second come out of a watched folder signed, verified and published',
  limits: [BARE_LOOP],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const { files, quick } = context.settings;
  const workFolder = context.temporaryFolder();
  const warmUp = Math.ceil(files * WARM_UP);
  const of = files + warmUp;
  context.progress('the bare loop', 0, of);
  const before = await bareLoop(join(workFolder, 'bare'), files);
  const service = await PipelineService.open(join(workFolder, 'service'));
  await service.prepare('warm-up', warmUp);
  await service.prepare('document', files);
  await service.through('warm-up', warmUp, (done) => context.progress('warming up', done, of));
  const from = service.totals();
  const seconds = await service.through('document', files, (done) =>
    context.progress('signing', warmUp + done, of),
  );
  const to = service.totals();
  await service.close();
  await verifyAll(service, of, context);
  context.progress('the bare loop again', of, of);
  const after = await bareLoop(join(workFolder, 'bare'), files);

  context.limit({ name: BARE_LOOP, value: (before.perSecond + after.perSecond) / 2, unit: '/s' });
  context.figure({
    name: `published, ${IN_FLIGHT} jobs in flight`,
    value: files / seconds,
    unit: '/s',
    better: 'more',
    limit: BARE_LOOP,
    aim: { of: 'share', atLeast: 0.65, source: 'docs/benchmarks.md' },
  });
  const least = 'processor time of the bare loop for a file';
  const bareCpu = [before, after].reduce((sum, { cpu }) => sum + cpu.user + cpu.system, 0) / 2;
  context.limit({ name: least, value: bareCpu, unit: 'ms' });
  tellCost(context, files, from, to, least);
  const syncs = quick ? undefined : syncsPerFile(workFolder, COUNTED_FILES);
  if (syncs !== undefined) tellPerJob(context, 'syncs', syncs);
}

function tellCost({ figure }: BenchContext, files: number, from: Totals, to: Totals, limit: string): void {
  const used = [...to.cpu].map(([role, ms]) => [role, (ms - (from.cpu.get(role) ?? 0)) / files] as const);
  const all = used.reduce((sum, [, ms]) => sum + ms, 0);
  figure({ name: 'processor time of a file', value: all, unit: 'ms', better: 'less', limit });
  for (const [role, ms] of used)
    figure({ name: `processor time of a file: ${role}`, value: ms, unit: 'ms', better: 'less' });
  tellPerJob({ figure }, 'steps', (to.steps - from.steps) / files);
  tellPerJob({ figure }, 'transactions', (to.groups - from.groups) / files);
  let tasks = 0;
  for (const [task, now] of to.tasks) {
    const then = from.tasks.get(task) ?? { tasks: 0, busyMs: 0, wholeMs: 0 };
    const count = now.tasks - then.tasks;
    tasks += count;
    const each = (name: string, ms: number) =>
      figure({ name: `${task}: ${name}`, value: ms / count, unit: 'ms', better: 'less' });
    each('work of the thread', now.busyMs - then.busyMs);
    each('from asking to the answer', now.wholeMs - then.wholeMs);
  }
  tellPerJob({ figure }, 'pool tasks', tasks / files);
}

function tellPerJob({ figure }: Pick<BenchContext, 'figure'>, what: string, value: number): void {
  figure({ name: `${what} of a job`, value, unit: '×', better: 'less' });
}

/** Every output is looked at, a few by a program we did not write: none may be missing, and none may fail. */
async function verifyAll(
  { layout, signer, rootFile, failed }: PipelineService,
  expected: number,
  context: BenchContext,
): Promise<void> {
  const outputs = readdirSync(layout.output);
  if (failed > 0 || outputs.length !== expected)
    throw new Unverified(`${failed} jobs failed; ${outputs.length} outputs of ${expected}.`);
  if (context.settings.damage) damage(join(layout.output, outputs[0] ?? ''));
  for (const name of outputs) {
    const { ok, checks } = verifyFile({
      format: 'Pades',
      path: join(layout.output, name),
      signer: signer.fingerprint,
      at: systemClock.now(),
    });
    if (!ok)
      throw new Unverified(`${name} does not verify: ${JSON.stringify(checks.filter((one) => !one.ok))}`);
  }
  context.verified('our own check', outputs.length);
  for (const name of outputs.slice(0, JUDGED)) {
    const output = { name, format: 'Pades', path: join(layout.output, name) } as const;
    const by = await verifiedByOtherTool(output, { folder: layout.root, rootFile });
    if (by !== undefined) context.verified(by, 1);
  }
}

function damage(path: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, 'x', 1_000);
  closeSync(file);
}

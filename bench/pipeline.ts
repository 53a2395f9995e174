/**
 * Small PDFs through a watched folder: signed, verified, published, the input removed. The bare loop runs before and after,
 * on the same disk, so that the ratio holds where the figures do not; processor time is counted by thread, so that
 * this holds on a machine that others use too.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench, BenchContext } from './frame/bench.ts';
import { BARE_LOOP, bareLoop } from './pipeline/bare.ts';
import { IN_FLIGHT, PipelineService, type Totals } from './pipeline/service.ts';

/**
 * Files that go through first, for each measured one. Four threads each compile what they run: 2 ms of processor time a file
 * among the first thousand, 0.4 after 2,500. So a full run warms up with as many before it measures a steady state.
 */
const WARM_UP = 0.5;
const COUNTED_FILES = 400;

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
  const before = await bareLoop(join(workFolder, 'bare-before'), files);
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
  const [damaged = ''] = readdirSync(service.layout.output);
  if (context.settings.damage) damage(join(service.layout.output, damaged));
  await service.verify(of, context, { by: 'our own check' });
  context.progress('the bare loop again', of, of);
  const after = await bareLoop(join(workFolder, 'bare-after'), files);

  context.limit(BARE_LOOP, (before.perSecond + after.perSecond) / 2, '/s');
  context.figure(`published, ${IN_FLIGHT} jobs in flight`, files / seconds, '/s', {
    limit: BARE_LOOP,
    aim: { of: 'share', atLeast: 0.65, source: 'bench/README.md' },
  });
  const least = 'processor time of the bare loop for a file';
  const bareCpu = [before, after].reduce((sum, { cpu }) => sum + cpu.user + cpu.system, 0) / 2;
  context.limit(least, bareCpu, 'ms');
  tellCost(context, files, { from, to, limit: least });
  const syncs = quick ? undefined : syncsPerFile(workFolder, COUNTED_FILES);
  if (syncs !== undefined) tellPerJob(context, 'syncs', syncs);
}

function tellCost(
  { figure }: BenchContext,
  files: number,
  { from, to, limit }: { readonly from: Totals; readonly to: Totals; readonly limit: string },
): void {
  const used = [...to.cpu].map(([role, ms]) => [role, (ms - (from.cpu.get(role) ?? 0)) / files] as const);
  const all = used.reduce((sum, [, ms]) => sum + ms, 0);
  figure('processor time of a file', all, 'ms', { limit });
  for (const [role, ms] of used) figure(`processor time of a file: ${role}`, ms, 'ms');
  tellPerJob({ figure }, 'steps', (to.steps - from.steps) / files);
  tellPerJob({ figure }, 'transactions', (to.groups - from.groups) / files);
  let tasks = 0;
  for (const [task, now] of to.tasks) {
    const then = from.tasks.get(task) ?? { tasks: 0, busyMs: 0, wholeMs: 0 };
    const count = now.tasks - then.tasks;
    tasks += count;
    const each = (name: string, ms: number) => figure(`${task}: ${name}`, ms / count, 'ms');
    each('work of the thread', now.busyMs - then.busyMs);
    each('from asking to the answer', now.wholeMs - then.wholeMs);
  }
  tellPerJob({ figure }, 'pool tasks', tasks / files);
}

function tellPerJob({ figure }: Pick<BenchContext, 'figure'>, what: string, value: number): void {
  figure(`${what} of a job`, value, '×');
}

function damage(path: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, 'x', 1_000);
  closeSync(file);
}

const ALONE = fileURLToPath(new URL('./alone.js', import.meta.url));
const CALLS = 'trace=fsync,fdatasync,msync,sync_file_range';

/** @param files enough to make the syncs of the start negligible. Undefined without strace. */
function syncsPerFile(folder: string, files: number): number | undefined {
  const summary = join(folder, 'syncs.txt');
  const words = ['-f', '--seccomp-bpf', '-c', '-e', CALLS, '-o', summary, process.execPath, ALONE, folder];
  const { status } = spawnSync('strace', [...words, String(files)], { stdio: 'ignore' });
  if (status !== 0) return undefined;
  // Columns: share, seconds, microseconds per call, calls, errors if any, name.
  const calls = /^\s*[\d.]+\s+[\d.]+\s+[\d.]+\s+(\d+).*total\s*$/m.exec(readFileSync(summary, 'utf8'))?.[1];
  return calls === undefined ? undefined : Number(calls) / files;
}

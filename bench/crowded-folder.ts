/**
 * Benchmark of one input folder with very many files: time to queue them, to restart, and to rescan; memory; and
 * event loop delay of the whole program. Nothing is signed: the pipeline is paused.
 */
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, BenchContext } from './frame/bench.ts';
import { type Program, startProgram } from './program.ts';

const SETTINGS = {
  'Portal:Enabled': false,
  'WatchedFolder:StabilityPollIntervalMs': 50,
  'WatchedFolder:StabilityRequiredSamples': 2,
};

export const bench: Bench = {
  name: 'crowded-folder',
  question: 'very many files in one input folder: queued, started over, rescanned',
  limits: ['one thread that lists the folder and takes the state of each file'],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const { files } = context.settings;
  const root = context.temporaryFolder();
  const first = await startProgram(context, root, SETTINGS);
  await first.ask('batch', '/api/pipeline/pause', { method: 'POST' });
  await first.stop();
  const input = join(root, 'input');
  mkdirSync(input, { recursive: true });
  for (let file = 0; file < files; file += 1)
    writeFileSync(join(input, `invoice-${file}.txt`), `content of ${file}`);
  let from = performance.now();
  for (const name of readdirSync(input)) statSync(join(input, name));
  const listed = 'list it and take the state of each file';
  context.limit(listed, seconds(from), 's');

  from = performance.now();
  const taking = await startProgram(context, root, SETTINGS);
  context.figure('listening over new files', seconds(from), 's');
  await until(context, 'files to be queued', files, async () => {
    const { totalCount } = await taking.ask<{ totalCount: number }>(
      'batch',
      '/api/jobs?status=Queued&pageSize=1',
    );
    return totalCount;
  });
  context.figure('all queued', seconds(from), 's', { limit: listed });
  await tellHealth(taking, 'while they are queued', context);
  await taking.stop();

  from = performance.now();
  const again = await startProgram(context, root, SETTINGS);
  context.figure('listening over queued files', seconds(from), 's');
  await until(context, 'folder to be looked through', 1, async () => {
    const { folders } = await again.ask<{ folders: { status: string }[] }>('batch', '/api/folders');
    return folders[0]?.status === 'Running' ? 1 : 0;
  });
  context.figure('every file known to have its job', seconds(from), 's', { limit: listed });
  from = performance.now();
  await again.ask('batch', '/api/rescan', { method: 'POST' });
  context.figure('rescanned', seconds(from), 's', { limit: listed });
  await tellHealth(again, 'over the rescan', context);
  await again.stop();
}

function seconds(from: number): number {
  return (performance.now() - from) / 1000;
}

async function until(
  { clock, progress }: BenchContext,
  label: string,
  wanted: number,
  count: () => Promise<number>,
): Promise<void> {
  for (;;) {
    const done = await count();
    progress(label, done, wanted);
    if (done >= wanted) return;
    await clock.sleep(100);
  }
}

async function tellHealth(program: Program, when: string, { figure }: BenchContext): Promise<void> {
  const text = await (await fetch(`${program.batch}/api/metrics`, { headers: program.batchKey })).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN);
  const lag = (what: string) => value(`nodejs_eventloop_lag_${what}_seconds`) * 1000;
  figure(`memory ${when}`, value('process_resident_memory_bytes') / 2 ** 20, 'MiB');
  figure(`event loop delay p99 ${when}`, lag('p99'), 'ms');
  figure(`longest event loop delay ${when}`, lag('max'), 'ms');
}

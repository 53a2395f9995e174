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
  await ask(first, '/api/pipeline/pause', 'POST');
  await first.stop();
  const input = join(root, 'input');
  mkdirSync(input, { recursive: true });
  for (let file = 0; file < files; file += 1)
    writeFileSync(join(input, `invoice-${file}.txt`), `content of ${file}`);
  let from = performance.now();
  for (const name of readdirSync(input)) statSync(join(input, name));
  const listed = 'list it and take the state of each file';
  context.limit({ name: listed, value: seconds(from), unit: 's' });

  from = performance.now();
  const taking = await startProgram(context, root, SETTINGS);
  context.figure({ name: 'listening over new files', value: seconds(from), unit: 's', better: 'less' });
  await until(context, 'files to be queued', files, async () => {
    const { totalCount } = await ask<{ totalCount: number }>(taking, '/api/jobs?status=Queued&pageSize=1');
    return totalCount;
  });
  context.figure({ name: 'all queued', value: seconds(from), unit: 's', better: 'less', limit: listed });
  await tellHealth(taking, 'while they are queued', context);
  await taking.stop();

  from = performance.now();
  const again = await startProgram(context, root, SETTINGS);
  context.figure({ name: 'listening over queued files', value: seconds(from), unit: 's', better: 'less' });
  await until(context, 'folder to be looked through', 1, async () => {
    const { folders } = await ask<{ folders: { status: string }[] }>(again, '/api/folders');
    return folders[0]?.status === 'Running' ? 1 : 0;
  });
  context.figure({
    name: 'every file known to have its job',
    value: seconds(from),
    unit: 's',
    better: 'less',
    limit: listed,
  });
  from = performance.now();
  await ask(again, '/api/rescan', 'POST');
  context.figure({ name: 'rescanned', value: seconds(from), unit: 's', better: 'less', limit: listed });
  await tellHealth(again, 'over the rescan', context);
  await again.stop();
}

function seconds(from: number): number {
  return (performance.now() - from) / 1000;
}

async function ask<Body>({ batch, batchKey }: Program, path: string, method = 'GET'): Promise<Body> {
  const answer = await fetch(`${batch}${path}`, { method, headers: batchKey });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as Body;
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
  figure({
    name: `memory ${when}`,
    value: value('process_resident_memory_bytes') / 2 ** 20,
    unit: 'MiB',
    better: 'less',
  });
  figure({ name: `event loop delay p99 ${when}`, value: lag('p99'), unit: 'ms', better: 'less' });
  figure({ name: `longest event loop delay ${when}`, value: lag('max'), unit: 'ms', better: 'less' });
}

/**
 * One input folder with very many files: how long the whole program takes to queue them, to start again over them, and to
 * rescan them; how much memory it uses and how long its event loop is held up. Nothing is signed: the pipeline is paused.
 *
 * node dist/bench/crowded-folder.js [files, 100000 unless told]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Service } from '../test/service/service.ts';

const FILES = Number(process.argv[2] ?? 100_000);
const root = mkdtempSync(join(tmpdir(), 'sealwright-crowd-'));
const ends: (() => unknown)[] = [];
const cleanup = { teardown: (task: () => unknown) => void ends.push(task) };

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

async function figures(service: Service): Promise<string> {
  const text = await (await service.fetch('/api/metrics')).text();
  const value = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1],
    );
  const ms = (name: string) => `${(value(name) * 1000).toFixed(1)} ms`;
  return `${(value('process_resident_memory_bytes') / 1e6).toFixed(0)} MB, ${value('process_cpu_seconds_total').toFixed(1)} s of processor, loop delay p99 ${ms('nodejs_eventloop_lag_p99_seconds')}, longest ${ms('nodejs_eventloop_lag_max_seconds')}`;
}

try {
  const first = await Service.start(cleanup, { root });
  await first.json('/api/pipeline/pause', { method: 'POST' });
  await first.stop();
  mkdirSync(join(root, 'input'), { recursive: true });
  for (let file = 0; file < FILES; file += 1)
    writeFileSync(join(root, 'input', `invoice-${file}.txt`), `content of ${file}`);

  let began = performance.now();
  const taking = await Service.start(cleanup, { root });
  console.log(`listening over ${FILES} new files after ${seconds(began)}`);
  await taking.until(
    'all to be queued',
    async () => ((await taking.count('Queued')) === FILES ? true : undefined),
    900,
  );
  console.log(`all queued after ${seconds(began)}: ${await figures(taking)}`);
  await taking.stop();

  began = performance.now();
  const again = await Service.start(cleanup, { root });
  console.log(`started again over ${FILES} queued jobs after ${seconds(began)}`);
  await again.until(
    'the folder to have been looked through',
    async () => {
      const { folders } = await again.json<{ folders: { status: string }[] }>('/api/folders');
      return folders[0]?.status === 'Running' ? true : undefined;
    },
    900,
  );
  console.log(`every file known to have its job after ${seconds(began)}: ${await figures(again)}`);
  began = performance.now();
  const { totals } = await again.json<{ totals: object }>('/api/rescan', { method: 'POST' });
  console.log(`rescanned in ${seconds(began)}: ${JSON.stringify(totals)}; ${await figures(again)}`);
  began = performance.now();
  await again.json('/api/folders');
  console.log(`GET /api/folders in ${seconds(began)}`);
  await again.stop();
} finally {
  for (const end of ends) await end();
  rmSync(root, { recursive: true, force: true });
}

/**
 * Small PDFs through a watched folder with a key at a service that takes 50 ms for a signature, and with the same kind of
 * key in a file before and after: 64 jobs at once either way, in one run. The service has its share of the processors.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Bench, BenchContext } from './frame/bench.ts';
import { IN_FLIGHT, PipelineService } from './pipeline/service.ts';

/** Time of the service for a signature, milliseconds. */
const DELAY_MS = 50;
const LOCAL = 'key in a file';
const AT_ONCE = `${IN_FLIGHT} signatures at once, ${DELAY_MS} ms each`;
/** Those that are not at the service are read, verified and published meanwhile. */
const JOBS = 2 * IN_FLIGHT;
/** Files that go through first, for each measured one; see `pipeline.ts`. */
const WARM_UP = 0.5;
/** 500 files a second, where the key in a file makes 763 (docs/performance.md). */
const AIM = 0.65;

export const bench: Bench = {
  name: 'key-service',
  question: 'how many PDFs of 28 KB a second are signed with a key at a service',
  limits: [LOCAL, AT_ONCE],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const folder = context.temporaryFolder();
  const local = async (name: string) =>
    measured(context, 'a key in a file', await PipelineService.open(join(folder, name), { jobs: JOBS }));
  const before = await local('before');
  const server = new Worker(new URL('./pipeline/key-thread.js', import.meta.url), { workerData: DELAY_MS });
  try {
    const address = await new Promise<string>((resolve, reject) => {
      server.once('message', resolve);
      server.once('error', reject);
    });
    const served = (key: string): string => {
      server.postMessage(key);
      return address;
    };
    const service = await PipelineService.open(join(folder, 'service'), { served, jobs: JOBS });
    const remote = await measured(context, 'a key at a service', service);
    const after = await local('after');
    context.limit(LOCAL, (before + after) / 2, '/s');
    context.limit(AT_ONCE, IN_FLIGHT / (DELAY_MS / 1000), '/s');
    context.figure('published with a key at a service', remote, '/s', {
      limit: LOCAL,
      aim: { of: 'share', atLeast: AIM, source: 'bench/README.md' },
    });
    context.figure('published with a key at a service, of what it allows', remote, '/s', { limit: AT_ONCE });
  } finally {
    await server.terminate();
  }
}

/** Returns files a second. */
async function measured(context: BenchContext, label: string, service: PipelineService): Promise<number> {
  const { files } = context.settings;
  const warmUp = Math.ceil(files * WARM_UP);
  const of = files + warmUp;
  try {
    await service.prepare('warm-up', warmUp);
    await service.prepare('document', files);
    await service.through('warm-up', warmUp, (done) => context.progress(`warming up, ${label}`, done, of));
    const seconds = await service.through('document', files, (done) =>
      context.progress(`signing, ${label}`, warmUp + done, of),
    );
    await service.verify(of, context, { by: 'our own check' });
    return files / seconds;
  } finally {
    await service.close();
  }
}

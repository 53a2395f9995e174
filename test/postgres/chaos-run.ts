/**
 * Long chaos runs: `node dist/test/postgres/chaos-run.js --requests 20000 --faults 100 --seed 7 [--nodes 3]
 * [--lease-seconds 3]`. Exit code 1: something was lost, doubled or torn.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runChaos } from './chaos.ts';
import { startServer } from './cluster.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    faults: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    nodes: { type: 'string', default: '3' },
    'lease-seconds': { type: 'string', default: '3' },
  },
});
const cluster = await startServer();
if (cluster === undefined) throw new Error('PostgreSQL 15 or newer is missing.');
const root = await mkdtemp(join(tmpdir(), 'sealwright-chaos-'));
const tasks: (() => unknown)[] = [];
const report = await runChaos(
  { teardown: (task: () => unknown) => void tasks.push(task) },
  {
    root,
    cluster,
    nodes: Number(values.nodes),
    requests: Number(values.requests),
    faults: Number(values.faults),
    seed: Number(values.seed),
    leaseSeconds: Number(values['lease-seconds']),
    say: (text) => console.log(`${Math.round(performance.now() / 1000)} s: ${text}`),
  },
);
for (const task of tasks.reverse()) await task();
await cluster.remove();
await rm(root, { recursive: true, force: true });
console.log(JSON.stringify(report, null, 2));
process.exitCode = report.broken.length === 0 ? 0 : 1;

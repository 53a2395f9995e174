/**
 * Rates and processor time of nodes with a bucket beside nodes with a shared folder, in alternating rounds of one run:
 * `node dist/test/actors/shared/objects/object-rates-run.js [--nodes 3] [--rounds 6] [--requests 90]`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { ExecutionContext } from 'ava';
import { type Cluster, startServer } from '../../../postgres/cluster.ts';
import { type Nodes, startNodes, uploadAll } from './object-nodes.ts';
import { startRadosgw } from './radosgw.ts';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '6' },
    requests: { type: 'string', default: '90' },
  },
});
const count = Number(values.nodes);
const rounds = Number(values.rounds);
const requests = Number(values.requests);

/** Milliseconds of a tick of /proc. */
const TICK_MS = 10;

function statOf(pid: number | string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.split(' ') ?? [];
  } catch {
    return [];
  }
}

/** Processor time of processes and of their ended children, milliseconds. */
function processorTime(pids: readonly (number | string)[]): number {
  return pids.reduce<number>((sum, pid) => {
    const stat = statOf(pid);
    return sum + [11, 12, 13, 14].reduce((all, at) => all + Number(stat[at] ?? 0) * TICK_MS, 0);
  }, 0);
}

function withChildren(parent: number): readonly (number | string)[] {
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && statOf(name)[1] === `${parent}`,
  );
  return [parent, ...children];
}

interface Side {
  readonly name: string;
  readonly nodes: Nodes;
  readonly cluster: Cluster;
  readonly seconds: number[];
  /** Milliseconds a file: nodes, database, object store. */
  readonly costs: { nodes: number; database: number; store: number };
}

const tasks: (() => unknown)[] = [];
const t = { teardown: (task: () => unknown) => void tasks.push(task), log: console.log, pass() {} };
const server = await startRadosgw(t as unknown as ExecutionContext);
if (server === undefined) throw new Error('radosgw is missing.');
const sides: Side[] = [];
for (const [name, bucket] of [
  ['folder', undefined],
  ['bucket', await server.bucket()],
] as const) {
  const cluster = await startServer();
  if (cluster === undefined) throw new Error('PostgreSQL 15 or newer is missing.');
  t.teardown(() => cluster.remove());
  const nodes = await startNodes(t, { url: cluster.url, bucket, nodes: count });
  sides.push({ name, nodes, cluster, seconds: [], costs: { nodes: 0, database: 0, store: 0 } });
}
let number = 0;
for (let round = -1; round < rounds; round += 1) {
  for (const { nodes, cluster, seconds, costs } of round % 2 === 0 ? sides : [...sides].reverse()) {
    const used = () => ({
      nodes: processorTime(nodes.all.map(({ pid }) => pid)),
      database: processorTime(withChildren(cluster.pid)),
      store: processorTime(server.pids),
    });
    const before = used();
    const began = performance.now();
    await uploadAll(nodes, { from: number, to: number + requests });
    await nodes.all[0]?.idle(240);
    const took = (performance.now() - began) / 1000;
    const after = used();
    number += requests;
    // The first round of each side warms it up.
    if (round < 0) continue;
    seconds.push(took);
    for (const part of ['nodes', 'database', 'store'] as const)
      costs[part] += (after[part] - before[part]) / (requests * rounds);
  }
}
const median = (all: readonly number[]) => [...all].sort((a, b) => a - b)[all.length >> 1] ?? Number.NaN;
const rates = sides.map(({ seconds }) => requests / median(seconds));
for (const [at, { name, costs }] of sides.entries()) {
  const parts = Object.entries(costs).map(([part, ms]) => `${part} ${ms.toFixed(1)}`);
  console.log(`${name}: ${rates[at]?.toFixed(1)} files/s; processor ms a file: ${parts.join(', ')}`);
}
const [folder, bucket] = sides.map(({ costs }) => costs);
if (folder === undefined || bucket === undefined) throw new Error('A side is missing.');
const ratio = (a = Number.NaN, b = Number.NaN) => (a / b).toFixed(2);
console.log(`rate, bucket ÷ folder: ${ratio(rates[1], rates[0])}`);
const own = (cost: Side['costs']) => cost.nodes + cost.database;
console.log(
  `by processor time, folder ÷ bucket: ${ratio(own(folder), own(bucket) + bucket.store)} on one machine`,
);
console.log(`the same without the server of the bucket: ${ratio(own(folder), own(bucket))}`);
console.log(`nodes alone: ${ratio(folder.nodes, bucket.nodes)}`);
// Ends in order, for profiles of the nodes (`NODE_OPTIONS=--cpu-prof`).
for (const { nodes } of sides) await Promise.all(nodes.all.map((node) => node.stop()));
for (const task of tasks.reverse()) await task();
process.exit();

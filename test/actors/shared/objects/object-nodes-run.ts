/**
 * Longer runs:
 * `node dist/test/actors/shared/objects/object-nodes-run.js --requests 600 --kills 9 [--nodes 3] [--shared]`. Exit code 1: something
 * was lost or doubled.
 */
import { parseArgs } from 'node:util';
import type { ExecutionContext } from 'ava';
import { startServer } from '../../../postgres/cluster.ts';
import { runNodes } from './object-nodes.ts';
import { startRadosgw } from './radosgw.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '600' },
    kills: { type: 'string', default: '9' },
    nodes: { type: 'string', default: '3' },
    shared: { type: 'boolean', default: false },
  },
});
const tasks: (() => unknown)[] = [];
const t = { teardown: (task: () => unknown) => void tasks.push(task), log: console.log, pass() {} };
const server = values.shared ? undefined : await startRadosgw(t as unknown as ExecutionContext);
const cluster = await startServer();
if (cluster === undefined || (server === undefined && !values.shared))
  throw new Error('PostgreSQL 15 or newer, or radosgw, is missing.');
const report = await runNodes(t, {
  url: cluster.url,
  bucket: await server?.bucket(),
  nodes: Number(values.nodes),
  requests: Number(values.requests),
  kills: Number(values.kills),
  say: console.log,
});
for (const task of tasks.reverse()) await task();
await cluster.remove();
console.log(JSON.stringify(report, null, 2));
process.exitCode = report.lost.length + report.doubled.length === 0 ? 0 : 1;

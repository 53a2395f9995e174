/** The loader of the benchmark `inspection` removes what the benchmark compares with. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';

const LOADER = new URL('../../bench/shards/without-inspection.js', import.meta.url).href;
const module = (name: string) => import.meta.resolve(`#runtime/${name}.js`);

const SCRIPT = `
  const { stateMove } = await import(${JSON.stringify(module('step/derive'))});
  const { Traffic } = await import(${JSON.stringify(module('host/actor-host'))});
  const { RecentTimes } = await import(${JSON.stringify(module('host/host'))});
  const traffic = new Traffic(() => 0);
  traffic.recordMessage('job', true);
  const times = new RecentTimes();
  times.add(7);
  const moved = stateMove(undefined, { version: 1, state: 'Queued' });
  console.log(JSON.stringify({ moved, kinds: Object.keys(traffic.reports()), longest: times.quantiles().maxMs }));
`;

async function inspectionData(...loader: readonly string[]): Promise<unknown> {
  const script = ['--input-type=module', '--eval', SCRIPT];
  const { stdout } = await promisify(execFile)(process.execPath, [...loader, ...script]);
  return JSON.parse(stdout);
}

test('a process with the loader keeps no state index, message counts and commit times', async (t) => {
  const kept = { moved: { from: null, to: '1/Queued' }, kinds: ['job'], longest: 7 };
  t.deepEqual(await inspectionData(), kept);
  t.deepEqual(await inspectionData('--import', LOADER), { moved: null, kinds: [], longest: 0 });
});

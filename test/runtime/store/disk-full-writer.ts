/** Writes steps until the disk refuses, then lifts the limit and goes on; reports what was acknowledged and kept. */
import { execFileSync } from 'node:child_process';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { stepOf } from '../../contract/steps.ts';

const folder = process.argv[2] ?? '';
const store = openLmdbStore({ folder });
const acknowledged: string[] = [];
const refusals = new Set<string>();
const bulk = 'x'.repeat(2000);

async function write(id: string): Promise<boolean> {
  try {
    const row = { view: 'v', key: [id], value: bulk };
    const committed = await store.commit(
      stepOf({ kind: 'job', id }, 0, { rows: { put: [row], remove: [] }, counters: { n: 1 } }),
    );
    acknowledged.push(id);
    return committed.ok;
  } catch (error) {
    const { code, retryable } = error as { code: string; retryable: boolean };
    refusals.add(`${code}:${retryable}`);
    return false;
  }
}

let refused = 0;
for (let n = 0; refused < 5 && n < 5000; n += 8) {
  const took = await Promise.all(Array.from({ length: 8 }, (_, k) => write(`a${n + k}`)));
  if (took.includes(false)) refused++;
}
execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited:']);
const after = (await write('after')) ? 'ok' : 'refused';

let lost = 0;
for (const id of acknowledged) if ((await store.load({ kind: 'job', id })) === undefined) lost++;
const rows = await store.rows({ view: 'v', limit: 100_000 });
const torn =
  Math.abs(rows.length - ((await store.counters('n'))['n'] ?? 0)) +
  Math.abs(rows.length - acknowledged.length);
console.log(
  JSON.stringify({ acknowledged: acknowledged.length, refusals: [...refusals], lost, torn, after }),
);
await store.close();

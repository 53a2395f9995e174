/** Costs of one signature and of one durable commit on this machine at this moment: the units of the other costs. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { openTables, transact } from '#runtime/store/lmdb/lmdb-tables.js';
import { LatencyRecorder } from '../frame/latency.ts';

const SIGNATURES = 200;
const COMMITS = 200;

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const digest = Buffer.alloc(32, 7);

/** Processor time of one RSA-2048 `crypto.sign`, milliseconds. */
export function signatureMs(): number {
  const before = process.cpuUsage();
  for (let n = 0; n < SIGNATURES; n += 1) sign('sha256', digest, privateKey);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / SIGNATURES;
}

/** Median time of one durable LMDB transaction that writes one row, with nothing else, milliseconds. */
export async function commitMs(folder: string): Promise<number> {
  const tables = openTables(folder);
  const recorder = new LatencyRecorder();
  for (let n = 0; n < COMMITS; n += 1) {
    const from = performance.now();
    transact(tables, () => void tables.counters.put([`n${n}`], '1'));
    recorder.record(performance.now() - from);
  }
  await tables.root.close();
  return recorder.latency().p50;
}

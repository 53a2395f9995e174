/**
 * The writing thread of an LMDB store. A commit waits for the disk, milliseconds on a busy one; on a thread of its
 * own nobody else waits with it. Each group is one transaction, durable when it is answered: LMDB syncs the data
 * before it writes, synchronously, the page that makes them valid.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { FaultAction } from '../faults.ts';
import { strike } from '../faults.ts';
import type { EffectKey } from '../ports.ts';
import { refusal, write, writeCounters, writeDeferral } from './lmdb-changes.ts';
import { openTables, type Tables, transact } from './lmdb-tables.ts';
import type { FromWriter, ToWriter, Write } from './lmdb-wire.ts';

type Done = Extract<FromWriter, { type: 'done' }>;

function writeGroup(tables: Tables, writes: readonly Write[], fault: FaultAction | undefined): Done {
  const refusals: Done['refusals'][number][] = [];
  const gone: EffectKey[] = [];
  // Parsed before the transaction, so that it holds the lock no longer than it must.
  const steps = writes.map((one) => (one.type === 'step' ? JSON.parse(one.step) : undefined));
  transact(tables, () => {
    const counted = new Map<string, number>();
    for (const [at, one] of writes.entries()) {
      if (one.type === 'defer') {
        writeDeferral(tables, one.key, one.until, one.error);
        gone.push(one.key);
        refusals.push(null);
        continue;
      }
      const refused = refusal(tables, steps[at]);
      if (refused === undefined) write(tables, steps[at], counted, gone);
      refusals.push(refused ?? null);
    }
    writeCounters(tables.counters, counted);
    if (fault !== undefined) strike('store.group.in-transaction', fault);
  });
  return { type: 'done', refusals, gone };
}

function serve(): void {
  const port = parentPort;
  if (port === null) return;
  const tables = openTables((workerData as { readonly folder: string }).folder);
  const answer = (message: FromWriter): void => port.postMessage(message);
  port.on('message', (message: ToWriter) => {
    if (message.type === 'close') {
      void tables.root.close().then(() => {
        answer({ type: 'closed' });
        port.close();
      });
      return;
    }
    try {
      answer(writeGroup(tables, message.writes, message.fault));
    } catch (error) {
      answer({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
    }
  });
}

serve();

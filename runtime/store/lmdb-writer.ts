/**
 * The writing thread of an LMDB store. A commit waits for the disk, milliseconds on a busy one; on a thread of its
 * own nobody else waits with it. Each group is one transaction, durable when it is answered: LMDB syncs the data
 * before it writes, synchronously, the page that makes them valid.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { FaultAction } from '../faults.ts';
import { strike } from '../faults.ts';
import type { EffectKey } from '../ports.ts';
import { refusal, write, writeCounters, writeDeferral } from './lmdb-changes.ts';
import { openTables, type Tables, transact } from './lmdb-tables.ts';
import type { FromWriter, ToWriter, Write } from './lmdb-wire.ts';

type Done = Extract<FromWriter, { type: 'done' }>;
type Group = Extract<ToWriter, { type: 'group' }>;

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
  return { type: 'done', refusals, gone, serial: 0 };
}

function serve(): void {
  const main = parentPort;
  if (main === null) return;
  const tables = openTables((workerData as { readonly folder: string }).folder);
  const tell = (to: MessagePort, message: FromWriter): void => to.postMessage(message);
  /** Undefined when nothing of the group was written; whoever sent it has been told. */
  const take = (from: MessagePort, group: Group): Done | undefined => {
    try {
      return writeGroup(tables, group.writes, group.fault);
    } catch (error) {
      tell(from, { type: 'failed', message: error instanceof Error ? error.message : String(error) });
      return undefined;
    }
  };
  const ports = new Set<MessagePort>();
  const attach = (thread: number, port: MessagePort): void => {
    let serial = 0;
    ports.add(port);
    port.on('close', () => {
      ports.delete(port);
      tell(main, { type: 'detached', thread });
    });
    port.on('message', (message: ToWriter) => {
      if (message.type === 'close') {
        tell(port, { type: 'closed' });
        port.close();
      }
      if (message.type !== 'group') return;
      const done = take(port, message);
      if (done === undefined) return;
      serial += 1;
      const steps = message.writes.flatMap((one, at) =>
        one.type === 'step' && done.refusals[at] === null ? [one.step] : [],
      );
      // The thread that started the writer watches all steps; it is told of these before their sender is answered.
      tell(main, { type: 'foreign', thread, serial, steps, gone: done.gone });
      tell(port, { ...done, serial });
    });
  };
  main.on('message', (message: ToWriter) => {
    if (message.type === 'group') {
      const done = take(main, message);
      if (done !== undefined) tell(main, done);
    } else if (message.type === 'attach') attach(message.thread, message.port);
    else {
      void tables.root.close().then(() => {
        tell(main, { type: 'closed' });
        main.close();
        // They would keep this thread alive.
        for (const port of ports) port.close();
      });
    }
  });
}

serve();

/**
 * The writing thread of an LMDB store. A commit waits for the disk, milliseconds on a busy one; on a thread of its
 * own nobody else waits with it. Everything that has arrived when a transaction begins goes into it, from whatever
 * thread it came. Each is durable when it is answered: LMDB syncs the data before it writes, synchronously, the page
 * that makes them valid.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { FaultAction } from '../faults.ts';
import { strike } from '../faults.ts';
import type { EffectKey } from '../ports.ts';
import { Census } from './lmdb-census.ts';
import { Gathered, refusal, write, writeCounters, writeDeferral } from './lmdb-changes.ts';
import { readStepText } from './lmdb-step-text.ts';
import { openTables, type Tables, transact } from './lmdb-tables.ts';
import { type ForeignGroup, type FromWriter, GROUP_LIMIT, type ToWriter, type Write } from './lmdb-wire.ts';

type Done = Extract<FromWriter, { type: 'done' }>;

/** A thread that sends steps. */
interface Sender {
  readonly port: MessagePort;
  /** As it was attached; 0 = the one that started this one. */
  readonly thread: number;
  /** Answers so far. */
  serial: number;
}

/** What one sender has in a transaction. */
interface Part {
  readonly sender: Sender;
  readonly writes: Write[];
  readonly faults: FaultAction[];
}

type Written = Pick<Done, 'refusals' | 'gone'>;

function writeParts(tables: Tables, census: Census, parts: readonly Part[]): readonly Written[] {
  // Read before the transaction, so that it holds the lock no longer than it must.
  const plans = parts.map(({ writes }) =>
    writes.map((one) => (typeof one === 'string' ? readStepText(one) : one)),
  );
  let written: Written[] = [];
  let committed = (): void => {};
  transact(tables, () => {
    const gathered = new Gathered();
    let settle = false;
    written = plans.map((part) => {
      const refusals: Done['refusals'][number][] = [];
      const gone: EffectKey[] = [];
      for (const one of part) {
        if ('settle' in one) {
          settle = true;
          refusals.push(null);
          continue;
        }
        if ('key' in one) {
          writeDeferral(tables, one.key, one.until, one.error);
          // Whoever has leased an effect that did not fail is still at it.
          if (one.error !== null) gone.push(one.key);
          refusals.push(null);
          continue;
        }
        const refused = refusal(tables, one.plan);
        if (refused === undefined) write(tables, one, gathered, gone);
        refusals.push(refused ?? null);
      }
      return { refusals, gone };
    });
    writeCounters(tables.counters, gathered.counted);
    committed = census.write(gathered.moves, settle);
    for (const { faults } of parts) for (const fault of faults) strike('store.group.in-transaction', fault);
  });
  committed();
  return written;
}

class Writer {
  readonly #tables: Tables;
  readonly #census: Census;
  readonly #main: Sender;
  readonly #senders = new Set<Sender>();

  constructor(tables: Tables, main: MessagePort) {
    this.#tables = tables;
    this.#census = new Census(tables);
    this.#main = { port: main, thread: 0, serial: 0 };
    this.#serve(this.#main);
  }

  #serve(sender: Sender): void {
    this.#senders.add(sender);
    sender.port.on('close', () => {
      this.#senders.delete(sender);
      if (sender !== this.#main) tell(this.#main, { type: 'detached', thread: sender.thread });
    });
    sender.port.on('message', (message: ToWriter) => this.#take(sender, message));
  }

  #take(sender: Sender, message: ToWriter): void {
    if (message.type === 'attach') this.#serve({ port: message.port, thread: message.thread, serial: 0 });
    else if (message.type === 'detach') this.#detach(message.thread);
    else if (message.type === 'close') this.#close(sender);
    else this.#write(sender, message);
  }

  /** Writes a group and, in the same transaction, those that have arrived since. */
  #write(first: Sender, group: Extract<ToWriter, { type: 'group' }>): void {
    const parts: Part[] = [];
    const others: [Sender, ToWriter][] = [];
    let room = GROUP_LIMIT;
    for (const sender of new Set([first, ...this.#senders])) {
      const part: Part = { sender, writes: [], faults: [] };
      let next: ToWriter | undefined = sender === first ? group : waiting(sender, room);
      while (next?.type === 'group') {
        part.writes.push(...next.writes);
        if (next.fault !== undefined) part.faults.push(next.fault);
        room -= next.writes.length;
        next = waiting(sender, room);
      }
      if (next !== undefined) others.push([sender, next]);
      if (part.writes.length > 0) parts.push(part);
    }
    this.#answer(parts);
    for (const [sender, message] of others) this.#take(sender, message);
  }

  #answer(parts: readonly Part[]): void {
    let written: readonly Written[];
    try {
      written = writeParts(this.#tables, this.#census, parts);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      for (const { sender, writes } of parts)
        tell(sender, { type: 'failed', writes: writes.length, message });
      return;
    }
    // The thread that started this one watches all steps; it is told of those of others before they are answered.
    const groups: ForeignGroup[] = [];
    for (const [at, { sender, writes }] of parts.entries()) {
      if (sender === this.#main) continue;
      const { refusals = [], gone = [] } = written[at] ?? {};
      sender.serial += 1;
      const steps = writes.filter((one, n) => typeof one === 'string' && refusals[n] === null) as string[];
      groups.push({ thread: sender.thread, serial: sender.serial, steps, gone });
    }
    if (groups.length > 0) tell(this.#main, { type: 'foreign', groups });
    for (const [at, { sender }] of parts.entries())
      tell(sender, { type: 'done', refusals: [], gone: [], ...written[at], serial: sender.serial });
  }

  /** Nothing to do where the thread has ended already: that was told, after all it had written. */
  #detach(thread: number): void {
    for (const sender of this.#senders) {
      if (sender.thread !== thread) continue;
      for (let next = waiting(sender, 1); next !== undefined; next = waiting(sender, 1))
        this.#take(sender, next);
      sender.port.close();
    }
  }

  #close(sender: Sender): void {
    if (sender !== this.#main) {
      tell(sender, { type: 'closed' });
      sender.port.close();
      return;
    }
    this.#settle();
    void this.#tables.root.close().then(() => {
      tell(sender, { type: 'closed' });
      // Those of other threads would keep this one alive.
      for (const { port } of this.#senders) port.close();
    });
  }

  /** So that the next start has nothing to catch up with. */
  #settle(): void {
    try {
      transact(this.#tables, () => void this.#census.write([], true));
    } catch {
      // A full disk. The next start reads from the notes what is missing.
    }
  }
}

/** The next message of a sender that is there already; none when the transaction has no more room. */
function waiting({ port }: Sender, room: number): ToWriter | undefined {
  return room > 0 ? receiveMessageOnPort(port)?.message : undefined;
}

function tell({ port }: Sender, message: FromWriter): void {
  port.postMessage(message);
}

if (parentPort !== null) {
  const { folder } = workerData as { readonly folder: string };
  new Writer(openTables(folder), parentPort);
}

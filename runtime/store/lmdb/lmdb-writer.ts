/**
 * The writing thread of an LMDB store. A commit waits for the disk, milliseconds on a busy one; on a thread of its own
 * it delays nothing else. A transaction contains all writes that have arrived when it begins, from all threads. Each is
 * durable when it is answered: LMDB syncs the data before it writes, synchronously, the page that makes them valid.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { type FaultAction, triggerFault } from '../../model/faults.ts';
import type { EffectKey } from '../../model/ports.ts';
import {
  CollectedChanges,
  refusal,
  StateIndexWriter,
  write,
  writeCounters,
  writeDeferral,
  writePacked,
  writeSettled,
} from './lmdb-changes.ts';
import { writeRefilled } from './lmdb-refill.ts';
import { openTables, type PlannedStep, readStepText, type Tables, transact } from './lmdb-tables.ts';
import {
  type ForwardedGroup,
  type FromWriter,
  GROUP_LIMIT,
  type MaintenanceWrite,
  type ToWriter,
  type Write,
} from './lmdb-wire.ts';
import { isOutOfRoom } from './room.ts';

/** Transactions in one turn of the event loop, which also tells of threads that have ended. */
const MOST_PER_TURN = 64;

type Done = Extract<FromWriter, { type: 'done' }>;

/** A thread that sends steps. */
interface Sender {
  readonly port: MessagePort;
  /** Number of the attachment; 0 = the thread that started this one. */
  readonly thread: number;
  /** Number of answers. */
  serial: number;
}

/** Writes of one sender in a transaction. */
interface SenderGroup {
  readonly sender: Sender;
  readonly writes: Write[];
  readonly faults: FaultAction[];
}

type Written = Pick<Done, 'refusals' | 'gone'>;

/** Reason why a step is refused; null when it was written. */
type WriteRefusal = Done['refusals'][number];

/** Applies one write inside a transaction. Only a step can be refused. */
function applyWrite(
  tables: Tables,
  one: PlannedStep | MaintenanceWrite,
  gathered: CollectedChanges,
  gone: EffectKey[],
): WriteRefusal {
  switch (one.type) {
    case 'step': {
      const refused = refusal(tables, one.plan);
      if (refused !== undefined) return refused;
      write(tables, one, gathered, gone);
      return null;
    }
    case 'defer-effect':
      writeDeferral(tables, one.key, one.until, one.error);
      // An effect that did not fail is still in progress at its lease holder.
      if (one.error !== null) gone.push(one.key);
      return null;
    case 'settle-effects':
      writeSettled(tables, one.keys, gone);
      return null;
    case 'pack':
      writePacked(tables, one);
      return null;
    case 'refill':
      writeRefilled(tables, one.ranges, one.until);
      return null;
    case 'settle-state-index':
      gathered.settlesStateIndex = true;
      return null;
  }
}

/**
 * Writes the groups of all senders in one transaction; returns their results in the same order. Throws errors of the
 * engine; nothing is written then.
 */
function writeGroups(
  tables: Tables,
  stateIndex: StateIndexWriter,
  parts: readonly SenderGroup[],
): readonly Written[] {
  // Read before the transaction, to keep the lock as short as possible.
  const plans = parts.map(({ writes }) =>
    writes.map((one) => (typeof one === 'string' ? readStepText(one) : one)),
  );
  let written: Written[] = [];
  let committed = (): void => {};
  transact(tables, () => {
    const gathered = new CollectedChanges();
    written = plans.map((part) => {
      const refusals: WriteRefusal[] = [];
      const gone: EffectKey[] = [];
      for (const one of part) refusals.push(applyWrite(tables, one, gathered, gone));
      return { refusals, gone };
    });
    writeCounters(tables.counters, gathered.counted);
    committed = stateIndex.write(gathered.moves, gathered.settlesStateIndex);
    for (const { faults } of parts)
      for (const fault of faults) triggerFault('store.group.in-transaction', fault);
  });
  committed();
  return written;
}

class Writer {
  readonly #folder: string;
  readonly #tables: Tables;
  readonly #stateIndex: StateIndexWriter;
  readonly #main: Sender;
  readonly #senders = new Set<Sender>();
  #isClosing = false;

  constructor(folder: string, main: MessagePort) {
    const tables = openTables(folder);
    this.#folder = folder;
    this.#tables = tables;
    this.#stateIndex = new StateIndexWriter(tables);
    this.#main = { port: main, thread: 0, serial: 0 };
    this.#serve(this.#main);
  }

  #serve(sender: Sender): void {
    this.#senders.add(sender);
    sender.port.on('close', () => {
      this.#senders.delete(sender);
      if (sender !== this.#main) post(this.#main, { type: 'detached', thread: sender.thread });
    });
    sender.port.on('message', (message: ToWriter) => this.#acceptAll(sender, message));
  }

  /** Accepts a message, and those that arrive meanwhile, without a turn of the event loop for each. */
  #acceptAll(first: Sender, message: ToWriter): void {
    this.#accept(first, message);
    for (let count = 1; count < MOST_PER_TURN && !this.#isClosing; count += 1) {
      let isIdle = true;
      for (const sender of this.#senders) {
        const next = waiting(sender, 1);
        if (next === undefined) continue;
        isIdle = false;
        this.#accept(sender, next);
      }
      if (isIdle) return;
    }
  }

  #accept(sender: Sender, message: ToWriter): void {
    switch (message.type) {
      case 'group':
        this.#write(sender, message);
        break;
      case 'attach':
        this.#serve({ port: message.port, thread: message.thread, serial: 0 });
        break;
      case 'detach':
        this.#detach(message.thread);
        break;
      case 'close':
        this.#close(sender);
        break;
      default:
        message satisfies never;
    }
  }

  /** Writes a group and, in the same transaction, those that have arrived since. */
  #write(first: Sender, group: Extract<ToWriter, { type: 'group' }>): void {
    const parts: SenderGroup[] = [];
    const others: [Sender, ToWriter][] = [];
    let room = GROUP_LIMIT;
    for (const sender of new Set([first, ...this.#senders])) {
      const part: SenderGroup = { sender, writes: [], faults: [] };
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
    for (const [sender, message] of others) this.#accept(sender, message);
  }

  #answer(parts: readonly SenderGroup[]): void {
    let written: readonly Written[];
    try {
      written = writeGroups(this.#tables, this.#stateIndex, parts);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const full = isOutOfRoom(error, this.#folder);
      for (const { sender, writes } of parts)
        post(sender, { type: 'failed', writes: writes.length, message, full });
      return;
    }
    // The thread that started this one observes all steps, and answers those of others when it receives them: it is told
    // first. Its event loop may still serve another thread's message before this one; `serial` tells it what to wait for.
    const groups: ForwardedGroup[] = [];
    for (const [at, { sender, writes }] of parts.entries()) {
      if (sender === this.#main) continue;
      const { refusals = [], gone = [] } = written[at] ?? {};
      sender.serial += 1;
      const steps = writes.filter((one, n) => typeof one === 'string' && refusals[n] === null) as string[];
      groups.push({ thread: sender.thread, serial: sender.serial, steps, gone });
    }
    if (groups.length > 0) post(this.#main, { type: 'foreign', groups });
    for (const [at, { sender }] of parts.entries())
      post(sender, { type: 'done', refusals: [], gone: [], ...written[at], serial: sender.serial });
  }

  /** Does nothing if the thread has ended already: that was reported after all of its writes. */
  #detach(thread: number): void {
    for (const sender of this.#senders) {
      if (sender.thread !== thread) continue;
      for (let next = waiting(sender, 1); next !== undefined; next = waiting(sender, 1))
        this.#accept(sender, next);
      sender.port.close();
    }
  }

  #close(sender: Sender): void {
    if (sender !== this.#main) {
      post(sender, { type: 'closed' });
      sender.port.close();
      return;
    }
    this.#isClosing = true;
    this.#settle();
    void this.#tables.root.close().then(() => {
      post(sender, { type: 'closed' });
      // Ports of other threads would keep this one alive.
      for (const { port } of this.#senders) port.close();
    });
  }

  /** Writes pending changes of the state index, so that the next start has none. */
  #settle(): void {
    try {
      transact(this.#tables, () => void this.#stateIndex.write([], true));
    } catch {
      // A full disk. The next start reads the missing changes from the notes.
    }
  }
}

/** Returns the next message of a known sender; none when the transaction is full. */
function waiting({ port }: Sender, room: number): ToWriter | undefined {
  return room > 0 ? receiveMessageOnPort(port)?.message : undefined;
}

function post({ port }: Sender, message: FromWriter): void {
  port.postMessage(message);
}

if (parentPort !== null) {
  const { folder } = workerData as { readonly folder: string };
  new Writer(folder, parentPort);
}

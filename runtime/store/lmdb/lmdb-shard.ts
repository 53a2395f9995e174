/** The store as seen by a thread that hosts actors: it loads them, and commits through the common writing thread. */
import type { MessagePort } from 'node:worker_threads';
import type { Faults } from '../../model/faults.ts';
import type {
  ActorAddress,
  ActorStore,
  RowQuery,
  SharedStore,
  Step,
  StoredActor,
} from '../../model/ports.ts';
import { readActor } from './lmdb-actors.ts';
import { Committer, linkThroughPort } from './lmdb-committer.ts';
import { openTables, readRows } from './lmdb-tables.ts';

export interface ShardStore extends Pick<ActorStore, 'load' | 'commit' | 'rows'> {
  /** Number of this thread's last written group; see `ActorStore.shareWithThreads`. */
  readonly serial: number;
}

export function openShardStore({ folder, port }: SharedStore, faults: Faults): ShardStore {
  const tables = openTables(folder);
  let serial = 0;
  const written = (_: unknown, number: number): void => {
    // This thread's read transaction is older than the group.
    tables.root.resetReadTxn();
    serial = number;
  };
  const committer = new Committer(linkThroughPort(port as MessagePort), faults, written, () => {});
  return {
    async load(actor: ActorAddress): Promise<StoredActor | undefined> {
      // Others write too, and this thread may not have been notified.
      return readActor(tables, actor);
    },
    async rows(query: RowQuery) {
      // The caller may know of a row that is newer than the read transaction of this thread.
      tables.root.resetReadTxn();
      return readRows(tables, query);
    },
    commit: (step: Step) => committer.commit(step),
    get serial() {
      return serial;
    },
  };
}

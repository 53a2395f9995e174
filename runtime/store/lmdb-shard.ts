/** The store as a thread sees it that hosts actors: it loads them, and commits through the writing thread of all. */
import type { Faults } from '../faults.ts';
import type { ActorAddress, ActorStore, SharedStore, Step, StoredActor } from '../ports.ts';
import { Committer } from './lmdb-committer.ts';
import { linkOver } from './lmdb-link.ts';
import { readActor } from './lmdb-reads.ts';
import { openTables } from './lmdb-tables.ts';

export interface ShardStore extends Pick<ActorStore, 'load' | 'commit'> {
  /** Number of the last group of this thread that was written; see `ActorStore.share`. */
  readonly serial: number;
}

export function openShardStore({ folder, port }: SharedStore, faults: Faults): ShardStore {
  const tables = openTables(folder);
  let serial = 0;
  const written = (_: unknown, number: number): void => {
    // This thread's view of the data is the one it had before the group.
    tables.root.resetReadTxn();
    serial = number;
  };
  const committer = new Committer(linkOver(port), faults, written, () => {});
  return {
    async load(actor: ActorAddress): Promise<StoredActor | undefined> {
      // Others write too, and this thread may not have heard of it.
      return readActor(tables, actor);
    },
    commit: (step: Step) => committer.commit(step),
    get serial() {
      return serial;
    },
  };
}

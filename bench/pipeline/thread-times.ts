/** Processor time of this process by what its threads are for. Linux only: elsewhere nothing is told apart. */
import { readdirSync, readFileSync } from 'node:fs';

const TASKS = '/proc/self/task';

/** Milliseconds by role. */
export type TimesByRole = ReadonlyMap<string, number>;

export class ThreadTimes {
  readonly #roles = new Map<string, string>([[String(process.pid), 'main']]);

  /** Threads that are there and have no name yet belong to the runtime of the language. */
  constructor() {
    this.name('rest');
  }

  /** Names the threads that came up since the last call; later ones without a name count as `rest`. */
  name(role: string): void {
    for (const thread of threads()) if (!this.#roles.has(thread)) this.#roles.set(thread, role);
  }

  /** What each role has used so far. */
  read(): TimesByRole {
    const used = new Map<string, number>();
    for (const thread of threads()) {
      const role = this.#roles.get(thread) ?? 'rest';
      used.set(role, (used.get(role) ?? 0) + timeOf(thread));
    }
    return used;
  }

  since(before: TimesByRole): TimesByRole {
    return new Map([...this.read()].map(([role, ms]) => [role, ms - (before.get(role) ?? 0)]));
  }
}

function threads(): readonly string[] {
  try {
    return readdirSync(TASKS);
  } catch {
    return [];
  }
}

/** Milliseconds on a processor; 0 for a thread that has just ended. */
function timeOf(thread: string): number {
  try {
    const [nanoseconds = '0'] = readFileSync(`${TASKS}/${thread}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return 0;
  }
}

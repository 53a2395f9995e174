/** Processor time of this process by role of its threads. Linux only: elsewhere roles are not distinguished. */
import { readdirSync, readFileSync } from 'node:fs';

const TASKS = '/proc/self/task';

/** Milliseconds by role. */
export type TimesByRole = ReadonlyMap<string, number>;

export class ThreadTimes {
  readonly #roles = new Map<string, string>([[String(process.pid), 'main']]);

  /** Existing threads without a name belong to the runtime of the language. */
  constructor() {
    this.name('rest');
  }

  /** Names the threads started since the last call; later unnamed ones count as `rest`. */
  name(role: string): void {
    for (const thread of threads()) if (!this.#roles.has(thread)) this.#roles.set(thread, role);
  }

  /** Returns the processor time of each role so far. */
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

/** Milliseconds of processor time; 0 for a thread that has just ended. */
function timeOf(thread: string): number {
  try {
    const [nanoseconds = '0'] = readFileSync(`${TASKS}/${thread}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return 0;
  }
}

/** A runtime in memory on a simulated clock, that records what happens. */
import { type CreateOptions, createRuntime, type Runtime } from './create-runtime.ts';
import { memory } from './memory.ts';
import type { Actor } from './model/actor.ts';
import { Faults } from './model/faults.ts';
import { seededIds } from './model/ids.ts';
import type { LogProperties, Millis, Step } from './model/ports.ts';
import { SimulatedClock } from './testing/simulated-clock.ts';

/** Turns of the event loop after which everything has run that does not wait for time or for the outside. */
const TURNS = 8;

/** A runtime for tests; `runtime` is the current one. */
export interface TestRuntime {
  readonly runtime: Runtime;
  readonly clock: SimulatedClock;
  readonly faults: Faults;
  /** Committed steps, in their order. */
  readonly steps: readonly Step[];
  /** Lines of the log: level, text and properties. */
  readonly log: readonly string[];
  /** Lets time pass, alarm by alarm; what each starts runs at its time. A day takes milliseconds. */
  advance(duration: Millis): Promise<void>;
  /** Lets everything run that does not wait for time. */
  settle(): Promise<void>;
  /** Stops the runtime and starts another one on the same store, as a restart of the process does. */
  restart(actors?: readonly Actor[]): Promise<void>;
}

/** Starts a runtime. The test ends it with `runtime.stop()`, or not at all: it keeps no process alive. */
export async function testRuntime(
  actors: readonly Actor[],
  options: Partial<Omit<CreateOptions, 'actors' | 'clock' | 'log' | 'faults'>> = {},
): Promise<TestRuntime> {
  const clock = new SimulatedClock();
  const faults = new Faults();
  const steps: Step[] = [];
  const log: string[] = [];
  const write =
    (level: string) =>
    (text: string, properties: LogProperties = {}) => {
      log.push(`${level} ${text} ${JSON.stringify(properties)}`);
    };
  const given: Omit<CreateOptions, 'actors'> = {
    store: memory(),
    ids: seededIds(1),
    ...options,
    clock,
    faults,
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    onCommitted: (step, isOwn) => {
      steps.push(step);
      options.onCommitted?.(step, isOwn);
    },
  };
  let runtime = await createRuntime({ ...given, actors });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    get runtime() {
      return runtime;
    },
    clock,
    faults,
    steps,
    log,
    settle,
    async advance(duration) {
      const end = clock.elapsed() + duration;
      await settle();
      while (clock.elapsed() < end) {
        clock.advance(Math.min(clock.untilNext, end - clock.elapsed()));
        await settle();
      }
    },
    async restart(others = actors) {
      const stopped = runtime.stop();
      while ((await Promise.race([stopped.then(() => true), settle()])) !== true)
        clock.advance(Math.min(clock.untilNext, 1000));
      runtime = await createRuntime({ ...given, actors: others });
    },
  };
}

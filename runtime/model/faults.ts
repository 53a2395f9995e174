/**
 * Named fault points: places where a crash is critical. Production code names them, tests and crash proofs arm them. A
 * point that is not armed costs one comparison.
 */
import { Fatal } from './failures.ts';

/**
 * Action of an armed point. `kill`: SIGKILL to this process. `suspend`: SIGSTOP to it; the code goes on after SIGCONT. `throw`: the code at the point fails with
 * `fault.injected`. `hang`: the code never continues. Three actions affect one thread, or the process where it is the
 * main thread: `exit` ends it at once, `spin` computes forever, `exhaustHeap` fills its heap.
 */
export type FaultAction = 'kill' | 'suspend' | 'throw' | 'hang' | 'exit' | 'spin' | 'exhaustHeap';

/** Code of a thread that is ended by a fault. */
const EXIT_CODE = 70;

/** A test's own action; the code at the point sees its error or rejection. */
export type FaultCallback = () => void | Promise<void>;

/** Fault points by name, each with a sentence about its place. */
export type FaultPoints = { readonly [name: string]: string };

const declared = new Map<string, string>();

/** Declares names, so that a misspelt one is refused when armed. Call once per folder, at module level. */
export function declareFaultPoints<const Points extends FaultPoints>(points: Points): Points {
  for (const [name, place] of Object.entries(points)) declared.set(name, place);
  return points;
}

/** Every declared point, for crash proofs that iterate over all. */
export function declaredFaultPoints(): FaultPoints {
  return Object.fromEntries(declared);
}

interface Armed {
  readonly act: FaultAction | FaultCallback;
  /** Passes left until the point acts; 0 = spent. */
  left: number;
}

export class Faults {
  #armed: Map<string, Armed> | undefined;

  /**
   * Reads `name=action[:n]`, comma separated; `n` = act at the n-th pass, default 1. `name/subject` counts only the
   * passes of that subject: `effect.leased.before-run/sign=kill:2`.
   * Throws `fault.unknown` or `fault.malformed`, so that a proof never runs without its fault.
   */
  static parse(text: string | undefined): Faults {
    const faults = new Faults();
    for (const part of (text ?? '').split(',')) {
      if (part.trim() === '') continue;
      const [, name, action, count] =
        /^([\w.-]+(?:\/[\w.-]+)?)=(kill|suspend|throw|hang|exit|spin|exhaustHeap)(?::([1-9]\d{0,8}))?$/.exec(
          part.trim(),
        ) ?? [];
      if (name === undefined || action === undefined) {
        throw new Fatal(
          'fault.malformed',
          `"${part}" is not name=kill|suspend|throw|hang|exit|spin|exhaustHeap[:n].`,
        );
      }
      faults.arm(name, action as FaultAction, count === undefined ? 1 : Number(count));
    }
    return faults;
  }

  /**
   * The same, without the points that this thread has not declared: their code runs on another thread. The main thread
   * declares all and refuses misspelt names.
   */
  static parseDeclared(text: string): Faults {
    const known = text.split(',').filter((part) => declared.has((part.split(/[=/]/, 1)[0] ?? '').trim()));
    return Faults.parse(known.join(','));
  }

  /**
   * Arms a point to act once, at the `pass`-th pass from now; for one subject when `name` is `name/subject`. Throws
   * `fault.unknown` for an undeclared name.
   */
  arm(name: string, act: FaultAction | FaultCallback, pass = 1): void {
    if (!declared.has(name.split('/', 1)[0] ?? ''))
      throw new Fatal('fault.unknown', `No fault point is named "${name}".`);
    this.#armed ??= new Map();
    this.#armed.set(name, { act, left: pass });
  }

  /** Disarms one name, or all. */
  disarm(name?: string): void {
    if (name === undefined) this.#armed = undefined;
    else this.#armed?.delete(name);
  }

  /**
   * Passes a point. Returns nothing to wait for unless it is armed.
   * @param subject for example the `do` of an effect
   */
  at(name: string, subject?: string): void | Promise<void> {
    if (this.#armed === undefined) return;
    const act = this.#actAt(name, subject);
    if (act === undefined) return;
    if (act === 'hang') return new Promise(() => {});
    if (typeof act === 'function') return act();
    triggerFault(name, act);
  }

  /** Passes a point synchronously; `hang` stops the thread. A callback must not be asynchronous. */
  atSync(name: string, subject?: string): void {
    if (this.#armed === undefined) return;
    const act = this.#actAt(name, subject);
    if (act === undefined) return;
    if (typeof act === 'function') void act();
    else triggerFault(name, act);
  }

  /**
   * Passes a point in another thread: returns the action for `triggerFault` there. A callback is called here instead.
   */
  consume(name: string): FaultAction | undefined {
    if (this.#armed === undefined) return undefined;
    const act = this.#due(name);
    if (typeof act !== 'function') return act;
    void act();
    return undefined;
  }

  #actAt(name: string, subject: string | undefined): FaultAction | FaultCallback | undefined {
    return this.#due(name) ?? (subject === undefined ? undefined : this.#due(`${name}/${subject}`));
  }

  #due(name: string): FaultAction | FaultCallback | undefined {
    const armed = this.#armed?.get(name);
    if (armed === undefined || armed.left === 0) return undefined;
    armed.left--;
    return armed.left === 0 ? armed.act : undefined;
  }
}

/** Performs the action of an armed point. For code that got the action from `consume`. */
export function triggerFault(name: string, action: FaultAction): void {
  if (action === 'hang') stopThread();
  if (action === 'throw') throw new Fatal('fault.injected', `Fault injected at ${name}.`);
  if (action === 'exit') process.exit(EXIT_CODE);
  if (action === 'spin') for (;;);
  if (action === 'exhaustHeap') exhaustHeap();
  if (action === 'suspend') {
    process.kill(process.pid, 'SIGSTOP');
    // The signal may take a moment.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    return;
  }
  process.kill(process.pid, 'SIGKILL');
  stopThread(); // the signal may take a moment; not one more line may run
}

function exhaustHeap(): never {
  const kept: number[][] = [];
  for (;;) kept.push(new Array<number>(100_000).fill(0));
}

function stopThread(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Fault points of the runtime itself. */
export const RUNTIME_FAULT_POINTS = declareFaultPoints({
  'step.computed.before-commit': 'A step is decided; the store has not seen it.',
  'store.group.before-transaction': 'A group of steps is collected; its transaction has not begun.',
  'store.group.in-transaction': 'All rows of the group are written; the transaction is not committed.',
  'store.group.committed.before-reply': 'The transaction is committed; none of its steps has been answered.',
  'step.committed.before-reply':
    'A step is committed; its sender has not been answered, its effects not started.',
  'effect.leased.before-run': 'An effect is leased; its handler has not been called.',
  'effect.done.before-outcome': 'A handler is done; its outcome has not been told to the actor.',
  'effect.failed.before-defer': 'A try has failed; its next time is not stored.',
  'timer.due.before-fire': 'A deadline has passed; its event has not been told to the actor.',
});

export type RuntimeFaultPoint = keyof typeof RUNTIME_FAULT_POINTS;

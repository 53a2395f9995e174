/** Requests that wait for a step of an actor, each for a limited time, without polling the store. */
import {
  type ActorDefinition,
  type ActorView,
  type Clock,
  contextOf,
  type Millis,
  type Step,
} from '@sealwright/runtime';

interface Wait {
  see(actor: Step['actor']): void;
  end(): void;
}

export interface StepWait<Context> {
  /** The actor after the step; undefined after the time, at `cancel` and at the stop of the service. */
  readonly actor: Promise<ActorView<Context> | undefined>;
  cancel(): void;
}

export class StepWaits {
  /** By the id of the actor. */
  readonly #waits = new Map<string, Set<Wait>>();
  #count = 0;
  #isStopped = false;

  /** @param most waits at the same time; a further one ends at once. @default any number */
  constructor(
    private readonly clock: Pick<Clock, 'after'>,
    private readonly most: number = Number.POSITIVE_INFINITY,
  ) {}

  /** Sees each committed step. */
  observe({ actor }: Pick<Step, 'actor'>): void {
    const waits = this.#waits.get(actor.address.id);
    if (waits !== undefined) for (const wait of [...waits]) wait.see(actor);
  }

  /**
   * Waits for a step after this call that makes the actor fit. Call it before the action that causes the step, and
   * before the actor is read.
   */
  begin<Context>(
    kind: ActorDefinition<Context>,
    id: string,
    fits: (actor: ActorView<Context>) => boolean,
    within: Millis,
  ): StepWait<Context> {
    let cancel = () => {};
    const actor = new Promise<ActorView<Context> | undefined>((resolve) => {
      if (this.#isStopped || this.#count >= this.most) return resolve(undefined);
      const waits = this.#waits.get(id) ?? new Set<Wait>();
      const end = (found?: ActorView<Context>) => {
        if (!waits.delete(wait)) return;
        disarm();
        this.#count -= 1;
        if (waits.size === 0) this.#waits.delete(id);
        resolve(found);
      };
      const wait: Wait = {
        see(seen) {
          const context = contextOf(kind, seen);
          const after = context !== undefined && { id, state: seen.state, context };
          if (after && fits(after)) end(after);
        },
        end,
      };
      const disarm = this.clock.after(within, () => end());
      this.#count += 1;
      this.#waits.set(id, waits.add(wait));
      cancel = end;
    });
    return { actor, cancel: () => cancel() };
  }

  /** Ends all waits. */
  stop(): void {
    this.#isStopped = true;
    for (const waits of [...this.#waits.values()]) for (const wait of [...waits]) wait.end();
  }
}

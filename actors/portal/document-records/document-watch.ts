/** Lets callers wait for a change of a document without polling the store. */

import { type Clock, contextOf, type Step } from '@sealwright/runtime';
import type { DocumentId } from '../../../machines/ids.ts';
import { DOCUMENT, type DocumentActor } from './document-index.ts';

interface Waiter {
  readonly matches: (document: DocumentActor) => boolean;
  readonly resolve: (document: DocumentActor) => void;
}

export class DocumentWatch {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #waiters = new Map<string, Set<Waiter>>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** Sees each committed step. */
  observe({ actor }: Step): void {
    const context = contextOf(DOCUMENT, actor);
    const waiters = this.#waiters.get(actor.address.id);
    if (context === undefined || waiters === undefined) return;
    const document: DocumentActor = { id: actor.address.id, state: actor.state, context };
    for (const waiter of [...waiters]) if (waiter.matches(document)) waiter.resolve(document);
  }

  /**
   * Resolves with the document once a step after this call makes it so, or with undefined after `timeoutMs`
   * milliseconds. Arm it before the action that it waits for.
   */
  whenChanged(
    id: DocumentId,
    isIt: Waiter['matches'],
    timeoutMs: number,
  ): { readonly document: Promise<DocumentActor | undefined>; cancel(): void } {
    let cancel = () => {};
    const document = new Promise<DocumentActor | undefined>((resolve) => {
      const waiters = this.#waiters.get(id) ?? new Set<Waiter>();
      const end = (found: DocumentActor | undefined) => {
        stop();
        waiters.delete(waiter);
        if (waiters.size === 0 && this.#waiters.get(id) === waiters) this.#waiters.delete(id);
        resolve(found);
      };
      const waiter: Waiter = { matches: isIt, resolve: end };
      const stop = this.#clock.after(timeoutMs, () => end(undefined));
      cancel = () => end(undefined);
      waiters.add(waiter);
      this.#waiters.set(id, waiters);
    });
    return { document, cancel };
  }
}

/**
 * Detects the step in which an accepted signature is embedded in its file or has failed. Ignores steps before its
 * acceptance.
 */
export function settling(id: string): (document: DocumentActor) => boolean {
  let isAccepted = false;
  return ({ context }) => {
    const isWaiting = context.accepted.some((one) => one.id === id);
    if (!isAccepted) isAccepted = isWaiting;
    return isAccepted && (!isWaiting || context.processingError !== null);
  };
}

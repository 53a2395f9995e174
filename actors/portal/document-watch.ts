/** Lets a call wait for what becomes of a document, without asking the store again and again. */
import type { DocumentId } from '../../machines/ids.ts';
import type { Clock, Step } from '../../runtime/index.ts';
import { DOCUMENT, type DocumentActor } from './document-index.ts';

interface Waiter {
  readonly isIt: (document: DocumentActor) => boolean;
  readonly tell: (document: DocumentActor) => void;
}

export class DocumentWatch {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #waiters = new Map<string, Set<Waiter>>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** Sees each committed step. */
  observe({ actor: { address, state, context } }: Step): void {
    if (address.kind !== DOCUMENT) return;
    const waiters = this.#waiters.get(address.id);
    if (waiters === undefined) return;
    const document: DocumentActor = {
      id: address.id,
      state,
      context: context as unknown as DocumentActor['context'],
    };
    for (const waiter of [...waiters]) if (waiter.isIt(document)) waiter.tell(document);
  }

  /**
   * Resolves with the document once a step after this call makes it so, or with undefined after `patience`
   * milliseconds. Arm it before what it waits for is begun.
   */
  next(
    id: DocumentId,
    isIt: Waiter['isIt'],
    patience: number,
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
      const waiter: Waiter = { isIt, tell: end };
      const stop = this.#clock.after(patience, () => end(undefined));
      cancel = () => end(undefined);
      waiters.add(waiter);
      this.#waiters.set(id, waiters);
    });
    return { document, cancel };
  }
}

/**
 * Recognizes the step by which an accepted signature stands in its file, or is known to have failed. Steps before the one
 * that accepted it are none of it.
 */
export function settling(id: string): (document: DocumentActor) => boolean {
  let isAccepted = false;
  return ({ context }) => {
    const isWaiting = context.accepted.some((one) => one.id === id);
    if (!isAccepted) isAccepted = isWaiting;
    return isAccepted && (!isWaiting || context.processingError !== null);
  };
}

/** Documents that are written to a store as steps write them, and changed by dice. */
import { randomUUID } from 'node:crypto';
import type { ActorStore } from '@sealwright/runtime';
import { DocumentColumns } from '../../../../actors/portal/document-records/document-columns.ts';
import { DOCUMENT, type DocumentActor } from '../../../../actors/portal/document-records/document-index.ts';
import { stepOf } from '../../../contract/steps.ts';
import { documentsBy, OURS, random, THEIRS } from './some-documents.ts';

interface Stored {
  readonly actor: DocumentActor;
  readonly revision: number;
}

/** Tables that are kept, also of few documents. */
export async function columnsWithSnapshots(
  store: ActorStore,
  root: string,
  uuid: () => string = randomUUID,
): Promise<DocumentColumns> {
  return new DocumentColumns(store, await store.counters('documents/'), {
    root,
    atLeast: 1,
    ids: { uuid },
    clock: { after: () => () => {}, now: () => Date.now() },
  });
}

export class StoredDocuments {
  readonly #store: ActorStore;
  readonly #columns: Pick<DocumentColumns, 'observe'>;
  readonly #stored = new Map<number, Stored>();
  readonly #dice: ReturnType<typeof documentsBy>;

  constructor(store: ActorStore, columns: Pick<DocumentColumns, 'observe'>, seed: number) {
    this.#store = store;
    this.#columns = columns;
    this.#dice = documentsBy(random(seed));
  }

  /** Reads what is stored. */
  async load(): Promise<void> {
    for (const { address, state, context, revision } of await this.#store.actors({
      kind: DOCUMENT.kind,
      limit: 100_000,
    })) {
      const actor = { id: address.id, state, context } as unknown as DocumentActor;
      this.#stored.set(actor.context.order, { actor, revision });
    }
  }

  /** Adds documents, changes others all over, and deletes some. */
  async change(added: number, changed: number): Promise<void> {
    const { below, someDocument, maybe, oneOf } = this.#dice;
    const count = this.#stored.size;
    const writes: Promise<void>[] = [];
    for (let at = 1; at <= added; at += 1)
      writes.push(this.#write(someDocument(count + at, at % 5 === 0 ? THEIRS : OURS)));
    for (const order of new Set(Array.from({ length: count === 0 ? 0 : changed }, () => 1 + below(count)))) {
      const before = this.#stored.get(order)?.actor;
      if (before === undefined) continue;
      const { organization, id, expirationDate } = before.context;
      const other = someDocument(order, organization.id);
      // A document keeps its last day; often nothing but its state changes.
      const context =
        maybe(0.5, () => before.context) ??
        ({ ...other.context, id, expirationDate } as DocumentActor['context']);
      writes.push(
        this.#write({ ...other, id, context, state: oneOf([other.state, 'Pending', 'FlowConcluded']) }),
      );
    }
    await Promise.all(writes);
  }

  async #write(actor: DocumentActor): Promise<void> {
    const { order } = actor.context;
    const before = this.#stored.get(order);
    const was = factsOf(before?.actor);
    const is = factsOf(actor);
    const counters: Record<string, number> = { ...is.counters };
    for (const [name, by] of Object.entries(was.counters)) counters[name] = (counters[name] ?? 0) - by;
    const texts = new Map(
      was.rows.map(({ view, key, value }) => [JSON.stringify([view, key]), JSON.stringify(value)]),
    );
    const keys = new Set(is.rows.map(({ view, key }) => JSON.stringify([view, key])));
    // A row that stays as it was is not written.
    const put = is.rows.filter(
      ({ view, key, value }) => texts.get(JSON.stringify([view, key])) !== JSON.stringify(value),
    );
    const remove = was.rows.filter(({ view, key }) => !keys.has(JSON.stringify([view, key])));
    const revision = before?.revision ?? 0;
    const step = stepOf(
      { kind: DOCUMENT.kind, id: actor.id },
      revision,
      { rows: { put, remove }, counters },
      { state: actor.state, context: actor.context as never },
    );
    this.#stored.set(order, { actor, revision: revision + 1 });
    const { ok } = await this.#store.commit(step);
    if (!ok) throw new Error('The step was not committed.');
    this.#columns.observe(step);
  }
}

function factsOf(actor: DocumentActor | undefined) {
  return {
    rows: (actor && DOCUMENT.rows?.(actor)) ?? [],
    counters: (actor && DOCUMENT.counters?.(actor)) ?? {},
  };
}

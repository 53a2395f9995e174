import type { ActorStore, StoredActor } from '@sealwright/runtime';

const PAGE = 500;

/** Every stored actor of a kind, in the order of the ids. */
export async function* allActors(
  store: Pick<ActorStore, 'actors'>,
  kind: string,
): AsyncGenerator<StoredActor, void> {
  for (let after: string | undefined; ; ) {
    const page = await store.actors({ kind, ...(after !== undefined && { after }), limit: PAGE });
    yield* page;
    after = page.at(-1)?.address.id;
    if (after === undefined || page.length < PAGE) return;
  }
}

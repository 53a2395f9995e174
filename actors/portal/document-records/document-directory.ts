/** Finds committed documents by id and by validation key. */

import type { ActorStore, ActorSystem } from '@sealwright/runtime';
import type { DocumentId } from '../../../machines/ids.ts';
import { DOCUMENT, type DocumentActor, documentAddress, documentKeyName } from './document-index.ts';
import type { DocumentReader, ReadDocument } from './document-reader.ts';

export interface DocumentDirectoryDependencies {
  readonly system: Pick<ActorSystem, 'read'>;
  readonly store: Pick<ActorStore, 'holder'>;
}

export class DocumentDirectory implements DocumentReader {
  readonly #dependencies: DocumentDirectoryDependencies;

  constructor(dependencies: DocumentDirectoryDependencies) {
    this.#dependencies = dependencies;
  }

  async byId(
    id: DocumentId,
  ): Promise<(ReadDocument & DocumentActor & { readonly revision: number }) | undefined> {
    const actor = await this.#dependencies.system.read(documentAddress(id));
    if (actor === undefined) return undefined;
    return { ...actor, state: actor.state as ReadDocument['state'] };
  }

  async byKey(key: string): Promise<ReadDocument | undefined> {
    const holder = await this.#dependencies.store.holder(documentKeyName(key));
    return holder?.kind === DOCUMENT ? this.byId(holder.id as DocumentId) : undefined;
  }
}

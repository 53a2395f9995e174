/** Finds committed documents by id and by validation key. */

import type { DocumentId } from '../../../machines/ids.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { DOCUMENT, type DocumentActor, documentAddress, documentKeyName } from './document-index.ts';
import type { DocumentReader, ReadDocument } from './document-reader.ts';

export class DocumentDirectory implements DocumentReader {
  constructor(private readonly runtime: ServiceRuntime) {}

  async byId(
    id: DocumentId,
  ): Promise<(ReadDocument & DocumentActor & { readonly revision: number }) | undefined> {
    const actor = await this.runtime.system.read(documentAddress(id));
    if (actor === undefined) return undefined;
    return { ...actor, state: actor.state as ReadDocument['state'] };
  }

  async byKey(key: string): Promise<ReadDocument | undefined> {
    const holder = await this.runtime.store.holder(documentKeyName(key));
    return holder?.kind === DOCUMENT ? this.byId(holder.id as DocumentId) : undefined;
  }
}

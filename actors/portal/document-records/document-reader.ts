/** Reads documents of any organization, for renditions and validation. */
import type { DocumentId } from '../../../machines/ids.ts';
import { actorOf } from '../../../machines/portal/documents/deputy-acts.ts';
import type { DocumentContext, DocumentState } from '../../../machines/portal/documents/document-context.ts';
import { usersOf } from '../../../machines/portal/documents/document-flow.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Evidence, Participant } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { Tenant } from '../api/callers.ts';
import { assertMayChange, reachesFolder } from '../shared/folder-access.ts';
import { isBeforeDevice } from '../shared/link-records.ts';
import { DOCUMENT, type DocumentActor, documentKeyName, foldedKey } from './document-index.ts';

type FoundDocument = ReadDocument & DocumentActor & { readonly revision: number };

/** Finds committed documents by id and by validation key. */
export class DocumentDirectory implements DocumentReader<FoundDocument> {
  constructor(private readonly runtime: ServiceRuntime) {}

  async byId(id: DocumentId): Promise<FoundDocument | undefined> {
    const actor = await this.runtime.actors.read(DOCUMENT, id);
    if (actor === undefined) return undefined;
    return { ...actor, state: actor.state as ReadDocument['state'] };
  }

  async byKey(key: string): Promise<FoundDocument | undefined> {
    const holder = await this.runtime.store.holder(documentKeyName(key));
    return holder?.kind === DOCUMENT.kind ? this.byId(holder.id as DocumentId) : undefined;
  }

  /** True while the person before an open device signs this document. */
  isBeforeDevice(context: DocumentContext): Promise<boolean> {
    return isBeforeDevice(this.runtime, context);
  }
}

const KEY = /^[A-Z0-9]{20}$/;
/** Accepts any dashes and spaces. */
const MAX_KEY_LENGTH = 200;

export interface ReadDocument {
  readonly state: DocumentState;
  readonly context: DocumentContext;
}

export interface DocumentReader<Document extends ReadDocument = ReadDocument> {
  byId(id: DocumentId): Promise<Document | undefined>;
  /** @param key 20 characters `A-Z 0-9` */
  byKey(key: string): Promise<Document | undefined>;
}

/** A document of the caller's organization. Refusals: `DocumentNotFound`, `DocumentIsDeleted`. */
export async function documentOf<Document extends ReadDocument>(
  reader: DocumentReader<Document>,
  tenant: Tenant | undefined,
  id: DocumentId,
): Promise<Document> {
  return assertPresent(await reader.byId(id), tenant, 'DocumentNotFound');
}

/** A document that the caller may change. Refusals: as `documentOf`; `Forbidden` for one that may only be read. */
export async function documentToChange<Document extends ReadDocument>(
  reader: DocumentReader<Document>,
  tenant: Tenant,
  id: DocumentId,
): Promise<Document> {
  const document = await documentOf(reader, tenant, id);
  assertMayChange(tenant, document.context);
  return document;
}

/** A document by its validation key, which is folded. Refusals: `DocumentInvalidKey`, `DocumentIsDeleted`. */
export async function documentByKey(
  reader: DocumentReader,
  tenant: Tenant | undefined,
  key: string,
): Promise<ReadDocument> {
  const folded = key.length > MAX_KEY_LENGTH ? '' : foldedKey(key);
  const found = KEY.test(folded) ? await reader.byKey(folded) : undefined;
  return assertPresent(found, tenant, 'DocumentInvalidKey');
}

function assertPresent<Document extends ReadDocument>(
  found: Document | undefined,
  tenant: Tenant | undefined,
  unknown: 'DocumentNotFound' | 'DocumentInvalidKey',
): Document {
  // Documents of other organizations, and of folders that the caller does not reach, are answered as unknown.
  const isOther = (tenant: Tenant, { context }: ReadDocument) =>
    context.organization.id !== tenant.organization.id || !reachesFolder(tenant, context.folderId);
  if (found === undefined || (tenant && isOther(tenant, found))) {
    throw new PortalRefusal(unknown);
  }
  if (found.state === 'Deleted') throw new PortalRefusal('DocumentIsDeleted');
  return found;
}

/** True when a participant has signed; approvals do not count. */
export function hasSignature({ made }: Pick<DocumentContext, 'made'>): boolean {
  return made.some(({ kind }) => kind !== 'approval');
}

/** Person who has acted: the participant, as named in the flow, or a deputy. */
export function participantOf(
  { actions }: Pick<DocumentContext, 'actions'>,
  {
    flowActionId,
    userId,
    evidence,
  }: { readonly flowActionId: string; readonly userId: string; readonly evidence: Evidence | null },
): Participant | undefined {
  const action = actions.find(({ id }) => id === flowActionId);
  const asked = action && usersOf(action).find(({ id }) => id === userId);
  return asked && actorOf(asked, evidence);
}

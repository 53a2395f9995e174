/** What renditions and validation need of documents: to read one, whoever it belongs to. */
import type { DocumentContext, DocumentState } from '../../machines/document-context.ts';
import type { DocumentId } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { Participant } from '../../machines/portal-words.ts';
import type { Tenant } from './api.ts';
import { foldedKey } from './document-index.ts';

const KEY = /^[A-Z0-9]{20}$/;
/** With all the dashes and spaces somebody may write. */
const LONGEST_KEY = 200;

export interface ReadDocument {
  readonly state: DocumentState;
  readonly context: DocumentContext;
}

export interface DocumentReader {
  byId(id: DocumentId): Promise<ReadDocument | undefined>;
  /** @param key 20 characters `A-Z 0-9` */
  byKey(key: string): Promise<ReadDocument | undefined>;
}

/** A document of the caller's organization. Refusals: `DocumentNotFound`, `DocumentIsDeleted`. */
export async function documentOf(
  reader: DocumentReader,
  tenant: Tenant | undefined,
  id: DocumentId,
): Promise<ReadDocument> {
  return present(await reader.byId(id), tenant, 'DocumentNotFound');
}

/** A document by its validation key, which is folded. Refusals: `DocumentInvalidKey`, `DocumentIsDeleted`. */
export async function documentByKey(
  reader: DocumentReader,
  tenant: Tenant | undefined,
  key: string,
): Promise<ReadDocument> {
  const folded = key.length > LONGEST_KEY ? '' : foldedKey(key);
  const found = KEY.test(folded) ? await reader.byKey(folded) : undefined;
  return present(found, tenant, 'DocumentInvalidKey');
}

function present(
  found: ReadDocument | undefined,
  tenant: Tenant | undefined,
  unknown: 'DocumentNotFound' | 'DocumentInvalidKey',
): ReadDocument {
  // Those of others are answered like none.
  if (found === undefined || (tenant && found.context.organization.id !== tenant.organization.id)) {
    throw new PortalRefusal(unknown);
  }
  if (found.state === 'Deleted') throw new PortalRefusal('DocumentIsDeleted');
  return found;
}

/** Whether somebody signed since the flow began; approvals are no signatures. */
export function hasSignature({ made }: Pick<DocumentContext, 'made'>): boolean {
  return made.some(({ kind }) => kind !== 'approval');
}

/** Who did something in a flow, as the flow names them. */
export function participantOf(
  { actions }: Pick<DocumentContext, 'actions'>,
  { flowActionId, userId }: { readonly flowActionId: string; readonly userId: string },
): Participant | undefined {
  const action = actions.find(({ id }) => id === flowActionId);
  if (action?.user?.id === userId) return action.user;
  return action?.ruleUsers.find(({ id }) => id === userId);
}

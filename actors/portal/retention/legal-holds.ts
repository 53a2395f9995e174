/**
 * Legal holds on documents and folders. Every deletion of a document goes through `deleteDocument`, and every way by which
 * something leaves a folder through `assertNoHold`.
 *
 * Source: docs/decisions/0610-retention-and-holds.md.
 */
import { accepted, type Calls } from '@sealwright/runtime';
import type { DocumentRetention } from '../../../contracts/portal/retention/retention.ts';
import type { DocumentId, FolderId } from '../../../machines/ids.ts';
import { isHeldBack } from '../../../machines/portal/documents/legal-hold.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { principalOf, type Tenant } from '../api/callers.ts';
import { DOCUMENT } from '../document-records/document-index.ts';
import {
  applicationPrincipal,
  type DocumentRequest,
  refusalOf,
  sendToDocument,
  wrongStatus,
} from '../document-records/document-messages.ts';
import { type DocumentReader, documentOf } from '../document-records/document-reader.ts';
import { FOLDER, pathOf } from '../folders/folders.ts';
import { folderNotFound } from '../shared/folder-access.ts';

type Deletion = Extract<DocumentRequest, { readonly type: 'DELETE' }>;

/**
 * Deletes a document unless it, its folder or one around is held. Resolves with the refusal; undefined = deleted, or another
 * message of this id deleted it.
 */
export async function deleteDocument(
  actors: Pick<Calls, 'read' | 'send'>,
  id: DocumentId,
  message: Deletion,
  messageId?: string,
): Promise<PortalRefusal | undefined> {
  const document = await actors.read(DOCUMENT, id);
  if ((await pathOf(actors, document?.context.folderId ?? null)).isHeld)
    return new PortalRefusal('LegalHold');
  const answer = await actors.send(DOCUMENT, id, message, messageId === undefined ? {} : { id: messageId });
  return answer.accepted || answer.reason === 'duplicate'
    ? undefined
    : refusalOf(answer, refusalOfHeld(message.type));
}

/** The refusal of a message that a hold or the status does not accept. */
export function refusalOfHeld(type: DocumentRequest['type']): Parameters<typeof refusalOf>[1] {
  return (document) => (isHeldBack(document.context, type) ? 'LegalHold' : wrongStatus(document));
}

export class LegalHolds {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors'>,
    private readonly directory: DocumentReader,
  ) {}

  /** Refusals: `DocumentNotFound`, `DocumentIsDeleted`. */
  async get(tenant: Tenant, id: DocumentId): Promise<DocumentRetention> {
    const { hold, deletion } = (await documentOf(this.directory, tenant, id)).context;
    return {
      hold: hold == null ? null : { reason: hold.reason, by: hold.by, date: hold.at },
      deletion: deletion == null ? null : { date: deletion.at, rule: deletion.rule },
    };
  }

  /** @param reason null ends the hold. Refusals: `DocumentNotFound`, `DocumentIsDeleted`. */
  async ofDocument(tenant: Tenant, id: DocumentId, reason: string | null): Promise<void> {
    const { context } = await documentOf(this.directory, tenant, id);
    if (reason === null && context.hold == null) return;
    const message = {
      type: 'HOLD',
      by: principalOf(tenant),
      reason,
      doneBy: applicationPrincipal(tenant),
    } as const;
    await sendToDocument(this.runtime.actors, id, message, wrongStatus);
  }

  /** @param reason null ends the hold. Refusals: `FolderNotFound`. */
  async ofFolder(tenant: Tenant, id: FolderId, reason: string | null): Promise<void> {
    const { actors } = this.runtime;
    const folder = await actors.read(FOLDER, id);
    if (folder?.state !== 'Active' || folder.context.organizationId !== tenant.organization.id)
      throw folderNotFound(id);
    if (reason === null && folder.context.hold == null) return;
    const message = { type: 'HOLD', by: principalOf(tenant), reason } as const;
    await accepted(actors.send(FOLDER, id, message), () => folderNotFound(id));
  }
}

/** A document as clients read it. Source: docs/portal-values.md §7. */
import type { DocumentContext } from '../../../machines/portal/document/document-context.ts';
import type { DocumentListItem, DocumentView, FolderView } from '../api/documents.ts';
import { type DocumentActor, statusOf } from '../document-records/document-index.ts';
import { hasSignature } from '../document-records/document-reader.ts';

/** @param identifier of its organization */
export function documentView(
  document: DocumentActor & { readonly revision: number },
  folder: FolderView | null,
  identifier: string | undefined,
): DocumentView {
  const { context } = document;
  const { file, processingError } = context;
  // Members one by one: V8 builds such an object at once, but one that begins with a spread member by member. No upstream
  // issue found; seen in Node 20.20.
  return {
    id: context.id,
    name: context.name,
    creationDate: context.creationDate,
    updateDate: context.updateDate,
    type: context.type,
    tags: context.tags,
    externalId: context.externalId ?? null,
    status: statusOf(document),
    isDeleted: document.state === 'Deleted',
    key: context.key,
    filename: file.name,
    fileSize: file.blob.length,
    mimeType: file.contentType,
    checksumMd5: file.md5,
    hasSignature: hasSignature(context),
    isEnvelope: context.isEnvelope,
    createdBy: context.createdBy,
    organization: { id: context.organization.id, name: context.organization.name, identifier },
    folder,
    statusUpdatedBy: context.statusUpdatedBy,
    statusUpdateReason: context.statusUpdateReason,
    description: context.description,
    expirationDate: context.expirationDate,
    observers: context.observers,
    attachments: context.attachments,
    notifiedEmails: context.notifiedEmails,
    forceCadesSignature: context.forceCadesSignature,
    signatureType: context.signatureType,
    flowActions: context.actions,
    reminders: context.reminders ?? null,
    template: context.template ?? null,
    fieldValues: new Map(
      context.made.flatMap(({ values = [] }) =>
        values.map(({ fieldId, value }) => [fieldId, value] as const),
      ),
    ),
    processingError: processingError && {
      code: processingError.code,
      message: processingError.message,
      since: processingError.since,
      nextTryAt: processingError.nextTryAt,
    },
    revision: document.revision,
  };
}

function listed({ id, name, creationDate, updateDate, type, tags, externalId }: DocumentContext) {
  return { id, name, creationDate, updateDate, type, tags, externalId: externalId ?? null };
}

export function documentItem(document: DocumentActor, folder: FolderView | null): DocumentListItem {
  return { ...listed(document.context), status: statusOf(document), folder };
}

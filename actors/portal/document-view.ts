/** A document as clients read it. Source: portal-gaps §7. */
import type { DocumentContext } from '../../machines/document-context.ts';
import type { DocumentListItem, DocumentView, FolderView } from './api.ts';
import { type DocumentActor, statusOf } from './document-index.ts';
import { hasSignature } from './document-reader.ts';

/** @param identifier of its organization */
export function documentView(
  document: DocumentActor & { readonly revision: number },
  folder: FolderView | null,
  identifier: string | undefined,
): DocumentView {
  const { context } = document;
  const { file, processingError } = context;
  return {
    ...listed(context),
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
    organization: { ...context.organization, identifier },
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
    processingError: processingError && {
      code: processingError.code,
      message: processingError.message,
      since: processingError.since,
      nextTryAt: processingError.nextTryAt,
    },
    revision: document.revision,
  };
}

function listed({ id, name, creationDate, updateDate, type, tags }: DocumentContext) {
  return { id, name, creationDate, updateDate, type, tags };
}

export function documentItem(document: DocumentActor, folder: FolderView | null): DocumentListItem {
  return { ...listed(document.context), status: statusOf(document), folder };
}

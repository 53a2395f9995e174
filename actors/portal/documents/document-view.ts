/** A document as clients read it. Source: docs/portal-values.md §7. */
import { shownProperties } from '../../../contracts/portal/document-properties.ts';
import type { DocumentListItem, DocumentView } from '../../../contracts/portal/documents.ts';
import type { Principal } from '../../../contracts/portal/entities.ts';
import { confirmationFlags, type FlowActionView } from '../../../contracts/portal/flow.ts';
import { isoDayEndingAt } from '../../../contracts/times.ts';
import type { DocumentId } from '../../../machines/ids.ts';
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import { hiddenFields } from '../../../machines/portal/documents/flow-conditions.ts';
import type { DocumentField } from '../../../machines/portal/field-values.ts';
import type { Attachment, CompletedAction, FlowAction } from '../../../machines/portal/portal-types.ts';
import { type DocumentActor, statusOf } from '../document-records/document-index.ts';
import { hasSignature } from '../document-records/document-reader.ts';
import type { FolderView } from '../folders/folders.ts';

/** The wire has no kinds of ids. */
export interface Identified {
  readonly id: DocumentId;
}

/** Encoders of replies leave out what no reply shows. @param identifier of its organization */
export function documentView(
  document: DocumentActor,
  folder: FolderView | null,
  identifier: string | undefined,
): DocumentView & Identified {
  const { context } = document;
  const { file } = context;
  const status = statusOf(document);
  const isDeleted = document.state === 'Deleted';
  return {
    ...context,
    ...shownProperties(context),
    status,
    filename: file.name,
    fileSize: file.blob.length,
    mimeType: file.contentType,
    checksumMd5: file.md5,
    hasSignature: hasSignature(context),
    isConcluded: status === 'Concluded',
    isDeleted,
    isScanned: false,
    organization: { ...context.organization, identifier: identifier ?? null, owner: null },
    folder,
    expirationDateWithoutTime: isoDayEndingAt(context.expirationDate),
    attachments: context.attachments.map((one) => attachmentView(one, context.createdBy)),
    permissions: { move: !isDeleted, editFlow: status === 'Pending' && !isDeleted },
    securityContext: null,
    hideDownloadOptionForPendingDocuments: false,
    flowActions: context.actions.map((action) =>
      flowActionView(
        action,
        context,
        context.made.find((one) => one.flowActionId === action.id),
      ),
    ),
    reminders: context.reminders ?? null,
    template: context.template ?? null,
    warnings: [...(file.warnings ?? [])],
  };
}

export function documentItem(
  document: DocumentActor,
  folder: FolderView | null,
): DocumentListItem & Identified {
  const { id, name, creationDate, updateDate, type, tags, externalId = null } = document.context;
  return { id, name, creationDate, updateDate, type, tags, externalId, status: statusOf(document), folder };
}

function attachmentView(
  { id, file, creationDate, isPrivate, signatures, fieldId }: Attachment,
  createdBy: Principal,
): DocumentView['attachments'][number] {
  return {
    id,
    name: file.displayName,
    filename: file.name,
    fileSize: file.blob.length,
    mimeType: file.contentType,
    creationDate,
    // An attachment never changes.
    updateDate: creationDate,
    createdBy,
    isPrivate,
    signaturesNotInEnvelope: signatures ?? null,
    fieldId,
  };
}

/** @param acted what its participant has done, of several the first */
function flowActionView(
  action: FlowAction,
  document: DocumentContext,
  acted: CompletedAction | undefined,
): FlowActionView {
  const deputy = acted?.evidence?.deputy;
  const values = new Map(acted?.values?.map(({ fieldId, value }) => [fieldId, value]));
  const hidden = acted && hiddenFields(document, action, acted.values);
  return {
    ...action,
    signRuleUsers: action.ruleUsers,
    allowPassingOn: action.allowPassingOn === true,
    passedOn: action.passedOn ?? [],
    ...(deputy && { deputy: { name: deputy.name, email: deputy.email, reason: deputy.reason } }),
    ...confirmationFlags((confirmation) => action.confirmations.includes(confirmation)),
    requireEmailAuthenticationToSignElectronically:
      action.allowElectronicSignature && !action.disableEmailAuthentication,
    disableEmailAuthenticationToSignElectronically: action.disableEmailAuthentication,
    requiredCertificateTypeToSign: action.requiredCertificateType,
    requiredCertificateHolderTypeToSign: action.requiredCertificateHolder,
    signatureInitialsMode: action.initialsMode,
    fields: action.fields?.map((field) =>
      fieldView(field, values.get(field.id) ?? null, hidden?.includes(field)),
    ),
  };
}

function fieldView(
  field: DocumentField,
  value: string | null,
  hidden: boolean | undefined,
): NonNullable<FlowActionView['fields']>[number] {
  const { place } = field;
  return {
    ...field,
    value,
    required: field.isRequired,
    topLeftX: place?.topLeftX ?? null,
    topLeftY: place?.topLeftY ?? null,
    width: place?.width ?? null,
    height: place?.height ?? null,
    pageNumber: place?.pageNumber ?? null,
    presetValue: field.presetValue ?? null,
    readOnly: field.isReadOnly === true,
    ...(field.shownWhen && hidden !== undefined && { hidden }),
  };
}

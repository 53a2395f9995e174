/** A document as clients read it. Source: docs/portal-values.md §7. */
import type { DocumentListItem, DocumentView } from '../../../contracts/portal/documents.ts';
import type { Principal } from '../../../contracts/portal/entities.ts';
import type { FlowActionView } from '../../../contracts/portal/flow.ts';
import { forKept } from '../../../contracts/portal/kept-members.ts';
import { isoDay } from '../../../contracts/times.ts';
import type { DocumentId } from '../../../machines/ids.ts';
import type { DocumentField } from '../../../machines/portal/field-values.ts';
import type { Attachment, FlowAction } from '../../../machines/portal/portal-types.ts';
import { type DocumentActor, statusOf } from '../document-records/document-index.ts';
import { hasSignature } from '../document-records/document-reader.ts';
import type { FolderView } from '../folders/folders.ts';

/** The wire has no kinds of ids. */
export interface Identified {
  readonly id: DocumentId;
}

/** @param identifier of its organization */
export function documentView(
  document: DocumentActor,
  folder: FolderView | null,
  identifier: string | undefined,
): DocumentView & Identified {
  const { context } = document;
  const { file, processingError } = context;
  const status = statusOf(document);
  const isDeleted = document.state === 'Deleted';
  const values = new Map(
    context.made.flatMap((one) => (one.values ?? []).map(({ fieldId, value }) => [fieldId, value] as const)),
  );
  return {
    id: context.id,
    name: context.name,
    status,
    key: context.key,
    filename: file.name,
    fileSize: file.blob.length,
    mimeType: file.contentType,
    checksumMd5: file.md5,
    hasSignature: hasSignature(context),
    isConcluded: status === 'Concluded',
    isDeleted,
    isEnvelope: context.isEnvelope,
    isScanned: false,
    creationDate: context.creationDate,
    updateDate: context.updateDate,
    createdBy: context.createdBy,
    organization: {
      id: context.organization.id,
      name: context.organization.name,
      identifier: identifier ?? null,
      owner: null,
    },
    folder,
    statusUpdatedBy: context.statusUpdatedBy,
    statusUpdateReason: context.statusUpdateReason,
    description: context.description,
    expirationDate: context.expirationDate,
    expirationDateWithoutTime: isoDay(context.expirationDate),
    observers: context.observers,
    attachments: context.attachments.map((one) => attachmentView(one, context.createdBy)),
    notifiedEmails: context.notifiedEmails,
    permissions: { move: !isDeleted, editFlow: status === 'Pending' && !isDeleted },
    forceCadesSignature: context.forceCadesSignature,
    tags: context.tags,
    type: context.type,
    signatureType: context.signatureType,
    securityContext: null,
    requireReading: context.requireReading === true,
    hideDownloadOptionForPendingDocuments: false,
    flowActions: context.actions.map((action) => flowActionView(action, values)),
    reminders: context.reminders ?? null,
    template: context.template ?? null,
    processingError,
    warnings: [...(file.warnings ?? [])],
    ...forKept((name) => context[name] ?? null),
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

/** @param values of the fields, by id of field */
function flowActionView(action: FlowAction, values: ReadonlyMap<string, string>): FlowActionView {
  const { confirmations } = action;
  return {
    id: action.id,
    type: action.type,
    status: action.status,
    step: action.step,
    user: action.user,
    title: action.title,
    allowElectronicSignature: action.allowElectronicSignature,
    creationDate: action.creationDate,
    updateDate: action.updateDate,
    pendingDate: action.pendingDate,
    refusalReason: action.refusalReason,
    isElectronic: action.isElectronic,
    marks: action.marks,
    ruleName: action.ruleName,
    numberRequiredSignatures: action.numberRequiredSignatures,
    allowRuleFlowToContinueIfRefused: action.allowRuleFlowToContinueIfRefused,
    signRuleUsers: action.ruleUsers,
    requireSmsAuthenticationToSignElectronically: confirmations.includes('Sms'),
    requireWhatsappAuthenticationToSignElectronically: confirmations.includes('Whatsapp'),
    requireAuthenticatorAppToSignElectronically: confirmations.includes('AuthenticatorApp'),
    requireSelfieAuthenticationToSignElectronically: confirmations.includes('Selfie'),
    requireDatavalidAuthenticationToSignElectronically: confirmations.includes('Datavalid'),
    requirePixAuthenticationToSignElectronically: confirmations.includes('Pix'),
    requireLivenessAuthenticationToSignElectronically: confirmations.includes('Liveness'),
    requireIdScanAuthenticationToSignElectronically: confirmations.includes('IdScan'),
    requireEmailAuthenticationToSignElectronically:
      action.allowElectronicSignature && !action.disableEmailAuthentication,
    disableEmailAuthenticationToSignElectronically: action.disableEmailAuthentication,
    requiredCertificateTypeToSign: action.requiredCertificateType,
    requiredCertificateHolderTypeToSign: action.requiredCertificateHolder,
    requireCompanyCertificate: action.requireCompanyCertificate,
    requiredCompanyIdentifier: action.requiredCompanyIdentifier,
    signatureInitialsMode: action.initialsMode,
    fields: action.fields?.map((field) => fieldView(field, values.get(field.id) ?? null)),
  };
}

function fieldView(
  field: DocumentField,
  value: string | null,
): NonNullable<FlowActionView['fields']>[number] {
  const { id, name, type, label, place, formField, maxLength, format, minimum, maximum, options } = field;
  return {
    id,
    name,
    type,
    label,
    formField,
    maxLength,
    format,
    minimum,
    maximum,
    options,
    value,
    required: field.isRequired,
    topLeftX: place?.topLeftX ?? null,
    topLeftY: place?.topLeftY ?? null,
    width: place?.width ?? null,
    height: place?.height ?? null,
    pageNumber: place?.pageNumber ?? null,
    presetValue: field.presetValue ?? null,
    readOnly: field.isReadOnly === true,
  };
}

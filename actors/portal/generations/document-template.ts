/** The creation request of a template that is made of a document. Source: docs/decisions/0120-templates.md. */
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import { isRule } from '../../../machines/portal/documents/document-flow.ts';
import { withoutOrigin } from '../../../machines/portal/documents/tagged-content.ts';
import type { DocumentField } from '../../../machines/portal/field-values.ts';
import type { FileEntry, FlowAction, Mark, Participant } from '../../../machines/portal/portal-types.ts';
import { roleKey } from '../saved-requests/flow-roles.ts';

/** Ids of the uploads that hold the files of the document for its template. */
export interface TemplateUploads {
  readonly file: string;
  /** By id of attachment. */
  readonly attachments: ReadonlyMap<string, string>;
}

/** Returns the body of `POST /api/documents`: flow, fields and settings without people, values and dates. */
export function requestOfDocument(document: DocumentContext, uploads: TemplateUploads): object {
  const { description, tags, type, signatureType, forceCadesSignature, timestampEnabled } = document;
  const { disableNotifications, xmlNamespaces, reminders, requireReading } = document;
  const attachments = document.attachments.flatMap(({ id, file, isPrivate }) => {
    const upload = uploads.attachments.get(id);
    return upload === undefined ? [] : [{ ...fileInput(file, upload), isPrivate }];
  });
  return {
    files: [{ ...fileInput(document.file, uploads.file), displayName: document.name }],
    flowActions: withTitles(document.actions).map((action) => actionInput(action, uploads.file)),
    ...(attachments.length > 0 && { attachments }),
    ...(tags.length > 0 && { tags: tags.map(({ label, value }) => ({ label, value })) }),
    description,
    type,
    signatureType,
    forceCadesSignature,
    timestampEnabled,
    disableNotifications,
    ...(xmlNamespaces !== undefined && { xmlNamespaces }),
    ...(reminders !== undefined && { reminders }),
    ...(requireReading && { requireReading }),
  };
}

function fileInput({ displayName, name, contentType }: FileEntry, id: string) {
  return { id, displayName, name, contentType };
}

type TitledAction = FlowAction & { readonly title: string | null };

/**
 * Gives each action of a person a title, which is its role: its own, or the type and a number. Actions of one person with
 * one title share the role; those of different people get different roles.
 */
function withTitles(actions: readonly FlowAction[]): readonly TitledAction[] {
  const owners = new Map<string, string>();
  return actions.map((action, index) => {
    if (action.user === null) return action;
    const owner = ownerOf(action.user);
    const wanted = action.title?.trim() || `${action.type} ${index + 1}`;
    let title = wanted;
    for (let number = 2; (owners.get(roleKey(title)) ?? owner) !== owner; number += 1)
      title = `${wanted} ${number}`;
    owners.set(roleKey(title), owner);
    return { ...action, title };
  });
}

function ownerOf({ email, identifier, id }: Participant): string {
  return (email ?? identifier ?? id).toLowerCase();
}

/** Members of rules have no roles and stay. */
function actionInput(action: TitledAction, uploadId: string): object {
  const { type, step, title, ruleName, ruleUsers, numberRequiredSignatures, marks, fields = [] } = action;
  return {
    type,
    step,
    title,
    allowElectronicSignature: action.allowElectronicSignature,
    ...(action.allowPassingOn === true && { allowPassingOn: true }),
    prePositionedMarks: marks.map((mark) => markInput(mark, uploadId)),
    ...(isRule(action) && {
      ruleName,
      numberRequiredSignatures,
      allowRuleFlowToContinueIfRefused: action.allowRuleFlowToContinueIfRefused,
      signRuleUsers: ruleUsers.map(({ name, identifier, email, phone, language }) => ({
        name,
        identifier,
        email,
        phone,
        ...(language && { language }),
      })),
    }),
    requiredCertificateTypeToSign: action.requiredCertificateType,
    requiredCertificateHolderTypeToSign: action.requiredCertificateHolder,
    requireCompanyCertificate: action.requireCompanyCertificate,
    requiredCompanyIdentifier: action.requiredCompanyIdentifier,
    signatureInitialsMode: action.initialsMode,
    ...(action.takesPartWhen && { takesPartWhen: action.takesPartWhen }),
    ...(action.xadesOptions !== null && { xadesOptions: action.xadesOptions }),
    ...(fields.length > 0 && { fields: fields.map((field) => fieldInputOf(field, uploadId)) }),
  };
}

function markInput(mark: Mark, uploadId: string): object {
  return { ...withoutOrigin(mark), uploadId };
}

function fieldInputOf(field: DocumentField, uploadId: string): object {
  const { name, type, label, isRequired, place, formField, maxLength, format, minimum, maximum } = field;
  return {
    name,
    type,
    label,
    required: isRequired,
    maxLength,
    format,
    minimum,
    maximum,
    uploadId,
    ...(field.options.length > 0 && { options: field.options }),
    ...(formField === null ? place : { formField }),
    ...(field.isReadOnly === true && { readOnly: true }),
    ...(field.shownWhen && { shownWhen: field.shownWhen }),
    ...(field.requiredWhen && { requiredWhen: field.requiredWhen }),
  };
}

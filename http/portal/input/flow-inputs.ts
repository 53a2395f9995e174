/**
 * Schemas of the larger request members: files, participants, marks, flow actions, documents.
 *
 * Source: docs/portal-values.md §§5, 6, 14 and 15.
 */

import { z } from 'zod';
import type { CreateDocuments, FlowActionInput } from '../../../actors/portal/api.ts';
import {
  anyText,
  day,
  flag,
  list,
  map,
  maybeFlag,
  maybeText,
  maybeUuid,
  members,
  number,
  REQUIRED,
  text,
  textUpTo,
  uuid,
  whole,
  wholeFrom,
  word,
} from '../../../contracts/fields.ts';
import { isBlank } from '../../../contracts/plain-text.ts';
import { newReminders } from '../../../contracts/portal/reminders.ts';
import { FIELD_FORMATS, FIELD_TYPES } from '../../../machines/portal/field-values.ts';
import { ACTION_TYPES } from '../../../machines/portal/portal-types.ts';
import { CONFIRMATION_FLAG_NAMES, CONFIRMATION_FLAGS, forEachFlag } from '../shapes/flow-actions.ts';
import {
  CERTIFICATE_TYPES,
  DOCUMENT_TYPES,
  HOLDER_TYPES,
  INITIALS_MODES,
  MARK_TYPES,
  SIGNATURE_TYPES,
  XADES_IDENTIFIERS,
  XADES_INSERTIONS,
  XADES_TYPES,
} from './enumerations.ts';

/** A file of an upload; all four are required. */
export const fileInput = members({ displayName: text, id: uuid, name: text, contentType: text });

/** The same without a display name. */
export const fileReference = members({ id: uuid, name: text, contentType: text });

export const participantInput = members({
  id: maybeUuid,
  name: maybeText,
  identifier: maybeText,
  email: maybeText,
  phone: maybeText,
});

export const observerInput = members({ user: participantInput });

export const markInput = members({
  type: word(MARK_TYPES).nullish(),
  uploadId: maybeText,
  topLeftX: number,
  topLeftY: number,
  width: number,
  height: number,
  pageNumber: whole.nullish(),
  fontSize: number.nullish(),
});

/** A value of a field, which its rules check. */
const fieldValue = z.union([anyText, number, flag], { error: 'must be a string, a number, true or false' });

const fieldInput = members({
  name: textUpTo(100).refine((given) => !isBlank(given), { error: REQUIRED }),
  type: word(FIELD_TYPES).nullish(),
  label: maybeText,
  required: maybeFlag,
  uploadId: maybeText,
  topLeftX: number.nullish(),
  topLeftY: number.nullish(),
  width: number.nullish(),
  height: number.nullish(),
  pageNumber: whole.nullish(),
  formField: maybeText,
  maxLength: whole.nullish(),
  format: word(FIELD_FORMATS).nullish(),
  minimum: number.nullish(),
  maximum: number.nullish(),
  options: list(text, { most: 100 }).nullish(),
  value: fieldValue.nullish().describe('Filled in by the sender; the participant may change it.'),
  readOnly: maybeFlag.describe('True: the participant cannot change the value.'),
});

const xadesOptions = members({
  signatureType: word(XADES_TYPES).nullish(),
  elementToSignIdentifierType: word(XADES_IDENTIFIERS).nullish(),
  elementToSignIdentifier: maybeText,
  insertionOption: word(XADES_INSERTIONS).nullish(),
  disableXPathTransformation: flag.nullish(),
}).transform(({ signatureType, disableXPathTransformation, ...rest }) => ({
  ...(signatureType !== null && signatureType !== undefined && { signatureType }),
  elementToSignIdentifierType: rest.elementToSignIdentifierType ?? null,
  elementToSignIdentifier: rest.elementToSignIdentifier ?? null,
  insertionOption: rest.insertionOption ?? null,
  disableXPathTransformation: disableXPathTransformation ?? false,
}));

export const flowActionInput = members({
  type: word(ACTION_TYPES).nullish(),
  step: whole.nullish(),
  user: participantInput.nullish(),
  title: maybeText,
  allowElectronicSignature: maybeFlag,
  prePositionedMarks: list(markInput).nullish(),
  ruleName: maybeText,
  numberRequiredSignatures: whole.nullish(),
  signRuleUsers: list(participantInput).nullish(),
  allowRuleFlowToContinueIfRefused: maybeFlag,
  ...forEachFlag(() => maybeFlag),
  disableEmailAuthenticationToSignElectronically: maybeFlag,
  requiredCertificateTypeToSign: word(CERTIFICATE_TYPES).nullish(),
  requiredCertificateHolderTypeToSign: word(HOLDER_TYPES).nullish(),
  requireCompanyCertificate: maybeFlag,
  requiredCompanyIdentifier: maybeText,
  signatureInitialsMode: word(INITIALS_MODES).nullish(),
  xadesOptions: xadesOptions.nullish(),
  fields: list(fieldInput, { most: 100 }).nullish(),
}).transform((given): FlowActionInput => {
  const confirmations = CONFIRMATION_FLAG_NAMES.filter((name) => given[name] === true);
  return { ...given, confirmations: confirmations.map((name) => CONFIRMATION_FLAGS[name]) };
});

const textMap = map(anyText.nullable(), 'must be a map of texts');

export const additionalInfo = members({
  fields: textMap.nullish(),
  metadata: textMap.nullish(),
  healthData: members({
    professional: members({ id: maybeText, region: maybeText }).nullish(),
    items: list(members({ name: maybeText, description: maybeText, description2: maybeText })).nullish(),
  }).nullish(),
});

const upload = members({ id: maybeUuid, name: maybeText, contentType: maybeText });

/** Members that are accepted and ignored are validated too: a wrong type is a mistake of the client. */
const creationMembers = {
  isEnvelope: maybeFlag,
  envelopeName: maybeText,
  disablePendingActionNotifications: maybeFlag,
  disableNotifications: maybeFlag,
  description: maybeText,
  folderId: maybeUuid,
  newFolderName: maybeText,
  expirationDate: day.nullish(),
  observers: list(observerInput).nullish(),
  attachments: list(
    members({ displayName: text, id: uuid, name: text, contentType: text, isPrivate: maybeFlag }),
  ).nullish(),
  notifiedEmails: list(text).nullish(),
  tags: list(members({ label: maybeText, value: text })).nullish(),
  additionalInfo: additionalInfo.nullish(),
  forceCadesSignature: maybeFlag,
  xmlNamespaces: list(members({ prefix: maybeText, uri: maybeText })).nullish(),
  participantsDataFile: upload.nullish(),
  timestampEnabled: maybeFlag,
  signatureType: word(SIGNATURE_TYPES).nullish(),
  type: word(DOCUMENT_TYPES).nullish(),
  externalId: maybeText,
  reminders: newReminders.nullish().describe('Left out: the reminders of the organization.'),
  securityContextId: maybeUuid,
  templateId: maybeUuid,
  templateFieldValues: map(z.unknown()).nullish(),
  textTags: maybeFlag,
};

export const createDocumentsInput = members({
  files: list(fileInput, { least: 1 }),
  flowActions: list(flowActionInput, { least: 1 }),
  ...creationMembers,
}).transform(
  ({
    participantsDataFile: _participants,
    securityContextId: _context,
    templateId: _template,
    templateFieldValues: _values,
    ...request
  }): CreateDocuments => request,
);

const rolesInput = list(
  members({
    role: textUpTo(500).describe('Title of the flow actions that this person takes, in any case.'),
    user: participantInput,
  }),
  { most: 100 },
).nullish();

const fieldValuesInput = map(fieldValue.nullable())
  .nullish()
  .describe('Values by name of field; participants may change those of fields that are not read-only.');

/** A creation request whose flow actions are those of a saved flow. */
export const savedFlowDocumentsInput = members({
  files: list(fileInput, { least: 1 }),
  participants: rolesInput,
  ...creationMembers,
  fieldValues: fieldValuesInput,
});

/** A creation request of a template: its members replace those of the template. */
const templateMembers = {
  ...creationMembers,
  version: wholeFrom(1, 1_000_000).nullish().describe('Version of the template; left out: the newest.'),
  documentName: maybeText.describe('Name of the document, which mails have in their subject.'),
};

function templateRequest({
  version,
  documentName,
  participantsDataFile: _participants,
  securityContextId: _context,
  templateId: _template,
  templateFieldValues: _values,
  ...properties
}: z.output<z.ZodObject<typeof templateMembers>>) {
  return { version: version ?? null, documentName: documentName ?? null, properties };
}

export const templateGenerationInput = members({
  dataFile: fileReference,
  skipRefusedRows: maybeFlag.describe(
    'True: rows that are refused become no documents, and the others do. Otherwise one such row refuses the call.',
  ),
  ...templateMembers,
}).transform(({ dataFile, skipRefusedRows, ...given }) => ({
  ...templateRequest(given),
  dataFile,
  skipRefusedRows: skipRefusedRows === true,
}));

export const templateDocumentsInput = members({
  participants: rolesInput,
  fieldValues: fieldValuesInput,
  ...templateMembers,
}).transform(({ participants, fieldValues, ...given }) => ({
  ...templateRequest(given),
  participants: participants ?? [],
  fieldValues: fieldValues ?? {},
}));

/** A creation request that is kept, and may still lack files and flow actions. */
export const draftedDocumentsInput = members({
  files: list(fileInput).nullish(),
  flowActions: list(flowActionInput).nullish(),
  ...creationMembers,
});

const versionMarks = list(
  members({ flowActionId: uuid, prePositionedDocumentMarks: list(markInput) }),
).nullish();

const versionTags = maybeFlag.describe(
  'Whether tags in the text of the new file place marks and fields, in place of those that tags have placed before. Default false: all places stay.',
);

export const newVersionInput = members({
  file: fileInput,
  disablePendingActionNotifications: maybeFlag,
  additionalInfo: additionalInfo.nullish(),
  prePositionedMarks: versionMarks,
  textTags: versionTags,
});

export const newEnvelopeVersionInput = members({
  files: list(fileInput, { least: 1 }),
  envelopeName: maybeText,
  disablePendingActionNotifications: maybeFlag,
  additionalInfo: additionalInfo.nullish(),
  prePositionedMarks: versionMarks,
  textTags: versionTags,
});

export const flowEditInput = members({
  addedFlowActions: list(flowActionInput).nullish(),
  editedFlowActions: list(
    members({
      flowActionId: uuid,
      step: whole.nullish(),
      participantEmailAddress: maybeText,
      ruleName: maybeText,
      title: maybeText,
      signRuleUsers: list(members({ userId: uuid, emailAddress: text })).nullish(),
      prePositionedMarks: list(markInput).nullish(),
      signatureInitialsMode: word(INITIALS_MODES).nullish(),
      fields: list(fieldInput, { most: 100 }).nullish(),
    }),
  ).nullish(),
  deletedFlowActionIds: list(uuid).nullish(),
  addedObservers: list(observerInput).nullish(),
  editedObservers: list(members({ observerId: uuid, emailAddress: text })).nullish(),
  deletedObserverIds: list(uuid).nullish(),
});

/**
 * The larger parts of requests: files, participants, marks, flow actions, documents.
 *
 * Source: portal-gaps §§5, 6, 14 and 15.
 */
import { z } from 'zod';
import type { CreateDocuments, FlowActionInput } from '../../actors/portal/api.ts';
import { ACTION_TYPES } from '../../machines/portal-words.ts';
import {
  day,
  flag,
  list,
  maybeFlag,
  maybeText,
  maybeUuid,
  members,
  number,
  text,
  uuid,
  whole,
  word,
} from './fields.ts';
import { CONFIRMATION_FLAG_NAMES, CONFIRMATION_FLAGS, forEachFlag } from './shapes/flow-actions.ts';
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
} from './words.ts';

/** A file of an upload; all four are required. */
const fileInput = members({ displayName: text, id: uuid, name: text, contentType: text });

/** The same where nothing is named after it. */
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
}).transform((given): FlowActionInput => {
  const confirmations = CONFIRMATION_FLAG_NAMES.filter((name) => given[name] === true);
  return { ...given, confirmations: confirmations.map((name) => CONFIRMATION_FLAGS[name]) };
});

const textMap = z.record(z.string(), z.string().nullable(), { error: 'must be a map of texts' });

export const additionalInfo = members({
  fields: textMap.nullish(),
  metadata: textMap.nullish(),
  healthData: members({
    professional: members({ id: maybeText, region: maybeText }).nullish(),
    items: list(members({ name: maybeText, description: maybeText, description2: maybeText })).nullish(),
  }).nullish(),
});

const upload = members({ id: maybeUuid, name: maybeText, contentType: maybeText });

/** Members that are accepted and mean nothing here are checked all the same: a wrong type is a mistake. */
export const createDocumentsInput = members({
  files: list(fileInput).min(1, { error: 'must have at least one item' }),
  flowActions: list(flowActionInput).min(1, { error: 'must have at least one item' }),
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
  securityContextId: maybeUuid,
  templateId: maybeUuid,
  templateFieldValues: z.record(z.string(), z.unknown()).nullish(),
}).transform(
  ({
    participantsDataFile: _participants,
    securityContextId: _context,
    templateId: _template,
    templateFieldValues: _values,
    ...request
  }): CreateDocuments => request,
);

const versionMarks = list(
  members({ flowActionId: uuid, prePositionedDocumentMarks: list(markInput) }),
).nullish();

export const newVersionInput = members({
  file: fileInput,
  disablePendingActionNotifications: maybeFlag,
  additionalInfo: additionalInfo.nullish(),
  prePositionedMarks: versionMarks,
});

export const newEnvelopeVersionInput = members({
  files: list(fileInput).min(1, { error: 'must have at least one item' }),
  envelopeName: maybeText,
  disablePendingActionNotifications: maybeFlag,
  additionalInfo: additionalInfo.nullish(),
  prePositionedMarks: versionMarks,
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
    }),
  ).nullish(),
  deletedFlowActionIds: list(uuid).nullish(),
  addedObservers: list(observerInput).nullish(),
  editedObservers: list(members({ observerId: uuid, emailAddress: text })).nullish(),
  deletedObserverIds: list(uuid).nullish(),
});

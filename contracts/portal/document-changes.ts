/**
 * Changes of a document during its flow: its files, the flow itself, the recipients of the final mail.
 *
 * Source: docs/portal-values.md §§14 and 15.
 */

import { z } from 'zod';
import { id, list, maybeFlag, maybeText, members, shown, text, uuid } from '../fields.ts';
import type { Value } from '../operation.ts';
import { actionId, participant } from './entities.ts';
import { FILE, SIGNER } from './examples.ts';
import { flowActionMembers, newField, newFile, newFlowAction, newMark, newObserver } from './flow.ts';
import { documentParams } from './ids.ts';
import {
  creationMembers,
  envelopeFiles,
  FEW_ACTIONS,
  FEW_NOTIFIED_EMAILS,
  FEW_OBSERVERS,
} from './new-documents.ts';
import { operationsOf } from './operation.ts';
import { UNKNOWN_DOCUMENT, UNKNOWN_FILES } from './refusals.ts';

const { prePositionedMarks, ruleName, signatureInitialsMode, step, title } = flowActionMembers;
const { additionalInfo, disablePendingActionNotifications, envelopeName } = creationMembers;

const versionMarks = list(
  members({
    flowActionId: actionId,
    prePositionedDocumentMarks: list(newMark).describe(
      'Places of signature and initials of this action in the new file.',
    ),
  }),
)
  .nullish()
  .describe(
    'Places of signature and initials, at most 1,000. Absent: the participant chooses, or the end of the document.',
  );

const emailAddress = shown(text, 'E-mail address of the participant.', 'ana@example.com');

const versionTags = maybeFlag.describe(
  'Whether tags in the text of the new file place marks and fields, in place of those that tags have placed before. Default false: all places stay.',
);

const newVersion = members({
  file: newFile.describe('Upload that replaces the file of the document.'),
  disablePendingActionNotifications,
  additionalInfo,
  prePositionedMarks: versionMarks,
  textTags: versionTags,
}).meta({ id: 'NewVersion' });

const newEnvelopeVersion = members({
  files: envelopeFiles,
  envelopeName,
  disablePendingActionNotifications,
  additionalInfo,
  prePositionedMarks: versionMarks,
  textTags: versionTags,
}).meta({ id: 'NewEnvelopeVersion' });

const flowEdit = members({
  addedFlowActions: list(newFlowAction, FEW_ACTIONS)
    .nullish()
    .describe('Actions to add, at the pending step or a later one. At most 30 signing participants in all.'),
  editedFlowActions: list(
    members({
      flowActionId: actionId,
      step,
      participantEmailAddress: shown(
        maybeText,
        'New e-mail address of the participant. The old link stops working.',
        'ana.silva@example.com',
      ),
      ruleName,
      title,
      signRuleUsers: list(
        members({
          userId: shown(
            uuid,
            'Person of a rule who acts. Required with a key for rules; otherwise ignored.',
            '5d7e1f0a-2b3c-4d9b-af7c-1e4d3a4f6b8c',
          ),
          emailAddress,
        }),
      )
        .nullish()
        .describe(
          'People of a rule, any of whom may act until enough have. Required for `SignRule` and `ApproverRule`.',
        ),
      prePositionedMarks,
      signatureInitialsMode,
      fields: list(newField, { most: 100 })
        .nullish()
        .describe(
          'Fields in place of those of the action; an empty list removes them. Refused with `FieldsNotEditable` after a signature with a certificate. Left out: they stay.',
        ),
    }),
  )
    .nullish()
    .describe('Changes of actions that are not completed. Members that are left out stay as they are.'),
  deletedFlowActionIds: shown(list(uuid).nullish(), 'Actions to remove. Completed ones cannot be removed.', [
    '5d7e1f0a-2b3c-4d9b-af7c-1e4d3a4f6b8c',
  ]),
  addedObservers: list(newObserver, FEW_OBSERVERS)
    .nullish()
    .describe('People who are notified about the document from now on.'),
  editedObservers: list(
    members({
      observerId: uuid.describe('Observer whose address changes.'),
      emailAddress,
    }),
  )
    .nullish()
    .describe('New addresses of observers. The link of the old address stops working.'),
  deletedObserverIds: shown(list(uuid).nullish(), 'Observers to remove. Their links stop working.', [
    '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  ]),
}).meta({ id: 'FlowEdit' });

export type NewVersion = Value<typeof newVersion>;
export type NewEnvelopeVersion = Value<typeof newEnvelopeVersion>;
export type FlowEdit = Value<typeof flowEdit>;

const notifiedEmails = members({
  emails: shown(list(text, FEW_NOTIFIED_EMAILS), 'E-mail addresses.', ['ana@example.com']),
}).meta({ id: 'NotifiedEmails' });

const rectified = z.strictObject({
  rectifiedParticipants: z
    .array(
      z.strictObject({
        userId: shown(
          id,
          'Person of a rule who acts. Required with a key for rules; otherwise ignored.',
          '5d7e1f0a-2b3c-4d9b-af7c-1e4d3a4f6b8c',
        ),
        requested: participant.describe('Participant as the request had it.'),
        rectified: participant.describe('Participant as stored.'),
      }),
    )
    .describe(
      'Participants whose data differ from the request, because the person is known with other data.',
    ),
});

const operation = operationsOf({ group: 'Documents' });

export const replaceFile = operation('POST /api/documents/{id}/versions', {
  summary: 'Replaces the file of a document and restarts its flow.',
  description:
    'For documents of one file that are Pending or Refused (otherwise `InvalidDocumentStatus`); envelopes have `envelope/versions`. Id and validation key stay, earlier signatures are dropped, and all actions start again. Unless `disablePendingActionNotifications` is true, the participants of the first step are notified by e-mail, and, if the service is configured so, those whose turn had come before; observers are notified in both cases. `InvalidTextTag`: `textTags` is true, and a tag of the file cannot be used.',
  scope: 'Create',
  folderKeys: true,
  params: documentParams,
  body: newVersion,
  largeBody: true,
  reply: 'empty',
  examples: { request: { file: FILE } },
  refusals: [
    ...UNKNOWN_DOCUMENT,
    ...UNKNOWN_FILES,
    'FlowActionNotFound',
    'InvalidFlowAction',
    'InvalidTextTag',
    'InvalidDocumentStatus',
    'LegalHold',
    'LimitExceeded',
  ],
});

export const replaceEnvelope = operation('POST /api/documents/{id}/envelope/versions', {
  summary: 'Replaces the files of an envelope and restarts its flow.',
  description:
    'For envelopes that are Pending or Refused (otherwise `InvalidDocumentStatus`). Id and validation key stay, earlier signatures are dropped, and all actions start again. E-mails are sent as for `POST /api/documents/{id}/versions`. `EnvelopeFileSigned`: the organization refuses files that have signatures already; `InvalidTextTag`: `textTags` is true, and a tag of a file cannot be used.',
  scope: 'Create',
  folderKeys: true,
  params: documentParams,
  body: newEnvelopeVersion,
  largeBody: true,
  reply: 'empty',
  examples: { request: { files: [FILE], envelopeName: 'Contract and annexes' } },
  refusals: [
    ...UNKNOWN_DOCUMENT,
    ...UNKNOWN_FILES,
    'FlowActionNotFound',
    'InvalidFlowAction',
    'InvalidTextTag',
    'EnvelopeFileSigned',
    'InvalidDocumentStatus',
    'LegalHold',
    'LimitExceeded',
  ],
});

export const editFlow = operation('POST /api/documents/{id}/flow', {
  summary: 'Changes the flow of a pending document.',
  description:
    'Adds, changes and deletes observers, and actions that are not completed. New actions have the pending step or a later one; participants who are added to the pending step are notified by e-mail at once. Either the whole change is made or none of it. `InvalidFlowAction`: an action is completed or not valid; `FieldsNotEditable`: the file takes no new fields; `InvalidDocumentStatus`: the document is not Pending.',
  scope: 'Create',
  folderKeys: true,
  params: documentParams,
  body: flowEdit,
  largeBody: true,
  reply: rectified,
  examples: {
    request: {
      addedFlowActions: [{ ...SIGNER, step: 2, user: { name: 'Lou Lima', email: 'lou@example.com' } }],
    },
  },
  refusals: [
    ...UNKNOWN_DOCUMENT,
    'FieldsNotEditable',
    'FlowActionNotFound',
    'InvalidFieldValue',
    'InvalidFlowAction',
    'InvalidIdentifier',
    'InvalidDocumentStatus',
    'LimitExceeded',
  ],
});

export const notifyOfConclusion = operation('PUT /api/documents/{id}/notified-emails', {
  summary: 'Replaces the addresses that are notified when the document is concluded.',
  description:
    'At most 100 addresses; an empty list removes all. Possible in every status, but the e-mail is sent only at the conclusion. An address that is not valid is refused with `InvalidFlowAction`.',
  scope: 'Create',
  folderKeys: true,
  params: documentParams,
  body: notifiedEmails,
  reply: 'empty',
  examples: { request: { emails: ['archive@example.com'] } },
  refusals: [...UNKNOWN_DOCUMENT, 'InvalidFlowAction', 'LimitExceeded', 'InvalidDocumentStatus'],
});

/** Payloads of the webhooks of the portal. Source: docs/webhooks.md; docs/portal-values.md §19. */

import { z } from 'zod';
import { entity, id, part, shown, time } from '../../fields.ts';
import { webhookProperties } from '../document-properties.ts';
import { tag } from '../documents.ts';
import {
  creationDate,
  creator,
  expirationDay,
  folder,
  nationalNumber,
  principal,
  recordNames,
  updateDate,
} from '../entities.ts';
import { EXAMPLE_IDS, REASON } from '../examples.ts';
import type { EventType } from './webhooks.ts';

const actionId = id.nullable().meta({ exampleValue: EXAMPLE_IDS.flowAction });

/** The document of an event. */
const common = {
  id: id.describe('Id of the document.'),
  name: shown(z.string(), 'Title of the document.', 'Lease agreement'),
  creationDate,
  updateDate,
  folder: entity('EventFolder', {
    ...recordNames,
    parentId: folder.shape.parentId,
    organizationName: shown(z.string().nullable(), 'Organization of the folder.', 'Example Ltda.'),
  })
    .nullable()
    .describe('Folder that contains it. Null: none.'),
  organization: entity('EventOrganization', {
    ...recordNames,
    identifier: nationalNumber,
    owner: z.null().describe('Always null.'),
  })
    .nullable()
    .describe('Organization of the document. Null: it is gone.'),
  createdBy: creator,
  link: shown(
    z.string(),
    'Page of the document for users of the organization, who sign in.',
    'https://portal.example.com/account/documents/0b0f4d52-7a43-4d5e-9a2b-6f2f5c1d8e11',
  ),
  tags: z.array(tag).optional().describe('Labels of the document; left out: none.'),
  ...webhookProperties,
};

const documentShape = entity('EventDocument', common);
const documents = z.array(documentShape).max(100).describe('The documents, at most 100.');

const turn = {
  flowActionId: actionId.describe('Action of the participant. Null: an application acted.'),
  date: time.describe('Time of the event, UTC.'),
  userId: actionId.describe('Participant. Null: an application acted.'),
  name: shown(z.string().nullable(), 'Full name of the participant.', 'Ana Silva'),
  identifier: nationalNumber,
  emailAddress: shown(z.string().nullable(), 'E-mail address of the participant.', 'ana@example.com'),
  deputy: entity('EventDeputy', {
    name: shown(z.string(), 'Full name.', 'Lou Lima'),
    emailAddress: shown(z.string(), 'E-mail address.', 'lou@example.com'),
  })
    .optional()
    .describe('Deputy who has acted in place of the participant. Left out where there is none.'),
};

const reason = shown(z.string().nullable(), 'Why. Null: no reason was given.', REASON.reason);

const participant = entity('EventParticipant', turn);
const participantWithReason = entity('EventParticipantReason', { ...turn, reason });

const expiry = {
  expirationDate: time.nullable().describe('Time at which participants can no longer act.'),
  expirationDateWithoutTime: expirationDay,
};

const NAMED_ONLY = 'Only for webhooks whose `events` name it.';

function event(type: string, summary: string, data: z.ZodType, description?: string) {
  const payload = z.strictObject({
    type: z.literal(type).describe('Type of the event.'),
    data: data.describe('What the event is about.'),
  });
  return {
    summary,
    description: description ?? 'For all webhooks that do not name other `events`.',
    payload,
  };
}

function documentEvent(type: string, summary: string, own: z.core.$ZodLooseShape = {}, description?: string) {
  return event(type, summary, z.strictObject({ ...common, ...own }), description);
}

const view = participant.describe('Who saw the document, and when.');

export const PORTAL_WEBHOOKS = {
  DocumentsCreated: event(
    'DocumentsCreated',
    'Documents were created, once for each call.',
    z.strictObject({ documents }),
  ),
  DocumentSigned: documentEvent('DocumentSigned', 'A participant signed.', {
    signature: part('Who signed, and when.', {
      ...turn,
      fieldValues: shown(
        z.record(z.string(), z.string()).optional(),
        'Values of the fields by name. Left out where the participant had none.',
        { city: 'Lisbon' },
      ),
    }),
  }),
  DocumentApproved: documentEvent('DocumentApproved', 'A participant approved.', {
    approval: participant.describe('Who approved, and when.'),
  }),
  DocumentRefused: documentEvent('DocumentRefused', 'A participant or an application refused.', {
    refusal: participantWithReason.describe('Who refused, when and why.'),
  }),
  DocumentConcluded: documentEvent(
    'DocumentConcluded',
    'All actions are completed and the final file is made.',
  ),
  DocumentCanceled: documentEvent('DocumentCanceled', 'An application canceled the document.', {
    canceledBy: principal.nullable().describe('Who canceled it. Null: the service.'),
    reason,
  }),
  DocumentExpired: documentEvent('DocumentExpired', 'The expiration date has passed.', expiry),
  DocumentDeleted: event(
    'DocumentDeleted',
    'Documents were deleted.',
    z.strictObject({
      action: z
        .enum(['DeletedByUserOrApplication', 'DeletedByFolder', 'DeletedByOrganization'])
        .describe('Who or what deleted them.'),
      documents,
    }),
  ),
  DocumentExpiring: documentEvent(
    'DocumentExpiring',
    'A pending document will expire soon.',
    expiry,
    NAMED_ONLY,
  ),
  DocumentOpened: documentEvent('DocumentOpened', 'A participant opened the document.', { view }, NAMED_ONLY),
  DocumentViewed: documentEvent(
    'DocumentViewed',
    'A participant saw the end of the last page.',
    { view },
    NAMED_ONLY,
  ),
  DocumentReminded: documentEvent(
    'DocumentReminded',
    'A pending participant was reminded.',
    {
      reminder: part('Which action, and when.', {
        flowActionId: actionId.describe('Action that is pending.'),
        date: turn.date,
      }),
    },
    NAMED_ONLY,
  ),
  DocumentPassedOn: documentEvent(
    'DocumentPassedOn',
    'A participant handed the action on to another person.',
    { passingOn: participantWithReason.describe('Who handed it on, when and why.') },
    NAMED_ONLY,
  ),
  MailFailed: documentEvent(
    'MailFailed',
    'A mail, or a code by telephone, to a participant could not be delivered.',
    { mail: participantWithReason.describe('To whom, when and why not.') },
    NAMED_ONLY,
  ),
  Test: event(
    'Test',
    'A sample, sent on request and once.',
    z.strictObject({
      organization: z.strictObject(recordNames).describe('Organization of the webhook.'),
    }),
    'For the webhook of `POST /api/organizations/{id}/webhooks/{webhookId}/test`, whatever its `events` are. `webhook-sequence` is 0, and no answer brings another attempt.',
  ),
} satisfies Record<EventType | 'Test', ReturnType<typeof event>>;

/** Payloads of the webhooks of the portal. Source: docs/webhooks.md; docs/portal-values.md §19. */

import { z } from 'zod';
import { id } from '../../../contracts/fields.ts';
import { announcedMembers } from '../../../contracts/portal/documents.ts';
import { createdBy, principal } from '../../../contracts/portal/entities.ts';
import type { WebhookDescriptions } from '../../core/openapi/webhooks.ts';

const timestamp = z.iso.datetime({ precision: 3 });

/** The document of an event. */
const common = {
  id: id.describe('Id of the document.'),
  name: z.string().describe('Title of the document.'),
  creationDate: timestamp,
  updateDate: timestamp,
  folder: z
    .strictObject({
      id,
      name: z.string(),
      parentId: id.nullable(),
      organizationName: z.string().nullable().describe('Organization of the folder.'),
    })
    .nullable(),
  organization: z
    .strictObject({
      id,
      name: z.string(),
      identifier: z.string().nullable(),
      owner: z.null().describe('Always null.'),
    })
    .nullable()
    .describe('Organization of the document. Null: it is gone.'),
  createdBy: createdBy,
  ...announcedMembers,
};

const documentShape = z.strictObject(common);
const documents = z.array(documentShape).max(100).describe('The documents, at most 100.');

const turn = {
  flowActionId: id.nullable().describe('Action of the participant. Null: an application acted.'),
  date: timestamp,
  userId: id.nullable().describe('Participant. Null: an application acted.'),
  name: z.string().nullable().describe('Full name of the participant.'),
  identifier: z.string().nullable(),
  emailAddress: z.string().nullable(),
};

const reason = z.string().nullable().describe('Why. Null: no reason was given.');

const expiry = {
  expirationDate: timestamp.nullable().describe('Time at which participants can no longer act.'),
  expirationDateWithoutTime: z.iso.date().nullable(),
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

const view = z.strictObject(turn).describe('Who saw the document, and when.');

export const PORTAL_WEBHOOKS: WebhookDescriptions = {
  DocumentsCreated: event(
    'DocumentsCreated',
    'Documents were created, once for each call.',
    z.strictObject({ documents }),
  ),
  DocumentSigned: documentEvent('DocumentSigned', 'A participant signed.', {
    signature: z
      .strictObject({
        ...turn,
        fieldValues: z
          .record(z.string(), z.string())
          .optional()
          .describe('Values of the fields by name. Left out where the participant had none.'),
      })
      .describe('Who signed, and when.'),
  }),
  DocumentApproved: documentEvent('DocumentApproved', 'A participant approved.', {
    approval: z.strictObject(turn).describe('Who approved, and when.'),
  }),
  DocumentRefused: documentEvent('DocumentRefused', 'A participant or an application refused.', {
    refusal: z.strictObject({ ...turn, reason }).describe('Who refused, when and why.'),
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
      reminder: z
        .strictObject({ flowActionId: id.nullable().describe('Action that is pending.'), date: timestamp })
        .describe('Which action, and when.'),
    },
    NAMED_ONLY,
  ),
  MailFailed: documentEvent(
    'MailFailed',
    'A mail to a participant could not be delivered.',
    { mail: z.strictObject({ ...turn, reason }).describe('To whom, when and why not.') },
    NAMED_ONLY,
  ),
};

/** Authenticator apps and passkeys of participants. Source: docs/decisions/0291-authenticator-apps-of-participants.md. */
import { z } from 'zod';
import { entity, maybeText, maybeUuid, members, shown, textUpTo, whole } from '../../fields.ts';
import { actionId } from '../entities.ts';
import { EXAMPLE_IDS } from '../examples.ts';
import { keyParams } from '../ids.ts';
import { operationsOf } from '../operation.ts';
import { MAX_PASSKEY_ANSWER } from '../users.ts';

const answer = textUpTo(MAX_PASSKEY_ANSWER).nullish();
/** Members of an electronic signature. */
export const authenticatorMembers = {
  otpEnrolment: shown(
    maybeText,
    'Of the signing page, where the participant has no authenticator app yet.',
    'kQ9…',
  ),
  passkey: shown(
    answer,
    'Answer of a passkey to `request` of `passkey-options`, JSON, in place of the mailed code.',
    '{"id":"kQ9…"}',
  ),
  newPasskey: shown(
    answer,
    'Answer to `creation` of `passkey-options`, JSON: a passkey for later documents. Needs the mailed code.',
    '{"id":"kQ9…"}',
  ),
};

const operation = operationsOf({ group: 'Signing' });

export const passkeyOptions = operation('POST /api/documents/keys/{key}/passkey-options', {
  summary: 'Answers what the browser of a participant is asked for a passkey.',
  description:
    'For the signing page: options of Web Authentication. The answer counts once, within ten minutes, for this participant, document, version and file.',
  scope: 'Sign',
  folderKeys: true,
  auth: 'known-or-ticket',
  params: keyParams.transform(({ key }) => ({ key, id: undefined })),
  body: members({
    ticket: shown(maybeText, 'Ticket of the participant’s link.', EXAMPLE_IDS.ticket),
    documentVersion: shown(whole.nullish(), 'Version that the participant has seen, from 1.', 1),
  }).meta({ id: 'PasskeyOptionsRequest' }),
  reply: entity('PasskeyOptions', {
    request: shown(
      z.string().nullable(),
      'To a known passkey, JSON. Null: there is none.',
      '{"rpId":"sign.example.org"}',
    ),
    creation: shown(
      z.string().nullable(),
      'For a new passkey, JSON. Null: the public address permits none.',
      '{"rp":{"id":"sign.example.org"}}',
    ),
  }),
  examples: { request: { ticket: EXAMPLE_IDS.ticket } },
  refusals: [
    'DocumentNotFound',
    'DocumentInvalidKey',
    'DocumentIsDeleted',
    'FlowActionNotFound',
    'InvalidDocumentStatus',
    'InvalidFlowAction',
    'InvalidTicket',
    'VersionChanged',
    'Unauthorized',
    'Forbidden',
  ],
});

export const resetAuthenticatorApp = operation('POST /api/documents/authenticator-app-reset', {
  summary: 'Removes the authenticator app and the passkeys of a participant, who lost them.',
  description:
    'The participant sets up others with later signatures and a mailed code. It holds for all documents of the organization. `FlowActionNotFound`: no pending action of this id requires a confirmation, or the participant has none.',
  scope: 'Administer',
  body: members({
    flowActionId: actionId,
    userId: maybeUuid.describe('Person of a rule.'),
    documentId: maybeUuid.describe(
      'Document of the action; needed where it requires no confirmation, for passkeys.',
    ),
  }).meta({ id: 'AuthenticatorAppReset' }),
  reply: 'empty',
  examples: { request: { flowActionId: EXAMPLE_IDS.flowAction } },
  refusals: [
    'FlowActionNotFound',
    'InvalidFlowAction',
    'DocumentIsDeleted',
    'DocumentNotFound',
    'ServiceBusy',
  ],
});

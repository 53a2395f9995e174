/** Authenticator apps of participants. Source: docs/decisions/0290-authenticator-apps-of-participants.md. */
import { maybeUuid, members } from '../../fields.ts';
import { actionId } from '../entities.ts';
import { EXAMPLE_IDS } from '../examples.ts';
import { operation } from '../operation.ts';

export const resetAuthenticatorApp = operation({
  method: 'POST',
  path: '/api/documents/authenticator-app-reset',
  group: 'Signing',
  summary: 'Removes the authenticator app of a participant, who lost it.',
  description:
    'The participant sets up another with the next signature that requires one, and with a mailed code. It holds for all documents of the organization. `FlowActionNotFound`: no pending action of this id requires a confirmation, or the participant has no app.',
  scope: 'Sign',
  folderKeys: true,
  body: members({
    flowActionId: actionId,
    userId: maybeUuid.describe('Person of a rule.'),
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

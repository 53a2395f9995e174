/** Participants who hand an action on to another person. Source: docs/decisions/0550-passing-on.md. */
import { maybeText, members, shown, textUpTo } from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { reason } from '../documents.ts';
import { EXAMPLE_IDS } from '../examples.ts';
import { operation } from '../operation.ts';
import { access, byKey, SIGNING_REFUSALS } from './signing.ts';

const passingOn = members({
  ...access,
  name: shown(textUpTo(200), 'Full name of the person who acts instead.', 'Lou Lima'),
  email: shown(textUpTo(254), 'E-mail address of that person.', 'lou@example.com'),
  phone: shown(
    textUpTo(50).nullish(),
    'Telephone number with country code, where the action requires a code by telephone.',
    '+351 912 345 678',
  ),
  identifier: shown(textUpTo(50).nullish(), 'Identifier of that person, where certificates are used.', null),
  reason: shown(reason, 'Reason, which the sender, observers and the history get.', 'I am on leave.'),
  emailCode: shown(
    maybeText,
    'Six digits that the participant received by e-mail. Links of applications that need no code need none.',
    '481516',
  ),
}).meta({ id: 'PassingOn' });
export type PassingOn = Value<typeof passingOn>;

/** People who had an action before the one who has it, at most. */
export const MAX_PASSED_ON = 3;

export const passOn = operation('POST /api/documents/keys/{key}/passing-on', {
  group: 'Signing',
  summary: 'Hands the action of a participant on to another person, with a ticket.',
  description: `For actions with \`allowPassingOn\`, and their participant alone, whose link then shows who has the action. The other person is asked by e-mail; the sender, if it is a user, and observers are told, and webhooks that name it receive \`DocumentPassedOn\`. People who had the action are in \`passedOn\`, in the history, and in the evidence of the signature: at most ${MAX_PASSED_ON} (\`LimitExceeded\`). \`InvalidFlowAction\`: it may not be handed on, or not to this person: one of the flow, or who had it. \`TooManyRequests\`: one mailbox hands on at most ten times a day and gets at most ten, an organization 200.`,
  scope: 'Sign',
  folderKeys: true,
  auth: 'known-or-ticket',
  headers: ['user-agent'],
  params: byKey,
  body: passingOn,
  reply: 'empty',
  examples: {
    request: {
      ticket: EXAMPLE_IDS.ticket,
      name: 'Lou Lima',
      email: 'lou@example.com',
      reason: 'I am on leave.',
      emailCode: '481516',
    },
  },
  refusals: [
    ...SIGNING_REFUSALS,
    'InvalidAuthenticationCode',
    'InvalidIdentifier',
    'LimitExceeded',
    'TooManyRequests',
    'TooManyWrongCodes',
    'Unauthorized',
    'Forbidden',
  ],
});

/**
 * `Notifications:*`: webhooks that are called when jobs of the batch service end.
 *
 * Source: docs/batch-values.md §15; docs/webhooks.md.
 */

import type { Fault } from './findings.ts';
import { key, optional, records, required, type Shape } from './keys.ts';
import { choice, list, secretText, webUrl } from './kinds.ts';

const JOB_EVENTS = ['JobCompleted', 'JobFailed', 'JobCanceled'] as const;

/** Each ended job makes one delivery for each webhook. */
const MAX_WEBHOOKS = 10;

/** Members of one entry of `Notifications:Webhooks`. */
export const JOB_WEBHOOK_KEYS = {
  Url: required(webUrl(), 'http://localhost', {
    says: 'Address that is called when a job ends; unique. Private addresses are allowed.',
  }),
  Secret: required(secretText(), '', {
    says: 'A secret of the form `whsec_<Base64>`, 24 to 64 bytes: calls are signed by the rules of Standard Webhooks.',
  }),
  PreviousSecret: optional(secretText(), {
    says: 'The secret before it: calls are signed with both, until it is taken out.',
  }),
  Events: key(list(choice(JOB_EVENTS)), JOB_EVENTS, {
    says: 'Ends of jobs for which the webhook is called.',
  }),
} as const;

export const NOTIFICATIONS_KEYS = {
  'Notifications:Webhooks': key(records(JOB_WEBHOOK_KEYS), [], {
    says: `Webhooks for the ends of jobs, at most ${MAX_WEBHOOKS}. The webhooks configured at the end of a job are called, if there was one when the job was created.`,
  }),
} as const;

/** True for `whsec_` and 24 to 64 bytes in Base64. */
export function isWebhookSecret(text: string): boolean {
  return /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/.test(text);
}

export function checkJobWebhooks(webhooks: readonly Shape<typeof JOB_WEBHOOK_KEYS>[], faults: Fault[]): void {
  if (webhooks.length > MAX_WEBHOOKS)
    faults.push({ key: 'Notifications:Webhooks', rule: `must have at most ${MAX_WEBHOOKS} entries` });
  for (const [index, { url, secret, previousSecret, events }] of webhooks.entries()) {
    const prefix = `Notifications:Webhooks:${index}`;
    const first = webhooks.findIndex((webhook) => webhook.url === url);
    if (first < index)
      faults.push({
        key: `${prefix}:Url`,
        rule: `is also the address of Notifications:Webhooks:${first}; addresses must be unique`,
      });
    for (const [name, text] of [
      ['Secret', secret],
      ['PreviousSecret', previousSecret],
    ] as const)
      if (text !== undefined && !isWebhookSecret(text))
        faults.push({ key: `${prefix}:${name}`, rule: 'must be whsec_ and 24 to 64 bytes in Base64' });
    if (events.length === 0)
      faults.push({ key: `${prefix}:Events`, rule: 'must name an event; leave it out for all events' });
  }
}

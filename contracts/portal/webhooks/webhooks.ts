/**
 * Webhooks of the organization, and the log of their deliveries.
 *
 * Source: docs/portal-values.md §19; the rest is additional.
 */

import { z } from 'zod';
import { DELIVERY_STATUSES } from '../../deliveries.ts';
import {
  end,
  entity,
  id,
  list,
  maybeFlag,
  maybeText,
  members,
  moment,
  shown,
  text,
  time,
  uuid,
  word,
} from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { creationDate, identity } from '../entities.ts';
import { EXAMPLE_IDS } from '../examples.ts';
import { organizationParams, webhookParams } from '../ids.ts';
import { pageOf, paging, queryWord } from '../lists.ts';
import { operationsOf } from '../operation.ts';

/** Events that only webhooks that name them receive. */
export const OPTIONAL_EVENT_TYPES = [
  'DocumentOpened',
  'DocumentViewed',
  'DocumentReminded',
  'DocumentExpiring',
  'DocumentPassedOn',
  'MailFailed',
] as const;
export const EVENT_TYPES = [
  'DocumentsCreated',
  'DocumentSigned',
  'DocumentApproved',
  'DocumentRefused',
  'DocumentConcluded',
  'DocumentCanceled',
  'DocumentExpired',
  'DocumentDeleted',
  ...OPTIONAL_EVENT_TYPES,
] as const;
export type EventType = (typeof EVENT_TYPES)[number];
export const WEBHOOK_AUTH_TYPES = ['NoAuth', 'Basic', 'Bearer', 'ApiKey'] as const;
export type WebhookAuthType = (typeof WEBHOOK_AUTH_TYPES)[number];

/** Longest token, characters. The service refuses longer ones as texts that no header can carry. */
export const MAX_TOKEN_LENGTH = 4096;

const url = {
  description: 'Absolute address. https, or http where the configuration allows it.',
  exampleValue: 'https://hooks.example.com/portal',
};
const authType = 'How calls authenticate themselves to the receiver. Default `NoAuth`.';

export const webhook = entity('Webhook', {
  id: identity,
  url: z.string().meta(url),
  authType: z.enum(WEBHOOK_AUTH_TYPES).describe(authType),
  isSigned: shown(z.boolean(), 'Calls carry Standard Webhooks headers.', true),
  isDisabled: z.boolean().describe('Nothing is sent to it any more. Replacing it (PUT) enables it again.'),
  disabledReason: shown(
    z.string().nullable(),
    'Why nothing is sent to the webhook. Null: it is enabled.',
    'The receiver answered with HTTP status 410.',
  ),
  events: shown(
    z.array(z.enum(EVENT_TYPES)).nullable(),
    'Types of events that it receives; null = all but DocumentOpened, DocumentViewed, DocumentReminded, DocumentExpiring, DocumentPassedOn and MailFailed.',
    ['DocumentConcluded'],
  ),
});
export type WebhookView = Value<typeof webhook>;

const attempt = z.strictObject({
  date: time.describe('Time of the call.'),
  url: z.string().meta(url),
  status: shown(z.int().nullable(), 'HTTP status of the receiver. Null: there was no answer.', 204),
  milliseconds: shown(z.number(), 'Duration of the call.', 18),
  error: shown(z.string().nullable(), 'Why it failed. Null: it did not.', 'connect ECONNREFUSED'),
  response: shown(z.string().nullable(), 'First 1,000 characters of the answer. Null: none.', 'ok'),
});

const delivery = entity('Delivery', {
  id: shown(z.string(), 'Identifier, unique within the instance.', EXAMPLE_IDS.document),
  webhookId: id.describe('Webhook that is called.'),
  documentId: id.nullable().describe('The document this is about.'),
  type: shown(z.string(), 'Type of the event.', 'DocumentSigned'),
  sequence: shown(z.int(), 'Number of the event among those of its document, from 1.', 3),
  status: z.enum(DELIVERY_STATUSES).describe('Current state.'),
  creationDate,
  nextTryDate: time.nullable().describe('Time of the next attempt. Null: none is planned.'),
  body: shown(z.string(), 'What is sent, byte for byte.', '{"type":"DocumentConcluded","data":{}}'),
  attempts: z.array(attempt).describe('Calls that were made, oldest first; at most ten.'),
});
export type DeliveryView = Value<typeof delivery>;

/** A webhook in a request, and in the settings. */
export interface WebhookInput {
  readonly url: string;
  readonly authType: WebhookAuthType;
  readonly token?: string | undefined;
  /** `whsec_…`: also signed by Standard Webhooks. */
  readonly secret?: string | undefined;
  /** Types of events that it receives. @default all but the optional ones */
  readonly events?: readonly EventType[] | undefined;
}

const newWebhook = members({
  url: text.meta(url),
  authType: word(WEBHOOK_AUTH_TYPES).nullish().describe(authType),
  token: maybeText.meta({
    description:
      'Value sent in the header of `authType`. Required unless `authType` is `NoAuth`; `PUT` replaces the registered one.',
    exampleValue: 'Zm9vOmJhcg==',
    openapi: { anyOf: [{ type: 'string', maxLength: MAX_TOKEN_LENGTH }, { type: 'null' }] },
  }),
  secret: shown(
    maybeText,
    'Standard Webhooks secret: `whsec_` and Base64 of 24 to 64 random bytes. Null: calls are not signed.',
    'whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1u',
  ),
  events: shown(
    list(word(EVENT_TYPES)).nullish(),
    'Types of events to send. Absent or null: all but those that must be named (`DocumentOpened`, `DocumentViewed`, `DocumentReminded`, `DocumentExpiring`, `DocumentPassedOn`, `MailFailed`).',
    ['DocumentConcluded'],
  ),
})
  .transform(
    ({ url, authType, token, secret, events }): WebhookInput => ({
      url,
      authType: authType ?? 'NoAuth',
      ...(typeof token === 'string' && { token }),
      ...(typeof secret === 'string' && { secret }),
      ...(events && { events: [...new Set(events)] }),
    }),
  )
  .meta({ id: 'NewWebhook' });

const WEBHOOK = {
  url: 'https://hooks.example.com/portal',
  authType: 'NoAuth',
  events: ['DocumentConcluded'],
};

const operation = operationsOf({ group: 'Organizations' });

export const listWebhooks = operation('GET /api/organizations/{id}/webhooks', {
  summary: 'Lists the webhooks of the organization.',
  description:
    'A disabled webhook has the reason. Secrets and tokens are not returned. The session of a user needs the role administrator.',
  scope: 'Read',
  sessionScope: 'Administer',
  params: organizationParams,
  reply: z.array(webhook),
  refusals: ['OrganizationNotFound'],
});

export const createWebhook = operation('POST /api/organizations/{id}/webhooks', {
  summary: 'Registers a webhook.',
  description:
    'The service calls it for each event of the types in `events`; without `events`, of all types but the optional ones (see `events` of the reply). Calls are signed when `secret` is given. An organization has at most five webhooks (`MaxWebhooksLimitReached`). `WebhookUrlNotAllowed`: the service may not call this URL, for example because its address is private.',
  scope: 'Administer',
  params: organizationParams,
  body: newWebhook,
  reply: webhook,
  examples: { request: WEBHOOK },
  refusals: [
    'OrganizationNotFound',
    'MaxWebhooksLimitReached',
    'OperationNotSupportedInPersonalOrganizations',
    'WebhookUrlNotAllowed',
  ],
});

export const replaceWebhook = operation('PUT /api/organizations/{id}/webhooks/{webhookId}', {
  summary: 'Changes a webhook, and enables it again.',
  description:
    'Replaces the whole registration. A webhook that was disabled because its receiver answered 410 is called again. `WebhookUrlNotAllowed`: the service may not call this URL, for example because its address is private.',
  scope: 'Administer',
  params: webhookParams,
  body: newWebhook,
  reply: webhook,
  examples: { request: WEBHOOK },
  refusals: ['OrganizationNotFound', 'WebhookNotFound', 'WebhookUrlNotAllowed'],
});

export const removeWebhook = operation('DELETE /api/organizations/{id}/webhooks/{webhookId}', {
  summary: 'Removes a webhook.',
  description: 'It is not called any more. `WebhookNotFound`: the organization has no such webhook.',
  scope: 'Administer',
  params: webhookParams,
  reply: 'empty',
  refusals: ['OrganizationNotFound', 'WebhookNotFound'],
});

export const testWebhook = operation('POST /api/organizations/{id}/webhooks/{webhookId}/test', {
  summary: 'Sends a test event to a webhook and returns the response.',
  description:
    'Waits at most 10 seconds for the receiver, and returns the attempt with its status and response. A failed attempt is not repeated.',
  scope: 'Administer',
  params: webhookParams,
  reply: delivery,
  refusals: ['OrganizationNotFound', 'WebhookNotFound', 'WebhookUrlNotAllowed'],
});

export const listDeliveries = operation('GET /api/organizations/{id}/deliveries', {
  summary: 'Lists deliveries of webhooks, newest first.',
  description:
    'Contains the attempts of each delivery: time, URL, status and the first 1,000 characters of the response. Ended deliveries are kept for 30 days. The session of a user needs the role administrator.',
  scope: 'Read',
  sessionScope: 'Administer',
  params: organizationParams,
  query: members({
    webhookId: uuid.optional().describe('Only deliveries to this webhook. Absent: of all.'),
    status: queryWord(DELIVERY_STATUSES).describe('Only entries in this state. Absent: in any.'),
    limit: paging.limit,
    offset: paging.offset,
  }),
  reply: pageOf(delivery).meta({ id: 'DeliveryPage' }),
  refusals: ['OrganizationNotFound', 'WebhookNotFound'],
});

export const resendDelivery = operation('POST /api/organizations/{id}/deliveries/{deliveryId}/resend', {
  summary: 'Sends a delivery again.',
  description:
    'The id and the body are the same, so that the receiver can recognize it. A delivery that waits for its next attempt is sent now.',
  scope: 'Administer',
  params: organizationParams.extend({
    deliveryId: shown(
      z.string(),
      'Id of the delivery, from `GET /api/organizations/{id}/deliveries`.',
      EXAMPLE_IDS.document,
    ),
  }),
  reply: 'empty',
  refusals: ['OrganizationNotFound', 'DeliveryNotFound'],
});

export const replayDeliveries = operation('POST /api/organizations/{id}/deliveries/replay', {
  summary: 'Sends the deliveries of a period again.',
  description:
    'Sends the ended deliveries of events from `from` to `to`, with `failedOnly` only those that failed. `count` is their number. Id and body are the same as before.',
  scope: 'Administer',
  params: organizationParams,
  body: members({
    from: shown(
      moment,
      'Time of the first event, included, ISO 8601; in UTC without a zone.',
      '2026-05-26T00:00:00Z',
    ),
    to: shown(end, 'Time of the last event, included, ISO 8601; a day means its end.', '2026-05-27'),
    failedOnly: shown(maybeFlag, 'Whether only failed deliveries are sent again. Default false.', true),
  }).meta({ id: 'DeliveryReplay' }),
  reply: entity('ReplayedDeliveries', {
    count: shown(z.int(), 'How many deliveries are sent again.', 12),
  }),
  examples: { request: { from: '2026-05-26T00:00:00Z', to: '2026-05-27T00:00:00Z', failedOnly: true } },
  refusals: ['OrganizationNotFound', 'LimitExceeded'],
});

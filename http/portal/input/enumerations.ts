/**
 * Enumerations in requests and replies.
 *
 * Source: docs/portal-values.md §§5, 6, 10, 12, 13, 16 and 19.
 */

import type { ApplicationRole, DeliveryView, WebhookAuthType } from '../../../actors/portal/api.ts';
import { type DocumentEvent, OPTIONAL_EVENT_TYPES } from '../../../machines/portal/portal-types.ts';

/** Lists every value of a union type; the compiler reports unknown and missing values. */
function all<Word extends string>() {
  return <const Words extends readonly [Word, ...Word[]]>(
    words: Words & ([Word] extends [Words[number]] ? unknown : never),
  ): Words => words;
}

/** Types of webhook events; the last four only for webhooks that name them. */
export const EVENT_TYPES = all<DocumentEvent['type']>()([
  'DocumentsCreated',
  'DocumentSigned',
  'DocumentApproved',
  'DocumentRefused',
  'DocumentConcluded',
  'DocumentCanceled',
  'DocumentExpired',
  'DocumentDeleted',
  ...OPTIONAL_EVENT_TYPES,
]);
export const WEBHOOK_AUTH_TYPES = all<WebhookAuthType>()(['NoAuth', 'Basic', 'Bearer', 'ApiKey']);
export const DELIVERY_STATUSES = all<DeliveryView['status']>()(['Pending', 'Delivered', 'Failed']);
export const APPLICATION_ROLES = all<ApplicationRole>()(['Normal', 'Monitor', 'Administrator']);

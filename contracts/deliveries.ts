/** States of deliveries, in both services. Imports nothing, because pages show them in browsers. */

/** Of a webhook. */
export const DELIVERY_STATUSES = ['Pending', 'Delivered', 'Failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Of an e-mail. */
export const MAIL_STATUSES = ['Queued', 'Waiting', 'Sent', 'Failed'] as const;
export type MailStatus = (typeof MAIL_STATUSES)[number];

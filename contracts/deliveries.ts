/**
 * States of deliveries, in both services, each with its look on pages. Imports no code, because browsers
 * show them; what is pure is left out where nothing uses it.
 */
import type { Tone } from './tone.ts';

/** Of a webhook. */
const DELIVERY_STATES = { Pending: 'warn', Delivered: 'good', Failed: 'bad' } as const satisfies StateTones;

/** Of an e-mail. */
const MAIL_STATES = {
  Queued: null,
  Waiting: 'warn',
  Sent: 'good',
  Failed: 'bad',
} as const satisfies StateTones;

/** Null: plain. */
interface StateTones {
  readonly [state: string]: Tone | null;
}

export type DeliveryStatus = keyof typeof DELIVERY_STATES;
export const DELIVERY_STATUSES = /* @__PURE__ */ Object.keys(DELIVERY_STATES) as DeliveryStatus[];
export const DELIVERY_TONES: { readonly [state in DeliveryStatus]: Tone } = DELIVERY_STATES;

export type MailStatus = keyof typeof MAIL_STATES;
export const MAIL_STATUSES = /* @__PURE__ */ Object.keys(MAIL_STATES) as MailStatus[];
export const MAIL_TONES: { readonly [state in MailStatus]: Tone | null } = MAIL_STATES;

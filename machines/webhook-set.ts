/**
 * The webhooks of one organization.
 *
 * | from | event     | to   | effects |                                               |
 * |------|-----------|------|---------|-----------------------------------------------|
 * | Kept | ADD       | Kept |         | while there are fewer than five               |
 * | Kept | REPLACE   | Kept |         | of one that is there                          |
 * | Kept | REMOVE    | Kept |         | of one that is there                          |
 * | Kept | DISABLE   | Kept |         | of one that is there, and not disabled so far |
 * | Kept | CONFIGURE | Kept |         | with a webhook, or of one that is there       |
 *
 * Source: portal-gaps §19 ("Number", "Registration by API"); running.md, `Portal:Organizations[]`.
 */
import { assign, setup } from 'xstate';
import type { Millis, WebhookId } from './ids.ts';

/** Source: portal-gaps §21. */
export const MOST_WEBHOOKS = 5;

export type WebhookAuthType = 'NoAuth' | 'Basic' | 'Bearer' | 'ApiKey';
export const WEBHOOK_AUTH_TYPES: readonly WebhookAuthType[] = ['NoAuth', 'Basic', 'Bearer', 'ApiKey'];

/** Where and how one webhook is called. */
export interface WebhookTarget {
  /** http or https. */
  readonly url: string;
  readonly authType: WebhookAuthType;
  /** Sealed. */
  readonly token: string | null;
  /** Sealed. */
  readonly secret: string | null;
}

export interface Webhook extends WebhookTarget {
  readonly id: WebhookId;
  readonly createdAt: Millis;
  /** Why nothing is sent to it any more; null = it is called. */
  readonly disabled: { readonly at: Millis; readonly reason: string } | null;
  /** It comes from the settings; others were registered by API. */
  readonly configured: boolean;
}

export interface WebhookSetContext {
  readonly webhooks: readonly Webhook[];
}

export type WebhookSetEvent = { readonly at: Millis } & (
  | { readonly type: 'ADD'; readonly id: WebhookId; readonly target: WebhookTarget }
  /** Enables it again, too. */
  | { readonly type: 'REPLACE'; readonly id: WebhookId; readonly target: WebhookTarget }
  | { readonly type: 'REMOVE'; readonly id: WebhookId }
  | { readonly type: 'DISABLE'; readonly id: WebhookId; readonly reason: string }
  /** What the settings say now; null = nothing. */
  | {
      readonly type: 'CONFIGURE';
      readonly webhook: { readonly id: WebhookId; readonly target: WebhookTarget } | null;
    }
);

function has({ webhooks }: WebhookSetContext, wanted: WebhookId): boolean {
  return webhooks.some(({ id }) => id === wanted);
}

const fresh = { disabled: null } as const;

export const webhookSetMachine = setup({
  types: { context: {} as WebhookSetContext, events: {} as WebhookSetEvent },
}).createMachine({
  id: 'webhook-set',
  context: { webhooks: [] },
  initial: 'Kept',
  states: {
    Kept: {
      on: {
        ADD: {
          guard: ({ context, event }) => context.webhooks.length < MOST_WEBHOOKS && !has(context, event.id),
          actions: assign(({ context, event: { id, target, at } }) => ({
            webhooks: [...context.webhooks, { id, ...target, createdAt: at, ...fresh, configured: false }],
          })),
        },
        REPLACE: {
          guard: ({ context, event }) => has(context, event.id),
          actions: assign(({ context, event: { id, target } }) => ({
            webhooks: context.webhooks.map((webhook) =>
              webhook.id === id ? { ...webhook, ...target, ...fresh } : webhook,
            ),
          })),
        },
        REMOVE: {
          guard: ({ context, event }) => has(context, event.id),
          actions: assign(({ context, event }) => ({
            webhooks: context.webhooks.filter(({ id }) => id !== event.id),
          })),
        },
        DISABLE: {
          guard: ({ context, event }) =>
            context.webhooks.some(({ id, disabled }) => id === event.id && disabled === null),
          actions: assign(({ context, event: { id, at, reason } }) => ({
            webhooks: context.webhooks.map((webhook) =>
              webhook.id === id ? { ...webhook, disabled: { at, reason } } : webhook,
            ),
          })),
        },
        CONFIGURE: {
          guard: ({ context, event }) =>
            event.webhook !== null || context.webhooks.some(({ configured }) => configured),
          actions: assign(({ context, event: { webhook, at } }) => {
            const others = context.webhooks.filter(({ configured }) => !configured);
            if (webhook === null) return { webhooks: others };
            const { id, target } = webhook;
            // A sixth one rather than the loss of one that somebody registered.
            return {
              webhooks: [{ id, ...target, createdAt: at, ...fresh, configured: true }, ...others],
            };
          }),
        },
      },
    },
  },
});

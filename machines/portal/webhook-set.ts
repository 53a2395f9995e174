/**
 * The webhooks of one organization.
 *
 * | from | message   | to   | effects |                                               |
 * |------|-----------|------|---------|-----------------------------------------------|
 * | Kept | ADD       | Kept |         | while there are fewer than five               |
 * | Kept | REPLACE   | Kept |         | of an existing webhook                        |
 * | Kept | REMOVE    | Kept |         | of an existing webhook                        |
 * | Kept | DISABLE   | Kept |         | of an existing webhook that is enabled        |
 * | Kept | CONFIGURE | Kept |         | with a webhook, or of an existing one         |
 *
 * Each change is a line of the journal, and so a leaf of the tamper-evident history. The line names the origin of the URL
 * only: path and query may hold a secret.
 *
 * Source: docs/portal-values.md §19; docs/configuration.md, `Portal:Organizations[]`; docs/decisions/0053-tamper-evident-history.md.
 */
import type { EventType, WebhookAuthType } from '../../contracts/portal/webhooks/webhooks.ts';
import type { Millis, WebhookId } from '../ids.ts';
import { type RecordChange, recordMachine } from '../record.ts';

/** Source: docs/portal-values.md §21. */
export const MAX_WEBHOOKS = 5;

/** Place where and how one webhook is called. */
export interface WebhookTarget {
  /** http or https. */
  readonly url: string;
  readonly authType: WebhookAuthType;
  /** Sealed. */
  readonly token: string | null;
  /** Sealed. */
  readonly secret: string | null;
  /** Sealed: the secret before, and when it ends. */
  readonly previous?: { readonly secret: string; readonly until: Millis } | undefined;
  /** Types of events that it receives; absent = all but the optional ones. */
  readonly events?: readonly EventType[];
}

export interface Webhook extends WebhookTarget {
  readonly id: WebhookId;
  readonly createdAt: Millis;
  /** Reason why calls are disabled; null = it is called. */
  readonly disabled: { readonly at: Millis; readonly reason: string } | null;
  /** True for a webhook from the settings; others were registered by API. */
  readonly configured: boolean;
  /** The URL is the one in the settings. False for a configured webhook that was replaced by API. */
  readonly fromOperator: boolean;
}

export interface WebhookSetContext {
  readonly webhooks: readonly Webhook[];
}

/** `by`: who asked for it; absent = the service itself. */
export type WebhookSetMessage = { readonly at: Millis; readonly by?: string | undefined } & (
  | { readonly type: 'ADD'; readonly id: WebhookId; readonly target: WebhookTarget }
  /** Also enables it again. */
  | { readonly type: 'REPLACE'; readonly id: WebhookId; readonly target: WebhookTarget }
  | { readonly type: 'REMOVE'; readonly id: WebhookId }
  | { readonly type: 'DISABLE'; readonly id: WebhookId; readonly reason: string }
  /** The settings' webhooks; null = none. */
  | {
      readonly type: 'CONFIGURE';
      readonly webhook: { readonly id: WebhookId; readonly target: WebhookTarget } | null;
    }
);

function has({ webhooks }: WebhookSetContext, wanted: WebhookId): boolean {
  return webhooks.some(({ id }) => id === wanted);
}

const fresh = { disabled: null } as const;

/** A replacement without event types receives the documented ones, and says itself whether an earlier secret is kept. */
function withoutOptional({ events: _, previous: __, ...webhook }: Webhook): Webhook {
  return webhook;
}

/** The origin of a webhook's URL: scheme, host and port. */
function originOf({ url }: Pick<WebhookTarget, 'url'>): string {
  const [, scheme, authority] = /^([a-z]{1,10}:\/\/)([^/?#]*)/i.exec(url) ?? [];
  // The text before the last @ is a user name and a password.
  return authority === undefined ? 'an address' : `${scheme}${authority.split('@').at(-1)}`;
}

export const webhookSetMachine = recordMachine<WebhookSetContext, WebhookSetMessage, unknown>({
  id: 'webhook-set',
  state: 'Kept',
  context: () => ({ webhooks: [] }),
  changes: {
    ADD: (set, { id, target, at }) => {
      if (set.webhooks.length >= MAX_WEBHOOKS || has(set, id)) return undefined;
      const added = { id, ...target, createdAt: at, ...fresh, configured: false, fromOperator: false };
      return {
        context: { webhooks: [...set.webhooks, added] },
        note: `Webhook ${id} added for ${originOf(target)}.`,
      };
    },
    REPLACE: (set, { id, target }) =>
      withWebhook(
        set,
        id,
        (webhook) => ({ ...withoutOptional(webhook), ...target, ...fresh, fromOperator: false }),
        `Webhook ${id} replaced, now for ${originOf(target)}.`,
      ),
    REMOVE: (set, { id }) =>
      has(set, id)
        ? {
            context: { webhooks: set.webhooks.filter((webhook) => webhook.id !== id) },
            note: `Webhook ${id} removed.`,
          }
        : undefined,
    DISABLE: (set, { id, at, reason }) =>
      set.webhooks.some((webhook) => webhook.id === id && webhook.disabled === null)
        ? withWebhook(
            set,
            id,
            (webhook) => ({ ...webhook, disabled: { at, reason } }),
            `Webhook ${id} disabled: ${reason}`,
          )
        : undefined,
    CONFIGURE: ({ webhooks }, { webhook, at }) => {
      const others = webhooks.filter(({ configured }) => !configured);
      if (webhook === null)
        return others.length === webhooks.length
          ? undefined
          : { context: { webhooks: others }, note: 'Webhook of the settings removed.' };
      const { id, target } = webhook;
      // A sixth one rather than the loss of a webhook registered by API.
      const set = { id, ...target, createdAt: at, ...fresh, configured: true, fromOperator: true };
      return {
        context: { webhooks: [set, ...others] },
        note: `Webhook of the settings set for ${originOf(target)}.`,
      };
    },
  },
});

function withWebhook(
  set: WebhookSetContext,
  id: WebhookId,
  change: (webhook: Webhook) => Webhook,
  note: string,
): RecordChange<WebhookSetContext> | undefined {
  if (!has(set, id)) return undefined;
  const webhooks = set.webhooks.map((webhook) => (webhook.id === id ? change(webhook) : webhook));
  return { context: { webhooks }, note };
}

/**
 * The webhooks of organizations: registered by API or settings, their tokens and secrets sealed at rest. One actor for
 * each organization that has any.
 *
 * Source: docs/portal-values.md §19; docs/configuration.md, `Portal:Organizations[].Webhook`.
 */
import { type Answer, contextOf, defineActor, type EventOf, jsonType, type Step } from '@sealwright/runtime';
import { isPublicAddress, literalAddress } from '@sealwright/signatures/http';
import { LRUCache } from 'lru-cache';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import {
  type EventType,
  MAX_TOKEN_LENGTH,
  OPTIONAL_EVENT_TYPES,
  type WebhookInput,
  type WebhookView,
} from '../../../contracts/portal/webhooks/webhooks.ts';
import type { OrganizationId, WebhookId } from '../../../machines/ids.ts';
import { badField, checkTogether, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { type Webhook, type WebhookTarget, webhookSetMachine } from '../../../machines/portal/webhook-set.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { SecretBox } from '../../shared/secrets/secret-box.ts';
import type { WebhookEndpoint } from '../../shared/webhooks/webhook-attempt.ts';
import { parseWebhookSecret } from '../../shared/webhooks/webhook-signature.ts';
import { derivedId } from '../shared/effect-ids.ts';

/** Longest URL of a webhook, characters. */
const MAX_URL_LENGTH = 2000;

/**
 * A URL webhooks may be registered for; undefined when it is none: not http or https, with credentials, or with an
 * IP address in the place of a name that is not public. Names are resolved and checked when they are called.
 * Source: docs/portal-values.md §19; docs/decisions/0052-outgoing-requests.md.
 */
export function parseWebhookUrl(text: string, allowPrivate: boolean): URL | undefined {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  const address = literalAddress(url);
  if (address !== undefined && !allowPrivate && !isPublicAddress(address)) return undefined;
  return url;
}

/** Milliseconds for which a replaced secret signs beside the new one. */
const OVERLAP_MS = 24 * 60 * 60 * 1000;

/** View of organizations with a webhook from the settings. */
const CONFIGURED = 'webhooks-configured';

const VERSION_2 = jsonType<{ readonly webhooks: readonly object[] }>();

export const WEBHOOK_SET = defineActor('webhook-set', {
  machine: webhookSetMachine,
  version: 3,
  migrations: {
    // Version 1 had no rows.
    1: { migrate: (stored) => stored, facts: () => ({ rows: [] }) },
    // Version 2 did not know whose URL it was; the next start configures those of the settings again.
    2: {
      migrate: ({ state, context }) => {
        const { webhooks, ...rest } = VERSION_2.read(context);
        return {
          state,
          context: { ...rest, webhooks: webhooks.map((webhook) => ({ ...webhook, fromOperator: false })) },
        };
      },
    },
  },
  rows: ({ id, context }) =>
    context.webhooks.some(({ configured }) => configured)
      ? [{ view: CONFIGURED, key: [id], value: null }]
      : [],
});

export type RegisteredWebhook = WebhookView & { readonly id: WebhookId };

/** A webhook with its decrypted token and secret. */
export interface OpenWebhook extends WebhookEndpoint {
  readonly id: WebhookId;
  readonly disabled: boolean;
}

/** Maximum number of organizations in settings. */
const MAX_CONFIGURED = 10_000;

/** Organizations without a webhook that are remembered. */
const MAX_KNOWN = 10_000;

export class WebhookRegistry {
  readonly #withoutAny = new LRUCache<OrganizationId, true>({ max: MAX_KNOWN });
  /** Number of committed steps of webhooks; the result of a read that began before the last one is not remembered. */
  #steps = 0;

  /** @param allowPrivate `Portal:WebhookAllowPrivate` */
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'ids' | 'clock'>,
    private readonly secretBox: SecretBox,
    private readonly allowPrivate: boolean,
  ) {}

  /** Sees each committed step. */
  observe({ actor }: Step): void {
    const set = contextOf(WEBHOOK_SET, actor);
    if (set === undefined) return;
    this.#steps += 1;
    const organization = actor.address.id as OrganizationId;
    if (set.webhooks.length === 0) this.#withoutAny.set(organization, true);
    else this.#withoutAny.delete(organization);
  }

  /** True: the organization is known to have no webhook. */
  hasNone(organization: OrganizationId): boolean {
    return this.#withoutAny.get(organization) !== undefined;
  }

  async list(organization: OrganizationId): Promise<readonly RegisteredWebhook[]> {
    return (await this.#stored(organization)).map(view);
  }

  /** Ids of those that are called with events of a type. */
  async live(organization: OrganizationId, type: EventType): Promise<readonly WebhookId[]> {
    const webhooks = await this.#stored(organization);
    const isOptional = OPTIONAL_EVENT_TYPES.some((one) => one === type);
    return webhooks
      .filter(({ disabled, events }) => disabled === null && (events?.includes(type) ?? !isOptional))
      .map(({ id }) => id);
  }

  /** Undefined when there is no such webhook. @throws {Fatal} `encrypted.unreadable` */
  async open(organization: OrganizationId, id: WebhookId): Promise<OpenWebhook | undefined> {
    const webhook = await this.#find(organization, id);
    return webhook && this.#decrypted(webhook);
  }

  /** Refusals: `BadRequest`, `WebhookUrlNotAllowed`, `MaxWebhooksLimitReached`. */
  async create(organization: OrganizationId, input: WebhookInput, by?: string): Promise<RegisteredWebhook> {
    const id = this.runtime.ids.uuid() as WebhookId;
    const target = this.#encrypted(id, input);
    await this.runtime.actors.create(WEBHOOK_SET, organization);
    await this.#send(organization, { type: 'ADD', id, target, by }, 'MaxWebhooksLimitReached');
    return this.#viewed(organization, id);
  }

  /** Refusals: `BadRequest`, `WebhookUrlNotAllowed`, `WebhookNotFound`. */
  async replace(
    organization: OrganizationId,
    id: WebhookId,
    input: WebhookInput,
    by?: string,
  ): Promise<RegisteredWebhook> {
    const existing = await this.#find(organization, id);
    const target = this.#encrypted(id, input, { existing });
    await this.#send(organization, { type: 'REPLACE', id, target, by }, 'WebhookNotFound');
    return this.#viewed(organization, id);
  }

  /**
   * Like `replace`, but keeps the token and secret that are not given. A token is kept for the same origin only, because
   * the receiver of another one would learn it.
   */
  async change(
    organization: OrganizationId,
    id: WebhookId,
    input: WebhookInput,
    by?: string,
  ): Promise<RegisteredWebhook> {
    const existing = await this.#find(organization, id);
    if (existing === undefined) throw new PortalRefusal('WebhookNotFound');
    const isSameOrigin =
      URL.canParse(input.url) && new URL(input.url).origin === new URL(existing.url).origin;
    const kept = { secret: existing.secret, token: isSameOrigin ? existing.token : null };
    const target = this.#encrypted(id, input, { kept, existing });
    await this.#send(organization, { type: 'REPLACE', id, target, by }, 'WebhookNotFound');
    return this.#viewed(organization, id);
  }

  /** Refusals: `WebhookNotFound`. */
  async remove(organization: OrganizationId, id: WebhookId, by?: string): Promise<void> {
    await this.#send(organization, { type: 'REMOVE', id, by }, 'WebhookNotFound');
  }

  /** Stops deliveries to it until it is replaced. */
  async disable(organization: OrganizationId, id: WebhookId, reason: string): Promise<void> {
    await this.#send(organization, { type: 'DISABLE', id, reason });
  }

  /** Organizations whose webhook came from the settings at an earlier start. */
  async configured(): Promise<readonly OrganizationId[]> {
    const rows = await this.runtime.store.rows({ view: CONFIGURED, limit: MAX_CONFIGURED });
    return rows.map(({ key }) => String(key[0]) as OrganizationId);
  }

  /**
   * Sets the webhook of an organization from its settings, at each start; without effect if it is set already. Refusals as those of `create`.
   */
  async configure(organization: OrganizationId, input: WebhookInput | undefined): Promise<void> {
    const current = (await this.#stored(organization)).find(({ configured }) => configured);
    if (input === undefined && current === undefined) return;
    if (input !== undefined && current !== undefined && this.#isSame(current, input)) return;
    const id = derivedId('configured webhook', organization) as WebhookId;
    await this.runtime.actors.create(WEBHOOK_SET, organization);
    const webhook =
      input === undefined
        ? null
        : { id, target: this.#encrypted(id, input, { fromOperator: true, existing: current }) };
    await this.#send(organization, { type: 'CONFIGURE', webhook });
  }

  #isSame(current: Webhook, input: WebhookInput): boolean {
    const { url, authType, token, secret } = this.#decrypted(current);
    const wanted = input.authType === 'NoAuth' ? null : (input.token ?? null);
    return (
      current.fromOperator &&
      url === input.url &&
      authType === input.authType &&
      token === wanted &&
      secret === (input.secret ?? null)
    );
  }

  async #stored(organization: OrganizationId): Promise<readonly Webhook[]> {
    const steps = this.#steps;
    const actor = await this.runtime.actors.read(WEBHOOK_SET, organization);
    const webhooks = actor?.context.webhooks ?? [];
    if (webhooks.length > 0) this.#withoutAny.delete(organization);
    else if (steps === this.#steps) this.#withoutAny.set(organization, true);
    return webhooks;
  }

  async #find(organization: OrganizationId, wanted: WebhookId): Promise<Webhook | undefined> {
    return (await this.#stored(organization)).find(({ id }) => id === wanted);
  }

  async #viewed(organization: OrganizationId, id: WebhookId): Promise<RegisteredWebhook> {
    const webhook = await this.#find(organization, id);
    if (webhook === undefined) throw new PortalRefusal('WebhookNotFound');
    return view(webhook);
  }

  /** @param code for an event that is not accepted. @default it has no effect */
  async #send(
    organization: OrganizationId,
    event: EventOf<typeof WEBHOOK_SET>,
    code?: PortalRefusalCode,
  ): Promise<void> {
    let sent: Answer<typeof WEBHOOK_SET>;
    try {
      sent = await this.runtime.actors.send(WEBHOOK_SET, organization, event);
    } catch (error) {
      // It may be stored, without a call of an observer.
      this.#steps += 1;
      this.#withoutAny.delete(organization);
      throw error;
    }
    if (!sent.accepted && code !== undefined) throw new PortalRefusal(code);
  }

  #encrypted(
    id: WebhookId,
    { url, authType, token, secret, events }: WebhookInput,
    more: {
      readonly fromOperator?: boolean;
      readonly kept?: Pick<WebhookTarget, 'token' | 'secret'>;
      readonly existing?: Webhook | undefined;
    } = {},
  ): WebhookTarget {
    const { fromOperator = false, kept, existing } = more;
    const previous = existing && this.#previous(existing, secret || (kept?.secret && null));
    const secretBox = this.secretBox;
    const allowPrivate = this.allowPrivate || fromOperator;
    const needsToken = authType !== 'NoAuth';
    checkTogether([
      () => {
        if (!URL.canParse(url)) throw badField('Url', 'is not a URL');
      },
      () => {
        if (needsToken && !token && !kept?.token) throw badField('Token', 'is required');
        if (needsToken && token && !isHeaderText(token))
          throw badField('Token', 'cannot be sent in a header');
      },
      () => {
        if (secret && parseWebhookSecret(secret) === undefined)
          throw badField('Secret', 'must be whsec_ followed by the Base64 of 24 to 64 bytes');
      },
    ]);
    if (parseWebhookUrl(url, allowPrivate) === undefined) throw new PortalRefusal('WebhookUrlNotAllowed');
    return {
      url,
      authType,
      token:
        needsToken && token
          ? secretBox.encrypt(token, `webhook/${id}/token`)
          : needsToken
            ? (kept?.token ?? null)
            : null,
      secret: secret ? secretBox.encrypt(secret, `webhook/${id}/secret`) : (kept?.secret ?? null),
      ...(events !== undefined && { events }),
      ...(previous && { previous }),
    };
  }

  /** The secret that goes on signing beside the new one. @param secret null = the same; undefined = none, so that calls are not signed */
  #previous(existing: Webhook, secret: string | null | undefined): WebhookTarget['previous'] {
    if (secret === undefined || secret === '' || existing.secret === null) return undefined;
    const isSame =
      secret === null || this.secretBox.decrypt(existing.secret, `webhook/${existing.id}/secret`) === secret;
    return isSame
      ? existing.previous
      : { secret: existing.secret, until: this.runtime.clock.now() + OVERLAP_MS };
  }

  #decrypted({ id, url, authType, token, secret, previous, disabled, fromOperator }: Webhook): OpenWebhook {
    const secretBox = this.secretBox;
    return {
      id,
      url,
      authType,
      token: token && secretBox.decrypt(token, `webhook/${id}/token`),
      secret: secret && secretBox.decrypt(secret, `webhook/${id}/secret`),
      ...(previous !== undefined &&
        previous.until > this.runtime.clock.now() && {
          previousSecret: secretBox.decrypt(previous.secret, `webhook/${id}/secret`),
        }),
      disabled: disabled !== null,
      fromOperator,
    };
  }
}

function view({ id, url, authType, secret, disabled, events }: Webhook): RegisteredWebhook {
  const disabledReason = disabled?.reason ?? null;
  return {
    id,
    url,
    authType,
    isSigned: secret !== null,
    isDisabled: disabled !== null,
    disabledReason,
    events: events ?? null,
  };
}

/** Sent exactly as registered, so nothing is trimmed or escaped. Source: RFC 9110 §5.5. */
function isHeaderText(text: string): boolean {
  return text.length <= MAX_TOKEN_LENGTH && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

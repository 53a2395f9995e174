/**
 * The webhooks of organizations: registered by API or settings, their tokens and secrets sealed at rest. One actor for
 * each organization that has any.
 *
 * Source: portal-gaps §19; running.md, `Portal:Organizations[].Webhook`.
 */
import type { OrganizationId, WebhookId } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import {
  type Webhook,
  type WebhookSetContext,
  type WebhookTarget,
  webhookSetMachine,
} from '../../machines/webhook-set.ts';
import type { ActorDefinition, ActorStore, ActorSystem, Ids, StepOutcome } from '../../runtime/index.ts';
import type { WebhookInput, WebhookView } from './api.ts';
import { derivedId } from './effect-ids.ts';
import type { Sealed } from './sealed.ts';
import { parseWebhookUrl } from './webhook-addresses.ts';
import { parseWebhookSecret } from './webhook-signature.ts';

export const WEBHOOK_SET = 'webhook-set';

/** Organizations with a webhook that comes from the settings. */
const CONFIGURED = 'webhooks-configured';

export const webhookSetDefinition: ActorDefinition = {
  kind: WEBHOOK_SET,
  machine: webhookSetMachine,
  version: 2,
  // Version 1 had no rows.
  migrations: { 1: { migrate: (stored) => stored, facts: () => ({ rows: [] }) } },
  rows: ({ id, context }) =>
    (context as WebhookSetContext).webhooks.some(({ configured }) => configured)
      ? [{ view: CONFIGURED, key: [id], value: null }]
      : [],
};

/** A webhook as it is called: nothing sealed any more. */
export interface OpenWebhook {
  readonly id: WebhookId;
  readonly url: string;
  readonly authType: Webhook['authType'];
  readonly token: string | null;
  readonly secret: string | null;
  readonly disabled: boolean;
}

export interface WebhookRegistryParts {
  readonly system: () => ActorSystem;
  readonly store: Pick<ActorStore, 'rows'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly sealed: Sealed;
  /** `Portal:WebhookAllowPrivate`. */
  readonly allowPrivate: boolean;
}

/** Organizations of settings; nobody writes so many. */
const MOST_CONFIGURED = 10_000;

/** Longest token, characters. */
const LONGEST_TOKEN = 4096;

export class WebhookRegistry {
  readonly #parts: WebhookRegistryParts;

  constructor(parts: WebhookRegistryParts) {
    this.#parts = parts;
  }

  async list(organization: OrganizationId): Promise<readonly WebhookView[]> {
    return (await this.#stored(organization)).map(view);
  }

  /** Ids of those that are called. */
  async live(organization: OrganizationId): Promise<readonly WebhookId[]> {
    const webhooks = await this.#stored(organization);
    return webhooks.filter(({ disabled }) => disabled === null).map(({ id }) => id);
  }

  /** Undefined when there is no such webhook. @throws {Fatal} `sealed.unreadable` */
  async open(organization: OrganizationId, id: WebhookId): Promise<OpenWebhook | undefined> {
    const webhook = await this.#find(organization, id);
    return webhook && this.#opened(webhook);
  }

  /** Refusals: `BadRequest`, `WebhookUrlNotAllowed`, `MaxWebhooksLimitReached`. */
  async create(organization: OrganizationId, input: WebhookInput): Promise<WebhookView> {
    const id = this.#parts.ids.uuid() as WebhookId;
    const target = this.#sealed(id, input);
    await this.#parts.system().create(addressOf(organization), null);
    const outcome = await this.#tell(organization, { type: 'ADD', id, target });
    if (!outcome.accepted) throw new PortalRefusal('MaxWebhooksLimitReached');
    return this.#viewed(organization, id);
  }

  /** Refusals: `BadRequest`, `WebhookUrlNotAllowed`, `WebhookNotFound`. */
  async replace(organization: OrganizationId, id: WebhookId, input: WebhookInput): Promise<WebhookView> {
    const target = this.#sealed(id, input);
    const outcome = await this.#tell(organization, { type: 'REPLACE', id, target });
    if (!outcome.accepted) throw new PortalRefusal('WebhookNotFound');
    return this.#viewed(organization, id);
  }

  /** Refusals: `WebhookNotFound`. */
  async remove(organization: OrganizationId, id: WebhookId): Promise<void> {
    const outcome = await this.#tell(organization, { type: 'REMOVE', id });
    if (!outcome.accepted) throw new PortalRefusal('WebhookNotFound');
  }

  /** Nothing is sent to it any more until it is replaced. */
  async disable(organization: OrganizationId, id: WebhookId, reason: string): Promise<void> {
    await this.#tell(organization, { type: 'DISABLE', id, reason });
  }

  /** Organizations whose webhook settings once named. */
  async configured(): Promise<readonly OrganizationId[]> {
    const rows = await this.#parts.store.rows({ view: CONFIGURED, limit: MOST_CONFIGURED });
    return rows.map(({ key }) => String(key[0]) as OrganizationId);
  }

  /**
   * Makes the webhook of an organization what its settings say; to be called at each start. Changes nothing when it is
   * that already. Refusals as those of `create`.
   */
  async configure(organization: OrganizationId, input: WebhookInput | undefined): Promise<void> {
    const current = (await this.#stored(organization)).find(({ configured }) => configured);
    if (input === undefined && current === undefined) return;
    if (input !== undefined && current !== undefined && this.#isSame(current, input)) return;
    const id = derivedId('configured webhook', organization) as WebhookId;
    await this.#parts.system().create(addressOf(organization), null);
    const webhook = input === undefined ? null : { id, target: this.#sealed(id, input) };
    await this.#tell(organization, { type: 'CONFIGURE', webhook });
  }

  #isSame(current: Webhook, input: WebhookInput): boolean {
    const { url, authType, token, secret } = this.#opened(current);
    const wanted = input.authType === 'NoAuth' ? null : (input.token ?? null);
    return (
      url === input.url &&
      authType === input.authType &&
      token === wanted &&
      secret === (input.secret ?? null)
    );
  }

  async #stored(organization: OrganizationId): Promise<readonly Webhook[]> {
    const actor = await this.#parts.system().read(addressOf(organization));
    return (actor?.context as WebhookSetContext | undefined)?.webhooks ?? [];
  }

  async #find(organization: OrganizationId, wanted: WebhookId): Promise<Webhook | undefined> {
    return (await this.#stored(organization)).find(({ id }) => id === wanted);
  }

  async #viewed(organization: OrganizationId, id: WebhookId): Promise<WebhookView> {
    const webhook = await this.#find(organization, id);
    if (webhook === undefined) throw new PortalRefusal('WebhookNotFound');
    return view(webhook);
  }

  async #tell(
    organization: OrganizationId,
    event: { readonly type: string; readonly [field: string]: unknown },
  ): Promise<StepOutcome> {
    const outcome = await this.#parts.system().tell(addressOf(organization), event);
    if (outcome.accepted) await outcome.durable;
    return outcome;
  }

  #sealed(id: WebhookId, { url, authType, token, secret }: WebhookInput): WebhookTarget {
    const { sealed, allowPrivate } = this.#parts;
    if (!URL.canParse(url)) throw badField('Url', 'is not a URL');
    if (parseWebhookUrl(url, allowPrivate) === undefined) throw new PortalRefusal('WebhookUrlNotAllowed');
    const needsToken = authType !== 'NoAuth';
    if (needsToken && !token) throw badField('Token', 'is required');
    if (needsToken && token && !isHeaderText(token)) throw badField('Token', 'cannot stand in a header');
    if (secret && parseWebhookSecret(secret) === undefined)
      throw badField('Secret', 'must be whsec_ followed by the Base64 of 24 to 64 bytes');
    return {
      url,
      authType,
      token: needsToken && token ? sealed.seal(token, `webhook/${id}/token`) : null,
      secret: secret ? sealed.seal(secret, `webhook/${id}/secret`) : null,
    };
  }

  #opened({ id, url, authType, token, secret, disabled }: Webhook): OpenWebhook {
    const { sealed } = this.#parts;
    return {
      id,
      url,
      authType,
      token: token && sealed.open(token, `webhook/${id}/token`),
      secret: secret && sealed.open(secret, `webhook/${id}/secret`),
      disabled: disabled !== null,
    };
  }
}

function addressOf(organization: OrganizationId) {
  return { kind: WEBHOOK_SET, id: organization };
}

function view({ id, url, authType, secret, disabled }: Webhook): WebhookView {
  const disabledReason = disabled?.reason ?? null;
  return { id, url, authType, isSigned: secret !== null, isDisabled: disabled !== null, disabledReason };
}

/** Sent exactly as registered, so nothing is trimmed or escaped. Source: RFC 9110 §5.5. */
function isHeaderText(text: string): boolean {
  return text.length <= LONGEST_TOKEN && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

function badField(name: string, what: string): PortalRefusal {
  const message = `The ${name} field ${what}.`;
  return new PortalRefusal('BadRequest', message, { errors: { [name]: [message] } });
}

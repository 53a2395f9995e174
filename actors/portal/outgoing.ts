/**
 * Builds the outgoing services of the portal, e-mails and webhook calls, with their effect handlers and queries. Their
 * actors are defined in `registry.ts`.
 */
import type { HandledEffect } from '@sealwright/runtime';
import type { OrganizationContext } from '../../machines/portal/accounts/organization.ts';
import type { ServiceRuntime } from '../hosting/service-plan.ts';
import type { SecretBox } from '../shared/secrets/secret-box.ts';
import { createHttpWebhookCaller } from '../shared/webhooks/http-webhook.ts';
import type { WebhookCaller } from '../shared/webhooks/webhook-port.ts';
import { ORGANIZATION } from './accounts/organizations.ts';
import { brandingOf } from './branding/branding.ts';
import { FOLDER } from './folders/folders.ts';
import type { Mailer } from './mails/mail-port.ts';
import type { CodeLookup, MailLinks } from './mails/mail-rendering.ts';
import { Mails, notifyHandler, reportMailHandler } from './mails/mails.ts';
import type { MessageGateway } from './mails/message-gateway.ts';
import { MailTrouble, sendMailHandler, testMailSender } from './mails/send-mail.ts';
import { callWebhookHandler, Deliveries } from './webhooks/deliveries.ts';
import { publishEventsHandler } from './webhooks/publish-events.ts';
import type { PayloadLookups } from './webhooks/webhook-payloads.ts';
import { WebhookRegistry } from './webhooks/webhooks.ts';

export interface OutgoingOptions {
  /** `Portal:WebhookAllowPrivate`. */
  readonly allowPrivate: boolean;
  /** Delay of `Concluded` webhook calls, milliseconds: `Portal:WebhookConcludedDelaySeconds`. */
  readonly concludedDelay: number;
  /** Address all mails come from, alone or in angle brackets behind a name. */
  readonly sender: string;
  /** `Portal:MessageGateway`; undefined = none. */
  readonly gateway: MessageGateway | undefined;
  /** `Portal:PublicUrl`, without a slash at its end. */
  readonly publicUrl: () => string;
}

export interface Outgoing {
  readonly handlers: readonly HandledEffect<unknown>[];
  readonly mails: Mails;
  readonly mailTrouble: Pick<MailTrouble, 'current'>;
  readonly webhooks: Deliveries;
  /** Webhooks of settings are brought in by its `configure`, at each start. */
  readonly registry: WebhookRegistry;
  /** Ends connections; what is under way fails and is done again later. */
  close(): void;
}

export function createOutgoing(
  { allowPrivate, concludedDelay, sender, gateway, publicUrl }: OutgoingOptions,
  runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>,
  {
    secretBox,
    links,
    codeFor,
    mailer,
    caller = createHttpWebhookCaller({ clock: runtime.clock, allowPrivate }),
  }: {
    readonly secretBox: SecretBox;
    readonly links: MailLinks;
    readonly codeFor: CodeLookup;
    readonly mailer: Mailer;
    readonly caller?: WebhookCaller | undefined;
  },
): Outgoing {
  const { actors } = runtime;
  const registry = new WebhookRegistry(runtime, secretBox, allowPrivate);
  const organizationOf = async (id: string): Promise<OrganizationContext | undefined> => {
    const actor = await actors.read(ORGANIZATION, id);
    return actor?.context;
  };
  const profileOf = async (id: string) => {
    const organization = await organizationOf(id);
    return organization && { ...organization, branding: await brandingOf(actors, id) };
  };
  const places: PayloadLookups = {
    publicUrl,
    organization: organizationOf,
    async folder(id) {
      const actor = await actors.read(FOLDER, id);
      return actor?.context;
    },
  };
  const mailTrouble = new MailTrouble(runtime.clock);
  return {
    handlers: [
      notifyHandler,
      sendMailHandler({
        actors,
        mailer,
        caller,
        gateway,
        profileOf,
        links,
        codeFor,
        sender,
        clock: runtime.clock,
        store: runtime.store,
        trouble: mailTrouble,
        portalName: () => new URL(publicUrl()).host,
      }),
      reportMailHandler,
      publishEventsHandler(runtime, registry, places, concludedDelay),
      callWebhookHandler(runtime, registry, caller),
    ],
    mails: new Mails(runtime, mailer, testMailSender(runtime, mailer, profileOf, sender)),
    mailTrouble,
    webhooks: new Deliveries(runtime, registry, caller),
    registry,
    close() {
      caller.close();
      mailer.close();
    },
  };
}

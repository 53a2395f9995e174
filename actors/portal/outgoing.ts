/**
 * All that leaves the portal by itself, e-mails and webhook calls, put together: who does what actors ask for, and what
 * may be asked about it. Its actors and lanes are named in `registry.ts`.
 */
import type { FolderContext } from '../../machines/folder.ts';
import type { OrganizationContext } from '../../machines/organization.ts';
import type { ActorStore, ActorSystem, Clock, EffectHandler, Ids } from '../../runtime/index.ts';
import { createHttpWebhookCaller } from './adapters/http-webhook.ts';
import { Deliveries } from './deliveries.ts';
import { announceHandler } from './effects/announce.ts';
import { callWebhookHandler } from './effects/call-webhook.ts';
import { notifyHandler } from './effects/notify.ts';
import { sendMailHandler } from './effects/send-mail.ts';
import { FOLDER } from './folders.ts';
import type { CodeFor, MailLinks } from './mail-letters.ts';
import type { Mailer } from './mail-port.ts';
import { Mails } from './mails.ts';
import { ORGANIZATION } from './organizations.ts';
import type { Sealed } from './sealed.ts';
import type { PayloadPlaces } from './webhook-payloads.ts';
import type { WebhookCaller } from './webhook-port.ts';
import { WebhookRegistry } from './webhooks.ts';

export interface OutgoingOptions {
  /** `Portal:WebhookAllowPrivate`. */
  readonly allowPrivate: boolean;
  /** Milliseconds after which a conclusion is told to webhooks: `Portal:WebhookConcludedDelaySeconds`. */
  readonly concludedDelay: number;
  /** Address all mails come from, alone or in angle brackets behind a name. */
  readonly sender: string;
}

export interface OutgoingParts {
  /** Of the runtime that gets the handlers; asked once it is there. */
  readonly system: () => ActorSystem;
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sealed: Sealed;
  readonly links: MailLinks;
  readonly codeFor: CodeFor;
  readonly mailer: Mailer;
  /** @default by HTTP */
  readonly caller?: WebhookCaller;
}

export interface Outgoing {
  readonly handlers: {
    readonly [Name in 'notify' | 'sendMail' | 'announce' | 'callWebhook']: EffectHandler;
  };
  readonly mails: Mails;
  readonly webhooks: Deliveries;
  /** Webhooks of settings are brought in by its `configure`, at each start. */
  readonly registry: WebhookRegistry;
  /** Ends connections; what is under way fails and is done again later. */
  close(): void;
}

export function createOutgoing(options: OutgoingOptions, parts: OutgoingParts): Outgoing {
  const { store, clock, ids, sealed, links, codeFor, system, mailer } = parts;
  const { allowPrivate, concludedDelay, sender } = options;
  const caller = parts.caller ?? createHttpWebhookCaller({ clock, allowPrivate });
  const registry = new WebhookRegistry({ system, store, ids, sealed, allowPrivate });
  const organizationOf = async (id: string): Promise<OrganizationContext | undefined> => {
    const actor = await system().read({ kind: ORGANIZATION, id });
    return actor && (actor.context as OrganizationContext);
  };
  const places: PayloadPlaces = {
    organization: organizationOf,
    async folder(id) {
      const actor = await system().read({ kind: FOLDER, id });
      return actor && (actor.context as FolderContext);
    },
  };
  return {
    handlers: {
      notify: notifyHandler({ system, clock }),
      sendMail: sendMailHandler({ system, mailer, profileOf: organizationOf, links, codeFor, sender }),
      announce: announceHandler({ system, store, clock, registry, places, concludedDelay }),
      callWebhook: callWebhookHandler({ system, clock, registry, caller }),
    },
    mails: new Mails({ system, store, clock, ids, mailer }),
    webhooks: new Deliveries({ system, store, clock, ids, registry, caller }),
    registry,
    close() {
      caller.close();
      mailer.close();
    },
  };
}

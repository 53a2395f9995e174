/**
 * All that leaves the portal by itself, e-mails and webhook calls, put together: the actors, who does what they ask
 * for, and what may be asked about them.
 */

import type { FolderContext } from '../../machines/folder.ts';
import type { OrganizationId } from '../../machines/ids.ts';
import type { OrganizationContext } from '../../machines/organization.ts';
import type {
  ActorDefinition,
  ActorStore,
  ActorSystem,
  Clock,
  EffectHandler,
  Ids,
} from '../../runtime/index.ts';
import { createHttpWebhookCaller } from './adapters/http-webhook.ts';
import { createMailFolder } from './adapters/mail-folder.ts';
import { createSmtpMailer } from './adapters/smtp.ts';
import { Deliveries, webhookLaneDefinition } from './deliveries.ts';
import { announceHandler } from './effects/announce.ts';
import { callWebhookHandler } from './effects/call-webhook.ts';
import { notifyHandler } from './effects/notify.ts';
import { type MailProfile, sendMailHandler } from './effects/send-mail.ts';
import { FOLDER } from './folders.ts';
import type { CodeFor, MailLinks } from './mail-letters.ts';
import { isMailAddress, type Mailer } from './mail-port.ts';
import { Mails, mailDefinition } from './mails.ts';
import { ORGANIZATION } from './organizations.ts';
import type { Sealed } from './sealed.ts';
import type { PayloadPlaces } from './webhook-payloads.ts';
import type { WebhookCaller } from './webhook-port.ts';
import { WebhookRegistry, webhookSetDefinition } from './webhooks.ts';

/** `Portal:Smtp:*`. */
export interface RelayOptions {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}

export interface OutgoingOptions {
  /** Undefined: mails are written to `mailFolder`. */
  readonly relay: RelayOptions | undefined;
  /** `mail/` under `Storage:Root`. */
  readonly mailFolder: string;
  /** `Portal:Smtp:From`; undefined or no address = `no-reply@` the host of `publicUrl`. */
  readonly from: string | undefined;
  /** `Portal:PublicUrl`. */
  readonly publicUrl: string;
  /** `Portal:WebhookAllowPrivate`. */
  readonly allowPrivate: boolean;
  /** Milliseconds after which a conclusion is told to webhooks. @default 0 */
  readonly concludedDelay?: number;
}

export interface OutgoingParts {
  /** Of the runtime that gets `definitions` and `handlers`; asked once it is there. */
  readonly system: () => ActorSystem;
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sealed: Sealed;
  readonly links: MailLinks;
  readonly codeFor: CodeFor;
  /** @default by HTTP */
  readonly caller?: WebhookCaller;
  /** @default the relay, or the folder */
  readonly mailer?: Mailer;
}

export interface Outgoing {
  readonly definitions: readonly ActorDefinition[];
  readonly handlers: {
    readonly [Name in 'notify' | 'sendMail' | 'announce' | 'callWebhook']: EffectHandler;
  };
  readonly mails: Mails;
  readonly webhooks: Deliveries;
  /** Webhooks of settings are brought in by its `configure`, at each start. */
  readonly registry: WebhookRegistry;
  /** Ends connections. To be called when the runtime has stopped. */
  close(): void;
}

export function createOutgoing(options: OutgoingOptions, parts: OutgoingParts): Outgoing {
  const { store, clock, ids, sealed, links, codeFor, system } = parts;
  const { allowPrivate, concludedDelay = 0 } = options;
  const caller = parts.caller ?? createHttpWebhookCaller({ clock, allowPrivate });
  const mailer = parts.mailer ?? mailerOf(options, clock);
  const registry = new WebhookRegistry({ system, ids, sealed, allowPrivate });
  const sender = senderOf(options);
  const profileOf = (id: OrganizationId) => mailProfile(system(), id);
  return {
    definitions: [mailDefinition, webhookSetDefinition, webhookLaneDefinition],
    handlers: {
      notify: notifyHandler({ system, clock }),
      sendMail: sendMailHandler({ system, mailer, profileOf, links, codeFor, sender }),
      announce: announceHandler({
        system,
        store,
        clock,
        registry,
        places: placesIn(system),
        concludedDelay,
      }),
      callWebhook: callWebhookHandler({ system, clock, registry, caller }),
    },
    mails: new Mails({ system, store, clock, ids }),
    webhooks: new Deliveries({ system, store, clock, ids, registry, caller }),
    registry,
    close() {
      caller.close();
      mailer.close();
    },
  };
}

function senderOf({ from, publicUrl }: OutgoingOptions): string {
  return from !== undefined && isMailAddress(from) ? from : `no-reply@${hostOf(publicUrl)}`;
}

/** An address takes the place of a name in brackets. Source: RFC 5321 §4.1.3. */
function hostOf(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return hostname.startsWith('[') ? 'localhost' : hostname;
}

function mailerOf({ relay, mailFolder, publicUrl }: OutgoingOptions, clock: Clock): Mailer {
  if (relay === undefined) return createMailFolder(mailFolder);
  const { host, port, secure, user, password } = relay;
  return createSmtpMailer({
    host,
    port,
    secure,
    name: hostOf(publicUrl),
    clock,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
  });
}

async function mailProfile(system: ActorSystem, id: OrganizationId): Promise<MailProfile | undefined> {
  const organization = (await system.read({ kind: ORGANIZATION, id }))?.context as
    | OrganizationContext
    | undefined;
  return (
    organization && {
      name: organization.name,
      language: organization.language,
      replyTo: organization.replyTo,
    }
  );
}

function placesIn(system: () => ActorSystem): PayloadPlaces {
  return {
    async organization(id) {
      const actor = await system().read({ kind: ORGANIZATION, id });
      return actor && (actor.context as OrganizationContext);
    },
    async folder(id) {
      const actor = await system().read({ kind: FOLDER, id });
      return actor && (actor.context as FolderContext);
    },
  };
}

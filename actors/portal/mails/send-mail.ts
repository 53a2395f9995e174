/** Writes the letter of one mail and hands it to the relay. Links and codes are made now, and stored nowhere. */

import {
  type ActorStore,
  type Calls,
  describeFailure,
  Fatal,
  isFatal,
  isRetryable,
} from '@sealwright/runtime';
import type { WithoutTime } from '@sealwright/runtime/actions';
import type { Language } from '../../../contracts/portal/words.ts';
import type { Millis, OrganizationId } from '../../../machines/ids.ts';
import { type BrandingContext, NO_BRANDING } from '../../../machines/portal/branding.ts';
import { MAX_MESSAGES_PER_DAY } from '../../../machines/portal/flow-action.ts';
import {
  type MailContext,
  type MailMessage,
  NO_ORGANIZATION,
  nextAttemptAt,
  sendMail,
} from '../../../machines/portal/mail.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { WebhookCaller } from '../../shared/webhooks/webhook-port.ts';
import { isMailAddress } from '../shared/mail-address.ts';
import { type MailBody, mailBodyHtml, mailBodyText } from './letter.ts';
import { addressIn, type Mailer, MailFailure, type OutgoingMail, oneLine } from './mail-port.ts';
import { type CodeLookup, type MailLinks, renderMail, testMail } from './mail-rendering.ts';
import { ALL_PHONES, isAmongFirst, MAIL, type TestMailSender } from './mails.ts';
import { type MessageGateway, sendMessage } from './message-gateway.ts';

/** Maximum time that a person waits for the answer, milliseconds. */
const TIMEOUT_MS = 20_000;

/** Sends a test mail and waits for the answer of the relay; tries once, and stores nothing. */
export function testMailSender(
  { clock, ids }: Pick<ServiceRuntime, 'clock' | 'ids'>,
  mailer: Pick<Mailer, 'send'>,
  profileOf: MailProfileLookup,
  sender: string,
): TestMailSender {
  return async (organization, to) => {
    const late = new AbortController();
    const cancel = clock.after(TIMEOUT_MS, () => late.abort());
    try {
      const profile = await profileOf(organization);
      if (profile === undefined)
        throw new MailFailure('mail.organization', 'The organization is gone.', true);
      const body = testMail(profile, to.name);
      const mail = addressed(ids.uuid(), body, { to, profile, sender, date: clock.now() });
      return { isAccepted: true, code: null, answer: oneLine(await mailer.send(mail, late.signal), 500) };
    } catch (error) {
      const { code, message } = describeFailure(error);
      return { isAccepted: false, code, answer: oneLine(message, 500) };
    } finally {
      cancel();
    }
  };
}

/** Time limit of one attempt, milliseconds: several times that of the relay, one minute. */
const TIME_LIMIT_MS = 5 * 60_000;

/** Branding of an organization's mails. */
export interface MailProfile {
  readonly name: string;
  readonly language: Language;
  readonly replyTo: string | null;
  /** Absent = ours. */
  readonly branding?: BrandingContext;
}

/** Failures of the relay, its connection or the folder, which all mails meet. */
const OF_ALL_MAILS: ReadonlySet<string> = new Set([
  'mail.relay-refused',
  'mail.unreachable',
  'mail.timeout',
  'mail.folder',
]);

/** Knows why mails of this process wait for something other than their recipients. */
export class MailTrouble {
  #current: { readonly since: Millis; readonly reason: string } | undefined;
  /** The attempts of the mails that are known to wait are over by then. */
  #until: Millis = 0;

  constructor(private readonly clock: Pick<ServiceRuntime['clock'], 'now'>) {}

  /** Undefined: the last mail reached a recipient's server, or none waits. */
  get current(): { readonly since: Millis; readonly reason: string } | undefined {
    return this.clock.now() < this.#until ? this.#current : undefined;
  }

  taken(): void {
    this.#current = undefined;
  }

  /** A refusal of the recipient shows that the relay works. */
  failed({ code, message }: { readonly code: string; readonly message: string }, mail: MailContext): void {
    if (code === 'mail.refused') this.taken();
    if (!OF_ALL_MAILS.has(code)) return;
    const at = this.clock.now();
    this.#current = { since: this.current?.since ?? at, reason: oneLine(message) };
    this.#until = Math.max(this.#until, (nextAttemptAt(mail, at) ?? at - TIME_LIMIT_MS) + TIME_LIMIT_MS);
  }
}

type Outcome = WithoutTime<MailMessage>;

/** Finds the profile of an organization; undefined when it no longer exists. */
export type MailProfileLookup = (id: OrganizationId) => Promise<MailProfile | undefined>;

/** Sends mails through the relay, and codes for telephones through the gateway of the operator. */
export function sendMailHandler({
  store,
  mailer,
  caller,
  gateway,
  profileOf,
  links,
  codeFor,
  sender,
  clock,
  trouble,
  actors,
  portalName,
}: {
  readonly actors: Pick<Calls, 'read'>;
  readonly store: Pick<ActorStore, 'rows'>;
  readonly mailer: Mailer;
  readonly caller: WebhookCaller;
  /** Undefined: there is none. */
  readonly gateway: MessageGateway | undefined;
  readonly profileOf: MailProfileLookup;
  readonly links: MailLinks;
  readonly codeFor: CodeLookup;
  /** Address all mails come from, alone or in angle brackets behind a name. */
  readonly sender: string;
  readonly clock: ServiceRuntime['clock'];
  readonly trouble: MailTrouble;
  /** Host of the portal, which sends what is of no organization. */
  readonly portalName: () => string;
}) {
  return sendMail.handledBy({
    timeoutMs: TIME_LIMIT_MS,
    async run(_, { actor, signal }): Promise<Outcome> {
      const mail = await actors.read(MAIL, actor.id);
      if (mail === undefined) throw new Fatal('internal', 'The mail is gone.');
      try {
        const { content, organizationId } = mail.context;
        // Of all organizations, in the name of none of them.
        const organization: MailProfile | undefined =
          organizationId === NO_ORGANIZATION
            ? { name: portalName(), language: 'en', replyTo: null }
            : await profileOf(organizationId);
        if (organization === undefined)
          throw new MailFailure('mail.organization', 'The organization is gone.', true);
        const profile = inLanguage(organization, content.to.language);
        if ('message' in content && content.message !== undefined) {
          const options = { gateway, organization: profile, codeFor, caller, clock, signal };
          const { message } = content;
          if (
            !(await isAmongFirst(store, actor.id, {
              mail: mail.context,
              phone: message.phone,
              most: MAX_MESSAGES_PER_DAY,
            }))
          )
            throw new MailFailure('message.limit', 'Too many codes were sent to this number today.', true);
          const perDay = gateway?.perDay;
          if (
            perDay !== undefined &&
            !(await isAmongFirst(store, actor.id, {
              mail: mail.context,
              phone: ALL_PHONES,
              most: perDay,
            }))
          )
            throw new MailFailure('message.limit', 'The organization has sent too many codes today.', true);
          const reply = await sendMessage(actor.id, { ...content, message }, mail.context, options);
          return { type: 'SENT', reply };
        }
        const outgoing = compose(actor.id, mail.context, profile, { links, codeFor, sender });
        const reply = await mailer.send(outgoing, signal);
        trouble.taken();
        return { type: 'SENT', reply: oneLine(reply, 500) };
      } catch (error) {
        // A stop is no failure of the mail, nor is a store that does not answer: the effect is done again.
        if (signal.aborted || isRetryable(error)) throw error;
        const { code, message } = describeFailure(error);
        trouble.failed({ code, message }, mail.context);
        const permanent = error instanceof MailFailure ? error.permanent : isFatal(error);
        return { type: permanent ? 'REFUSED' : 'DELAYED', code, message: oneLine(message, 500) };
      }
    },
    failed: (_, { code, message }) => ({ type: 'REFUSED', code, message }),
  });
}

/** The profile for a recipient of a language. The own words of an organization are in its language. */
function inLanguage(organization: MailProfile, language: Language | undefined): MailProfile {
  if (language === undefined || language === organization.language) return organization;
  const { branding } = organization;
  return { ...organization, language, ...(branding && { branding: { ...branding, mailTexts: {} } }) };
}

function compose(
  id: string,
  { content, createdAt }: MailContext,
  profile: MailProfile,
  {
    links,
    codeFor,
    sender,
  }: { readonly links: MailLinks; readonly codeFor: CodeLookup; readonly sender: string },
): OutgoingMail {
  const mail = renderMail(content, { organization: profile, links, codeFor });
  return addressed(id, mail, { to: content.to, profile, sender, date: createdAt });
}

/** Addresses a letter. @throws {MailFailure} `mail.address` */
function addressed(
  id: string,
  mail: MailBody,
  parts: {
    readonly to: { readonly name: string | null; readonly email: string };
    readonly profile: MailProfile;
    readonly sender: string;
    readonly date: Millis;
  },
): OutgoingMail {
  const { to, profile, date } = parts;
  if (!isMailAddress(to.email)) throw new MailFailure('mail.address', 'This is not an e-mail address.', true);
  const { branding } = profile;
  const sender = addressIn(parts.sender);
  const replyTo = profile.replyTo === null ? null : addressIn(profile.replyTo);
  return {
    messageId: `${id}@${sender.slice(sender.lastIndexOf('@') + 1)}`,
    from: { name: oneLine(profile.name), address: sender },
    replyTo: replyTo !== null && isMailAddress(replyTo) ? replyTo : null,
    to: { name: oneLine(to.name ?? ''), address: to.email },
    subject: mail.subject,
    text: mailBodyText(mail),
    html: mailBodyHtml(mail, profile.language, { name: oneLine(profile.name), ...(branding ?? NO_BRANDING) }),
    ...(branding?.logo && {
      logo: {
        contentType: branding.logo.contentType,
        bytes: Buffer.from(branding.logo.bytes, 'base64'),
      },
    }),
    language: profile.language,
    date,
  };
}

/** Writes the letter of one mail and hands it to the relay. Links and codes are made now, and stored nowhere. */
import type { OrganizationId } from '../../../machines/ids.ts';
import type { MailContext, MailEvent, SendMailEffect } from '../../../machines/mail.ts';
import type { Language } from '../../../machines/organization.ts';
import { type ActorSystem, describeFailure, type EffectHandler, Fatal } from '../../../runtime/index.ts';
import { type CodeFor, letterOf, type MailLinks } from '../mail-letters.ts';
import {
  addressIn,
  isMailAddress,
  type Mailer,
  MailFailure,
  type OutgoingMail,
  oneLine,
} from '../mail-port.ts';
import { letterHtml, letterText } from '../mail-texts/letter.ts';

/** Mails on their way at once, of all organizations and of one. */
const AT_ONCE = 8;
const AT_ONCE_OF_ONE = 6;

/** What the mails of an organization look like. */
export interface MailProfile {
  readonly name: string;
  readonly language: Language;
  readonly replyTo: string | null;
}

export interface SendMailParts {
  readonly system: () => Pick<ActorSystem, 'read'>;
  readonly mailer: Mailer;
  /** Undefined for an organization that is gone. */
  readonly profileOf: (id: OrganizationId) => Promise<MailProfile | undefined>;
  readonly links: MailLinks;
  readonly codeFor: CodeFor;
  /** Address all mails come from, alone or in angle brackets behind a name. */
  readonly sender: string;
}

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never;
type Outcome = WithoutTime<MailEvent>;

/** A relay that is slow or down holds up nothing but mails: they have slots of their own. */
export function sendMailHandler(parts: SendMailParts): EffectHandler<SendMailEffect> {
  return {
    after: 'durable',
    lanes: { atOnce: AT_ONCE, perLane: AT_ONCE_OF_ONE, of: ({ lane }) => lane },
    async run(_, { actor, signal }): Promise<Outcome> {
      const mail = await parts.system().read(actor);
      if (mail === undefined) throw new Fatal('internal', 'The mail is gone.');
      try {
        const outgoing = await compose(actor.id, mail.context as MailContext, parts);
        return { type: 'SENT', reply: oneLine(await parts.mailer.send(outgoing, signal), 500) };
      } catch (error) {
        // A stop is no failure of the mail; it is done again after the next start.
        if (signal.aborted) throw error;
        const { code, message } = describeFailure(error);
        const permanent = !(error instanceof MailFailure) || error.permanent;
        return { type: permanent ? 'REFUSED' : 'DELAYED', code, message: oneLine(message, 500) };
      }
    },
    failed: (_, { code, message }) => ({ type: 'REFUSED', code, message }),
  };
}

async function compose(id: string, context: MailContext, parts: SendMailParts): Promise<OutgoingMail> {
  const { content, organizationId, createdAt } = context;
  const { to } = content;
  if (!isMailAddress(to.email)) throw new MailFailure('mail.address', 'This is not an e-mail address.', true);
  const profile = await parts.profileOf(organizationId);
  if (profile === undefined) throw new MailFailure('mail.organization', 'The organization is gone.', true);
  const letter = letterOf(content, { organization: profile, links: parts.links, codeFor: parts.codeFor });
  const sender = addressIn(parts.sender);
  const replyTo = profile.replyTo === null ? null : addressIn(profile.replyTo);
  return {
    messageId: `${id}@${sender.slice(sender.lastIndexOf('@') + 1)}`,
    from: { name: oneLine(profile.name), address: sender },
    replyTo: replyTo !== null && isMailAddress(replyTo) ? replyTo : null,
    to: { name: oneLine(to.name ?? ''), address: to.email },
    subject: letter.subject,
    text: letterText(letter),
    html: letterHtml(letter, profile.language),
    language: profile.language,
    date: createdAt,
  };
}

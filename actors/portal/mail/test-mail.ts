/** Sends a test mail and waits for the answer of the relay; tries once, and stores nothing. */
import { describeFailure } from '@sealwright/runtime';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { type Mailer, MailFailure, oneLine } from './mail-port.ts';
import { testMail } from './mail-rendering.ts';
import type { TestMailSender } from './mails.ts';
import { addressed, type MailProfileLookup } from './send-mail.ts';

/** Maximum time that a person waits for the answer, milliseconds. */
const TIMEOUT_MS = 20_000;

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

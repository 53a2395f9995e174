/** A runtime with mails, a stub in the place of documents, and simulated time. */

import {
  type ActorAddress,
  ActorCalls,
  type ActorStore,
  type Clock,
  createRuntime,
  Faults,
  type Runtime,
  systemClock,
} from '@sealwright/runtime';
import { MemoryStore, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import type { ExecutionContext } from 'ava';
import type { Mailer } from '../../../../actors/portal/mails/mail-port.ts';
import { MAIL, Mails, notifyHandler, reportMailHandler } from '../../../../actors/portal/mails/mails.ts';
import type { MessageGateway } from '../../../../actors/portal/mails/message-gateway.ts';
import { type MailProfile, MailTrouble, sendMailHandler } from '../../../../actors/portal/mails/send-mail.ts';
import { createSmtpMailer } from '../../../../actors/portal/mails/smtp.ts';
import { createHttpWebhookCaller } from '../../../../actors/shared/webhooks/http-webhook.ts';
import type { OrganizationId } from '../../../../machines/ids.ts';
import type { MailContext } from '../../../../machines/portal/mail.ts';
import type { MailRequest } from '../../../../machines/portal/portal-types.ts';
import { reached } from '../../../project/waiting.ts';
import { withoutTimeLimits } from '../../../runtime/untimed-handlers.ts';
import { DOCUMENT_1 } from '../mailbox.ts';
import { stubDocument } from '../stub-document.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
export const PUBLIC_URL = 'https://portal.example.test';

export interface MailSystem {
  readonly runtime: Runtime;
  readonly store: ActorStore;
  readonly clock: SimulatedClock;
  readonly mails: Mails;
  readonly trouble: MailTrouble;
  readonly faults: Faults;
  /** Everything a document asks for; returns once the mails are there. */
  ask(notices: readonly MailRequest[], documentId?: string): Promise<void>;
  mail(email: string): Promise<{ readonly state: string; readonly context: MailContext } | undefined>;
  until(condition: () => boolean | Promise<boolean>): Promise<void>;
  /** The mails to all of these are in this state. */
  reach(state: string, ...emails: readonly string[]): Promise<void>;
}

export interface MailSystemOptions {
  readonly mailer: Mailer;
  readonly store?: ActorStore;
  readonly clock?: SimulatedClock;
  readonly sender?: string;
  readonly profiles?: ReadonlyMap<OrganizationId, MailProfile>;
  /** Called when a mail is about to be written; a rejection is that of the store. */
  readonly reading?: () => Promise<void>;
  /** @default 64 */
  readonly effectsInFlight?: number;
  readonly gateway?: MessageGateway;
}

export async function startMailSystem(t: ExecutionContext, options: MailSystemOptions): Promise<MailSystem> {
  const { mailer, store = new MemoryStore(), clock = new SimulatedClock() } = options;
  const faults = new Faults();
  const ids = seededIds(7);
  const trouble = new MailTrouble(clock);
  const actors = new ActorCalls();
  const runtime = await createRuntime({
    store,
    actors: [stubDocument, MAIL],
    calls: actors,
    start: 'later',
    clock,
    ids,
    log: QUIET,
    faults,
    deadLetters: false,
    effects: { atOnce: options.effectsInFlight ?? 64 },
    handlers: withoutTimeLimits([
      notifyHandler,
      reportMailHandler,
      sendMailHandler({
        actors,
        mailer,
        store,
        trouble,
        gateway: options.gateway,
        caller: createHttpWebhookCaller({
          // Real calls need real time.
          clock: { after: systemClock.after.bind(systemClock), now: () => clock.now() },
          allowPrivate: false,
        }),
        clock,
        profileOf: async (id) => {
          await options.reading?.();
          return options.profiles === undefined
            ? { name: 'Acme', language: 'en', replyTo: null }
            : options.profiles.get(id);
        },
        links: {
          action: ({ key }, action, user) =>
            `${PUBLIC_URL}/document/key/${key}/sign?ticket=${action}.${user}`,
          observer: ({ key }, observer) => `${PUBLIC_URL}/document/key/${key}/read?ticket=${observer}`,
          check: (key) => `${PUBLIC_URL}/check/${key}`,
          signIn: ({ linkId }) => `https://portal.test/sign-in/link?ticket=${linkId}`,
          waiting: () => 'https://portal.test/waiting',
        },
        codeFor: (_action, _user, generation) => String(100_000 + generation),
        sender: options.sender ?? 'no-reply@portal.example.test',
        portalName: () => 'portal.example.test',
      }),
    ]),
  });
  const sendTest = async () => ({ isAccepted: true, code: null, answer: '' });
  const mails = new Mails({ actors, store, clock, ids }, mailer, sendTest);
  t.teardown(async () => {
    mailer.close();
    const stopped = runtime.stop({ graceMs: 0 });
    // The grace is over once time goes on.
    clock.advance(1);
    await stopped;
  });
  const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
    await reached(condition);
  };
  const mail = async (email: string) => {
    const page = await mails.newest({ limit: 100, offset: 0 });
    const found = page.items.find(({ to }) => to === email);
    const actor = found && (await actors.read(MAIL, found.id));
    return actor && { state: actor.state, context: actor.context };
  };
  const count = async () => (await mails.newest({ limit: 1, offset: 0 })).totalCount;
  const isDone = async (address: ActorAddress) => (await store.pendingEffects(address)).length === 0;
  return {
    runtime,
    store,
    clock,
    mails,
    trouble,
    faults,
    until,
    mail,
    async ask(notices, documentId = DOCUMENT_1) {
      const address = { kind: 'document', id: documentId };
      const before = await count();
      await runtime.create(stubDocument, documentId);
      await runtime.send(stubDocument, documentId, { type: 'ASK', effect: { do: 'notify', notices } });
      runtime.start();
      await until(async () => (await count()) === before + notices.length || (await isDone(address)));
    },
    reach: (state, ...emails) =>
      until(async () => {
        const found = await Promise.all(emails.map(mail));
        return found.every((one) => one?.state === state);
      }),
  };
}

/** Through a relay on this machine. Time-outs are long: who waits is not sent again before the clock is moved. */
export function smtpTo(
  port: number,
  more: { readonly silenceTimeout?: number; readonly clock?: Clock } = {},
): Mailer {
  return createSmtpMailer({
    host: '127.0.0.1',
    port,
    secure: false,
    name: 'portal.example.test',
    clock: more.clock ?? systemClock,
    connectTimeout: 60_000,
    silenceTimeout: more.silenceTimeout ?? 60_000,
  });
}

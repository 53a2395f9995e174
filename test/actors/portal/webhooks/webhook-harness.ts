/** A runtime with webhooks, a stub in the place of documents, and simulated time; calls are real. */

import {
  ActorCalls,
  type ActorStore,
  createRuntime,
  type EffectHandler,
  Faults,
  type Runtime,
  systemClock,
} from '@sealwright/runtime';
import { MemoryStore, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import type { ExecutionContext } from 'ava';
import { ORGANIZATION } from '../../../../actors/portal/accounts/organizations.ts';
import type { Tenant } from '../../../../actors/portal/api.ts';
import { FOLDER } from '../../../../actors/portal/folders/folders.ts';
import { MAIL } from '../../../../actors/portal/mails/mails.ts';
import { createOutgoing, type Outgoing } from '../../../../actors/portal/outgoing.ts';
import { withRelatedActors } from '../../../../actors/portal/related-actors.ts';
import { WEBHOOK_DELIVERY_QUEUE } from '../../../../actors/portal/webhooks/deliveries.ts';
import { WEBHOOK_SET } from '../../../../actors/portal/webhooks/webhooks.ts';
import { SecretBox } from '../../../../actors/shared/secrets/secret-box.ts';
import {
  createHttpWebhookCaller,
  type HttpWebhookOptions,
} from '../../../../actors/shared/webhooks/http-webhook.ts';
import { NO_SETTINGS } from '../../../../machines/portal/accounts/organization.ts';
import type { DocumentEvent } from '../../../../machines/portal/portal-types.ts';
import { reached } from '../../../project/waiting.ts';
import { handlersByName } from '../../../runtime/any-effect.ts';
import { withoutTimeLimits } from '../../../runtime/untimed-handlers.ts';
import { type DOCUMENT_1, ORGANIZATION_1, summary } from '../mailbox.ts';
import { stubDocument } from '../stub-document.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

export const TENANT_1 = {
  organization: { id: ORGANIZATION_1, name: 'Acme' },
  application: { id: '22222222-2222-4222-8222-222222222222', name: 'Sales', role: 'Normal' },
} as unknown as Tenant;

export interface WebhookSystem extends Outgoing {
  readonly store: ActorStore;
  readonly runtime: Runtime;
  readonly clock: SimulatedClock;
  readonly faults: Faults;
  /** Everything a document asks for, in one effect each; resolves once the delivery queues have it. */
  announce(documentId: string, ...events: readonly DocumentEvent[]): Promise<void>;
  until(condition: () => boolean | Promise<boolean>): Promise<void>;
}

export interface WebhookSystemOptions extends Partial<HttpWebhookOptions> {
  readonly store?: ActorStore;
  readonly time?: SimulatedClock;
  readonly concludedDelay?: number;
  readonly effectsInFlight?: number;
  /** Seed of ids; another one for a second life of one store. */
  readonly seed?: number;
}

export async function startWebhookSystem(
  t: ExecutionContext,
  options: WebhookSystemOptions = {},
): Promise<WebhookSystem> {
  const {
    store = new MemoryStore(),
    time = new SimulatedClock(Date.UTC(2026, 0, 4)),
    allowPrivate = true,
    seed = 7,
  } = options;
  const faults = new Faults();
  const ids = seededIds(seed);
  const actors = new ActorCalls();
  const outgoing = createOutgoing(
    {
      allowPrivate,
      concludedDelay: options.concludedDelay ?? 0,
      sender: 'portal@example.test',
      gateway: undefined,
      publicUrl: () => 'https://portal.example.test',
    },
    { actors, store, clock: time, ids },
    {
      secretBox: new SecretBox(Buffer.alloc(32, 5), ids),
      links: { action: () => '', observer: () => '', check: () => '', signIn: () => '', waiting: () => '' },
      codeFor: () => '',
      mailer: { send: async () => '', close() {} },
      caller: createHttpWebhookCaller({
        // Time-outs of real calls need real time.
        clock: { after: systemClock.after.bind(systemClock), now: () => time.now() },
        allowPrivate,
        ...(options.timeout !== undefined && { timeout: options.timeout }),
        ...(options.resolve !== undefined && { resolve: options.resolve }),
      }),
    },
  );
  const nothing: EffectHandler = { after: 'visible', run: async () => ({ type: 'NOTHING' }) };
  const runtime = await createRuntime({
    store,
    actors: [
      stubDocument,
      ORGANIZATION,
      FOLDER,
      MAIL,
      WEBHOOK_SET,
      ...withRelatedActors([WEBHOOK_DELIVERY_QUEUE]),
    ],
    handlers: [
      ...withoutTimeLimits(outgoing.handlers),
      ...handlersByName([FOLDER], { emptyFolder: nothing }),
    ],
    calls: actors,
    start: 'later',
    clock: time,
    ids,
    log: QUIET,
    faults,
    deadLetters: false,
    onCommitted: (step) => outgoing.registry.observe(step),
    effects: { atOnce: options.effectsInFlight ?? 64 },
  });
  await actors.create(ORGANIZATION, ORGANIZATION_1, {
    ...NO_SETTINGS,
    embedOrigins: [],
    name: 'Acme',
    identifier: 'A-1',
    createdAt: 1,
    applications: [],
  });
  runtime.start();
  t.teardown(async () => {
    const stopped = runtime.stop({ graceMs: 0 });
    // The grace is over once time goes on.
    time.advance(1);
    await stopped;
    outgoing.close();
  });
  const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
    await reached(condition);
  };
  return {
    ...outgoing,
    store,
    runtime,
    clock: time,
    faults,
    until,
    async announce(documentId, ...events) {
      const address = { kind: 'document', id: documentId };
      await runtime.create(stubDocument, documentId);
      for (const event of events)
        await runtime.send(stubDocument, documentId, {
          type: 'ASK',
          effect: { do: 'announce', events: [event] },
        });
      await until(async () => {
        const { length } = await store.pendingEffects(address);
        // Effects that concern no webhook are removed a moment after they have ended.
        if (length > 0) time.advance(10);
        return length === 0;
      });
    },
  };
}

export function event(
  type: DocumentEvent['type'],
  sequence: number,
  more: Partial<DocumentEvent> = {},
): DocumentEvent {
  return { type, sequence, at: Date.UTC(2026, 0, 4), document: summary(), ...more };
}

/** Events of one document, in order. */
export function flow(documentId: string, count: number): readonly DocumentEvent[] {
  const document = summary({ id: documentId as typeof DOCUMENT_1 });
  return Array.from({ length: count }, (_, n) => event('DocumentSigned', n + 1, { document }));
}

export function documentId(n: number): string {
  return `dddddddd-dddd-4ddd-8ddd-${String(n).padStart(12, '0')}`;
}

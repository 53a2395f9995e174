/**
 * Each operation that changes something names the caller in what it writes: an event, or a line of a history.
 *
 * Source: docs/decisions/0277-scopes-and-roles-of-operators.md.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { accepted } from '@sealwright/runtime';
import { MemoryStore, SimulatedClock } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { systemIds } from '#runtime/model/ids.js';
import type { JournalLine } from '#runtime/model/ports.js';
import {
  JOB_DELIVERY,
  jobDeliveryActor,
  jobDeliveryId,
} from '../../../actors/batch/webhooks/job-deliveries.ts';
import { jobWebhooks } from '../../../actors/batch/webhooks/job-webhook.ts';
import { Administration } from '../../../actors/portal/accounts/administration.ts';
import { MailFailure } from '../../../actors/portal/mails/mail-port.ts';
import { OperatorDeliveries } from '../../../actors/portal/webhooks/operator-deliveries.ts';
import { RowLists } from '../../../actors/shared/lists/row-lists.ts';
import { ACCESS_SCOPES } from '../../../contracts/batch/access.ts';
import type { JobState } from '../../../machines/batch/job-context.ts';
import type { JobId } from '../../../machines/ids.ts';
import { DOCUMENT_1, notice, ORGANIZATION_1 } from '../../actors/portal/mailbox.ts';
import { startMailSystem } from '../../actors/portal/mails/mail-harness.ts';
import { event, startWebhookSystem, TENANT_1 } from '../../actors/portal/webhooks/webhook-harness.ts';
import { reached } from '../../project/waiting.ts';
import { batchTable } from '../descriptions.ts';
import { form, startServer, type TestServer } from '../harness.ts';

/** The key `night`, in events and histories. */
const CALLER = 'key:night';
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9/';
const HOOK = { url: NOWHERE, secret: 'whsec_c2VjcmV0', events: ['JobFailed'] } as const;

/** The service, and all lines that are written from the request on. */
interface Walked extends TestServer {
  readonly t: ExecutionContext;
  readonly clock: SimulatedClock;
  readonly store: MemoryStore;
  readonly written: JournalLine[];
  /** Id of what the portal has for the operation. */
  readonly portalId: string;
}

/** The request: parameters of the path, and the body. */
interface WalkedRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: object | FormData;
}

const REASON: WalkedRequest = { body: { reason: 'night shift' } };
const jobIn =
  (status: JobState, body?: object) =>
  async ({ service }: Walked): Promise<WalkedRequest> => {
    const { id } = await service.add({ status });
    return { params: { id }, ...(body && { body }) };
  };
const ofKey =
  (body?: object) =>
  async ({ call }: Walked): Promise<WalkedRequest> => {
    await call('/api/keys', json({ name: 'other', scopes: ['read'] }));
    return { params: { name: 'other' }, ...(body && { body }) };
  };

/** The operations, with what is there before the request. A new one fails the test until it stands here, or below. */
const WALK: { readonly [operation: string]: (it: Walked) => WalkedRequest | Promise<WalkedRequest> } = {
  'POST /api/files': () => ({ body: form([['file', new File(['%PDF-1.7 test'], 'a.pdf')]]) }),
  'POST /api/jobs/{id}/cancel': jobIn('Queued', {}),
  'POST /api/jobs/{id}/retry': jobIn('Failed'),
  'POST /api/jobs/retry': jobIn('Failed', {}),
  'POST /api/jobs/cancel': jobIn('Queued', {}),
  'DELETE /api/jobs': jobIn('Completed'),
  async 'POST /api/operations'(it) {
    it.service.runEffects();
    return jobIn('Completed', { action: 'clear', filter: {} })(it);
  },
  async 'POST /api/operations/{id}/cancel'({ service }) {
    await service.add({ status: 'Completed' });
    const request = { action: 'clear', filter: { statuses: [] }, reason: null } as const;
    return { params: { id: (await service.operations.start(request, 'operator')).id } };
  },
  'POST /api/pipeline/pause'({ service }) {
    service.runEffects();
    return REASON;
  },
  async 'POST /api/pipeline/resume'({ service, written }) {
    service.runEffects();
    await service.pipeline.pause(null);
    // The event is an effect of its own.
    await reached(() => written.some(({ data }) => data?.['by'] === 'operator'));
    return REASON;
  },
  async 'POST /api/rescan'({ service }) {
    await writeFile(join(service.input, 'new.pdf'), 'x');
    return {};
  },
  async 'POST /api/cleanup'({ service, clock }) {
    await service.add({ status: 'Completed' });
    clock.advance(10);
    return {};
  },
  'POST /api/actors/{kind}/{id}/restart': async ({ service }) => ({
    params: { kind: 'job', id: await service.stopActor() },
    ...REASON,
  }),
  'POST /api/runtime/nodes/{id}/drain'({ t, store }) {
    // In place of the statement of the database; test/postgres/drain.test.ts has real nodes.
    const it = Object.assign(store, { nodes: { drain: async () => true } });
    t.teardown(() => Object.assign(it, { nodes: undefined }));
    return { params: { id: 'node-1' } };
  },
  'POST /api/mails/{id}/resend': ({ portalId }) => ({ params: { id: portalId } }),
  'POST /api/mails/resend': () => ({ body: {} }),
  'POST /api/webhooks/deliveries/{id}/resend': async (it) => ({ params: { id: await jobDelivery(it) } }),
  async 'POST /api/webhooks/replay'(it) {
    await jobDelivery(it);
    return { body: { failedOnly: false } };
  },
  'POST /api/webhooks/portal/{organizationId}/deliveries/{id}/resend': ({ portalId }) => ({
    params: { organizationId: ORGANIZATION_1, id: portalId },
  }),
  'POST /api/keys': () => ({ body: { name: 'other', scopes: ['read'] } }),
  'POST /api/keys/{name}/rotate': ofKey({ overlapHours: 1 }),
  'POST /api/keys/{name}/revoke': ofKey(),
};

/** Operations that write nothing about a caller, with the reason. */
const OTHERS: { readonly [operation: string]: string } = {
  'POST /api/validate': 'It keeps nothing.',
};

function json(body: object): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

/** A store that shows the lines of the histories as they are committed. */
function storeWith(written: JournalLine[]): MemoryStore {
  const store = new MemoryStore();
  const commit = store.commit.bind(store);
  store.commit = async (step) => {
    const committed = await commit(step);
    if (committed.ok) written.push(...step.journal);
    return committed;
  };
  return store;
}

async function jobDelivery({ service, clock }: Walked): Promise<string> {
  const [webhook] = jobWebhooks([HOOK]);
  const webhookId = webhook?.id ?? '';
  const jobId = '00000000-0000-4000-8000-000000000001' as JobId;
  const at = clock.now();
  const id = jobDeliveryId(webhookId, jobId);
  const delivery = { id, type: 'JobFailed', sequence: 1, body: '{}', createdAt: at, notBefore: 0 };
  const input = { webhookId, jobId, deliveries: [delivery], at };
  await accepted(
    service.actors.create(JOB_DELIVERY, jobDeliveryActor(webhookId, jobId), input),
    ({ reason }) => new Error(reason),
  );
  return id;
}

/** The mails or the deliveries of a portal, where the operation needs them. */
async function portalFor(t: ExecutionContext, operation: string, written: JournalLine[]) {
  if (operation.includes('/mails/')) {
    // All that failed, or one that waits.
    const isPermanent = !operation.includes('{id}');
    const send = async () => {
      throw new MailFailure('mail.unreachable', 'The relay is away.', isPermanent);
    };
    const { mails, ask, reach } = await startMailSystem(t, {
      mailer: { send, close() {} },
      store: storeWith(written),
    });
    await ask([notice('pending', 'ana@example.test')]);
    await reach(isPermanent ? 'Failed' : 'Waiting', 'ana@example.test');
    const [mail] = (await mails.newest({ limit: 1, offset: 0 })).items;
    return { portalId: mail?.id ?? '', parts: { mails } };
  }
  if (!operation.includes('/webhooks/portal/')) return { portalId: '', parts: {} };
  const { store, webhooks, runtime, clock, announce, until } = await startWebhookSystem(t, {
    store: storeWith(written),
  });
  await webhooks.create(TENANT_1, { url: NOWHERE, authType: 'NoAuth' });
  await announce(DOCUMENT_1, event('DocumentConcluded', 1));
  const find = async () => (await webhooks.deliveries(TENANT_1, { limit: 1, offset: 0 })).items[0];
  await until(async () => (await find())?.attempts.length === 1);
  const administration = new Administration(
    { actors: runtime, store, clock, ids: systemIds },
    new RowLists(store),
  );
  const portalWebhooks = new OperatorDeliveries(store, webhooks, administration);
  return { portalId: (await find())?.id ?? '', parts: { portalWebhooks } };
}

test('each operation of known callers that is no reading is tried here, or has a reason why not', (t) => {
  const names = batchTable()
    .filter(({ method, auth }) => method !== 'GET' && auth !== 'anonymous')
    .map(({ method, path }) => `${method} ${path}`);
  t.deepEqual([...Object.keys(WALK), ...Object.keys(OTHERS)].toSorted(), names.toSorted());
});

for (const [operation, prepare] of Object.entries(WALK))
  test(`${operation} names who did it`, async (t) => {
    const written: JournalLine[] = [];
    const store = storeWith(written);
    const clock = new SimulatedClock(1_800_000_000_000);
    const { portalId, parts } = await portalFor(t, operation, written);
    // Jobs whose ends are still to be announced are not cleaned up.
    const batch = { keepJobs: 5, ...(operation.includes('/webhooks/') && { webhooks: [HOOK] }) };
    const server = await startServer(t, {}, undefined, { store, serviceClock: clock, batch, ...parts });
    const made = await server.call('/api/keys', json({ name: 'night', scopes: ACCESS_SCOPES }));
    const { secret } = (await made.json()) as { readonly secret: string };
    const { params = {}, body } = await prepare({ ...server, t, clock, store, written, portalId });
    const [method = '', path = ''] = operation.split(' ');
    const address = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''));
    written.length = 0;
    const sent = body === undefined ? {} : body instanceof FormData ? { body } : json(body);
    const answer = await fetch(`${server.url}${address}`, {
      ...sent,
      method,
      headers: { ...('headers' in sent && sent.headers), 'x-api-key': secret },
    });
    t.true(answer.ok, await answer.text());
    await reached(() => JSON.stringify(written).includes(CALLER));
    const others = written
      .flatMap(({ data }) => data?.['by'] ?? [])
      // What the service does meanwhile, such as to announce the end of a job, is its own.
      .filter((by) => by !== 'system' && !`${by}`.endsWith(CALLER));
    t.deepEqual(others, []);
  });

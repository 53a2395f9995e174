/** Calls and mails under load, over the public interfaces: each once, none late because a queue stands still. */
import test from 'ava';
import { headersOf, type Relay, startRelay } from '../actors/portal/mails/relay.ts';
import { type Client, type PortalProgram, startProgram } from '../actors/portal/service.ts';
import { type ReceivedCall, type Receiver, startReceiver } from '../actors/portal/webhooks/receiver.ts';
import { roundsOf } from '../project/rounds.ts';
import { temporaryRoot } from './service.ts';

const JOBS = roundsOf(40, 1000);
const DOCUMENTS = roundsOf(32, 1000);
const MAILS = roundsOf(32, 400);

/** Documents made by one request; the creation of all is one event. */
const PER_REQUEST = 4;

/** Requests at once. */
const AT_ONCE = 8;

/** Seconds for which a test waits for the last call or mail. */
const TIMEOUT_SECONDS = 110;

/** Runs `work` for 0 to `count` - 1, `AT_ONCE` at once. */
async function inParallel(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let n = next++; n < count; n = next++) await work(n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Times of events, for the figures of a run. */
class Times {
  readonly #begun = performance.now();
  readonly #all: number[] = [];

  add = (): void => {
    this.#all.push(performance.now() - this.#begun);
  };

  toString(): string {
    const gaps = this.#all.map((at, n) => at - (this.#all[n - 1] ?? at));
    return `${this.#all.length} in ${Math.round(this.#all.at(-1) ?? 0)} ms, longest gap ${Math.round(Math.max(...gaps))} ms`;
  }
}

/** Ids of calls with the number of calls under each. */
function countById(calls: readonly ReceivedCall[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { headers } of calls) {
    const id = String(headers['webhook-id']);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

let fixture: PortalProgram & { readonly receiver: Receiver; readonly relay: Relay };
let onMail = (): void => {};
const ends: (() => unknown)[] = [];

test.before(async () => {
  const t = { teardown: (task: () => unknown) => void ends.unshift(task) };
  const receiver = await startReceiver(t);
  const relay = await startRelay(t, 0, () => onMail());
  const program = await startProgram(t, {
    root: await temporaryRoot(t),
    settings: {
      'Notifications:Webhooks:0:Url': receiver.url,
      'Portal:WebhookAllowPrivate': true,
      'Portal:Smtp:Host': '127.0.0.1',
      'Portal:Smtp:Port': relay.port,
      'Portal:Smtp:From': 'portal@example.test',
    },
    env: { Notifications__Webhooks__0__Secret: `whsec_${Buffer.alloc(32, 3).toString('base64')}` },
  });
  fixture = { ...program, receiver, relay };
});
test.after.always(async () => {
  for (const end of ends) await end();
});

/** Times of the calls from now on. @param forget removes earlier calls */
function timed(receiver: Receiver, forget = true): Times {
  const times = new Times();
  if (forget) receiver.calls.length = 0;
  receiver.answer = (_, response) => {
    times.add();
    response.writeHead(204).end();
  };
  return times;
}

test.serial(`the ends of ${JOBS} jobs that are uploaded ${AT_ONCE} at once are told once each`, async (t) => {
  const { service, receiver } = fixture;
  const times = timed(receiver);
  await inParallel(JOBS, (n) => service.upload(`${n}.txt`, `content ${n}`));
  await service.idle(TIMEOUT_SECONDS);
  const told = async () => (receiver.calls.length >= JOBS ? true : undefined);
  await service.until(`${JOBS} calls, of which ${receiver.calls.length} came`, told, TIMEOUT_SECONDS);
  t.log(`calls: ${times}`);
  const counts = countById(receiver.calls);
  t.is(counts.size, JOBS);
  t.deepEqual(
    [...counts].filter(([, count]) => count !== 1),
    [],
  );
});

interface Delivery {
  readonly eventType: string;
  readonly attempts: readonly { readonly error: string | null }[];
}

/** Creates documents of one upload with the given participants, `perCall` in each call. */
async function createDocuments(
  client: Client,
  count: number,
  perCall: number,
  more: { readonly [member: string]: unknown },
): Promise<void> {
  const file = { ...(await client.upload()), displayName: 'Letter' };
  await inParallel(Math.ceil(count / perCall), (n) =>
    client.post('/api/documents', {
      files: Array.from({ length: Math.min(perCall, count - n * perCall) }, () => file),
      ...more,
    }),
  );
}

test.serial(
  `the creation and deletion of ${DOCUMENTS} documents are told at the first attempt`,
  async (t) => {
    let times = new Times();
    const receiver = await startReceiver(t, (_, response) => {
      times.add();
      response.writeHead(204).end();
    });
    const program = await startProgram(t, { settings: { 'Portal:WebhookAllowPrivate': true } });
    const { service } = program;
    const acme = await program.organization('Load');
    const path = `/api/organizations/${acme.organizationId}`;
    await acme.post(`${path}/webhooks`, { url: receiver.url, authType: 'NoAuth' });
    const reach = (calls: number) =>
      service.until(
        `${calls} calls`,
        async () => (receiver.calls.length >= calls ? true : undefined),
        TIMEOUT_SECONDS,
      );
    await createDocuments(acme, DOCUMENTS, PER_REQUEST, {
      flowActions: [{ user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true }],
      disablePendingActionNotifications: true,
    });
    const CREATIONS = DOCUMENTS / PER_REQUEST;
    await reach(CREATIONS);
    t.log(`creations: ${times}`);
    times = new Times();
    await acme.post('/api/documents/operations', {
      action: 'Delete',
      filter: { queryType: 'Name', q: 'Letter' },
    });
    await reach(CREATIONS + DOCUMENTS);
    t.log(`deletions: ${times}`);
    const counts = countById(receiver.calls);
    t.is(counts.size, CREATIONS + DOCUMENTS);
    t.deepEqual(
      [...counts].filter(([, count]) => count !== 1),
      [],
    );
    // The answer to the last call comes before its outcome is stored.
    await service.until('all deliveries to end', async () => {
      const { totalCount } = await acme.get<{ totalCount: number }>(
        `${path}/deliveries?status=Pending&limit=1`,
      );
      return totalCount === 0 ? true : undefined;
    });
    for (let page = 0; page < (CREATIONS + DOCUMENTS) / 100; page += 1) {
      const { items } = await acme.get<{ items: Delivery[] }>(`${path}/deliveries?limit=100&offset=${page}`);
      t.true(items.length > 0);
      const repeated = items.filter(({ attempts }) => attempts.length !== 1 || attempts[0]?.error !== null);
      t.deepEqual(repeated, []);
    }
  },
);

test.serial(`${MAILS} mails of one organization are sent once each`, async (t) => {
  const { acme, service, relay } = fixture;
  const times = new Times();
  onMail = times.add;
  await createDocuments(acme, MAILS / 4, 1, {
    flowActions: ['ana', 'ben', 'cem', 'dan'].map((name) => ({
      user: { name, email: `${name}@example.org` },
      allowElectronicSignature: true,
      step: 1,
    })),
  });
  await service.until(
    `${MAILS} mails`,
    async () => (relay.taken.length >= MAILS ? true : undefined),
    TIMEOUT_SECONDS,
  );
  t.log(`mails: ${times}`);
  const ids = relay.taken.map(({ raw }) => headersOf(raw).get('message-id'));
  t.is(new Set(ids).size, MAILS);
  t.is(ids.length, MAILS);
});

/**
 * Everything that a chaos run tells others: documents are created and approved while nodes end, a webhook receiver and
 * a mail server record what they get. A repeat must carry the id of the first.
 */

import { headersOf, type Relay, startRelay } from '../actors/portal/mails/relay.ts';
import { SAMPLE } from '../actors/portal/service.ts';
import { type ReceivedCall, type Receiver, startReceiver } from '../actors/portal/webhooks/receiver.ts';
import type { Service } from '../service/service.ts';

const SECRET = 'ab'.repeat(32);
const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const KEY = `Chaos|${SECRET}`;

/** Events of a document with one approver, in their order. */
const EVENTS = ['DocumentsCreated', 'DocumentApproved', 'DocumentConcluded'];

/** Mails to its approver: the request, and the news of the conclusion. */
const MAILS = 2;

interface Detail {
  readonly key: string;
  readonly status: string;
}

export interface Announcements {
  /** Settings of each node. */
  readonly settings: { readonly [key: string]: string | number | boolean };
  /** Creates a document and approves it; each request is repeated until it is answered. */
  document(name: string, pick: () => Service | undefined): Promise<void>;
  /** Makes a draft. Returns what gives it another name; a change is repeated until it is answered. */
  draft(pick: () => Service | undefined): Promise<(name: string) => Promise<void>>;
  /**
   * Everything that is missing or was told under two ids, in words.
   * @param stepsOf number of steps of a draft
   */
  broken(service: Service, stepsOf: (id: string) => Promise<number>): Promise<readonly string[]>;
  /** Webhook calls and mails that came more than once. */
  readonly repeats: { readonly calls: number; readonly mails: number };
  readonly documents: number;
}

export async function startAnnouncements(t: { teardown(task: () => unknown): void }): Promise<Announcements> {
  const receiver = await startReceiver(t, (_, response) => setImmediate(() => response.writeHead(204).end()));
  const relay = await startRelay(t);
  const documents = new Map<string, string>();
  /** Drafts, with the name acknowledged last and the number of acknowledged changes. */
  const drafts = new Map<string, { readonly name: string; readonly changes: number }>();
  return {
    settings: {
      'Notifications:Webhooks:0:Url': `${receiver.url}/jobs`,
      'Notifications:Webhooks:0:Secret': WEBHOOK_SECRET,
      'Portal:Enabled': true,
      'Portal:Bootstrap:Organization': 'Acme',
      'Portal:Bootstrap:Application': 'Chaos',
      'Portal:Bootstrap:Secret': SECRET,
      'Portal:Organizations:0:Name': 'Acme',
      'Portal:Organizations:0:Webhook:Url': `${receiver.url}/documents`,
      'Portal:Organizations:0:Webhook:AuthType': 'Bearer',
      'Portal:Organizations:0:Webhook:Token': 'chaos',
      'Portal:WebhookAllowPrivate': true,
      'Portal:Smtp:Host': '127.0.0.1',
      'Portal:Smtp:Port': relay.port,
      'Portal:Smtp:From': 'portal@example.test',
    },
    async document(name, pick) {
      const email = `${name}@example.test`;
      const id = await repeated(pick, (service) => create(service, name, email));
      documents.set(id, email);
      await repeated(pick, async (service) => {
        const detail = await call<Detail>(service, 'GET', { path: `/api/documents/${id}` });
        if (detail.status !== 'Pending') return true;
        const { url } = await call<{ url: string }>(service, 'POST', {
          path: `/api/documents/${id}/action-url`,
          body: {
            emailAddress: email,
          },
        });
        const ticket = new URL(url).searchParams.get('ticket');
        await call(service, 'POST', { path: `/api/documents/keys/${detail.key}/approval`, body: { ticket } });
        return true;
      });
    },
    async draft(pick) {
      const body = (name: string) => ({ name, document: { files: [], flowActions: [] } });
      const { id } = await repeated(pick, (service) =>
        call<{ id: string }>(service, 'POST', { path: '/api/document-drafts', body: body('new') }),
      );
      drafts.set(id, { name: 'new', changes: 0 });
      return async (name) => {
        await repeated(pick, async (service) => {
          await call(service, 'PUT', { path: `/api/document-drafts/${id}`, body: body(name) });
          return true;
        });
        drafts.set(id, { name, changes: (drafts.get(id)?.changes ?? 0) + 1 });
      };
    },
    async broken(service, stepsOf) {
      const { jobs, ofDocuments } = sorted(receiver.calls);
      return [
        ...(await lostChanges(service, drafts, stepsOf)),
        ...(await openDocuments(service, [...documents.keys()])),
        ...[...documents].flatMap(([id]) => wrongEvents(id, ofDocuments.get(id) ?? [])),
        ...[...documents.values()].flatMap((email) => wrongMails(email, relay)),
        ...(await unannouncedJobs(service, jobs)),
      ];
    },
    get repeats() {
      return repeatsOf(receiver, relay);
    },
    get documents() {
      return documents.size;
    },
  };
}

/** Repeats a request until it is answered. */
async function repeated<Answer>(
  pick: () => Service | undefined,
  ask: (service: Service) => Promise<Answer>,
): Promise<Answer> {
  const end = Date.now() + 300_000;
  for (;;) {
    const service = pick();
    try {
      if (service !== undefined) return await ask(service);
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function call<Answer>(
  service: Service,
  method: string,
  {
    path,
    body,
    headers = {},
  }: {
    readonly path: string;
    readonly body?: object | undefined;
    readonly headers?: Readonly<Record<string, string>> | undefined;
  },
): Promise<Answer> {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${service.portalUrl}${path}`, {
    method,
    headers: { 'X-Api-Key': KEY, ...(!isForm && body && { 'Content-Type': 'application/json' }), ...headers },
    signal: AbortSignal.timeout(30_000),
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Answer;
}

/** One document, however often it is asked for. */
async function create(service: Service, name: string, email: string): Promise<string> {
  const form = new FormData();
  form.set('content', new Blob([new Uint8Array(SAMPLE.content)], { type: SAMPLE.type }), SAMPLE.name);
  const upload = await call<{ id: string }>(service, 'POST', {
    path: '/api/uploads',
    body: form,
    headers: {
      'Idempotency-Key': `upload-${name}`,
    },
  });
  const body = {
    files: [{ ...upload, displayName: name }],
    flowActions: [{ type: 'Approver', step: 1, user: { name, email } }],
  };
  const [made] = await call<{ documentId: string }[]>(service, 'POST', {
    path: '/api/documents',
    body,
    headers: {
      'Idempotency-Key': `document-${name}`,
    },
  });
  if (made === undefined) throw new Error('No document was made.');
  return made.documentId;
}

/** Calls about jobs, and those about each document. */
function sorted(calls: readonly ReceivedCall[]): {
  readonly jobs: readonly ReceivedCall[];
  readonly ofDocuments: ReadonlyMap<string, readonly ReceivedCall[]>;
} {
  const ofDocuments = new Map<string, ReceivedCall[]>();
  for (const call of calls.filter(({ path }) => path.endsWith('/documents'))) {
    const id = idOf(call).split('.')[1] ?? '';
    ofDocuments.set(id, [...(ofDocuments.get(id) ?? []), call]);
  }
  return { jobs: calls.filter(({ path }) => path.endsWith('/jobs')), ofDocuments };
}

const idOf = ({ headers }: ReceivedCall): string => String(headers['webhook-id']);

async function openDocuments(service: Service, ids: readonly string[]): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const id of ids) {
    const { status } = await call<Detail>(service, 'GET', { path: `/api/documents/${id}` });
    if (status !== 'Concluded') broken.push(`document ${id} is ${status}`);
  }
  const { totalCount } = await call<{ totalCount: number }>(service, 'GET', {
    path: '/api/documents?limit=1',
  });
  if (totalCount !== ids.length) broken.push(`${totalCount} documents for ${ids.length} acknowledged ones`);
  return broken;
}

/** A draft has the name acknowledged last, and was stored once for each acknowledged change. */
async function lostChanges(
  service: Service,
  drafts: ReadonlyMap<string, { readonly name: string; readonly changes: number }>,
  stepsOf: (id: string) => Promise<number>,
): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const [id, { name, changes }] of drafts) {
    const found = await call<{ name: string }>(service, 'GET', { path: `/api/document-drafts/${id}` });
    if (found.name !== name) broken.push(`draft ${id} is called ${found.name} instead of ${name}`);
    // The first step is its creation; a change whose answer was lost was made again.
    const steps = await stepsOf(id);
    if (!(steps >= changes + 1)) broken.push(`draft ${id} has ${steps} steps after ${changes} changes`);
  }
  return broken;
}

/** One id and one body for each event, in sequence. */
function wrongEvents(document: string, calls: readonly ReceivedCall[]): readonly string[] {
  const broken: string[] = [];
  const firsts = new Map<number, ReceivedCall>();
  for (const one of calls) {
    const sequence = Number(one.headers['webhook-sequence']);
    const first = firsts.get(sequence);
    if (first === undefined) firsts.set(sequence, one);
    else if (idOf(first) !== idOf(one) || first.body !== one.body)
      broken.push(`event ${sequence} of document ${document} came under two ids or with two bodies`);
  }
  const types = [...firsts.values()].map(({ body }) => (JSON.parse(body) as { type: string }).type);
  const sequences = [...firsts.keys()];
  if (types.join() !== EVENTS.join() || sequences.some((sequence, at) => sequence !== at + 1))
    broken.push(`document ${document} was announced as ${types.join()} (${sequences.join()})`);
  return broken;
}

function wrongMails(email: string, { taken }: Relay): readonly string[] {
  const subjects = new Map<string, string>();
  for (const { to, raw } of taken) {
    if (!to.includes(email)) continue;
    const headers = headersOf(raw);
    subjects.set(headers.get('message-id') ?? '', headers.get('subject') ?? '');
  }
  return subjects.size === MAILS
    ? []
    : [`${email} got ${subjects.size} mails: ${[...subjects.values()].join('; ')}`];
}

/** The end of each job is announced once, or again under the same id and with the same body. */
async function unannouncedJobs(service: Service, calls: readonly ReceivedCall[]): Promise<readonly string[]> {
  const broken: string[] = [];
  const first = new Map<string, ReceivedCall>();
  for (const one of calls) {
    const { data } = JSON.parse(one.body) as { data: { id: string } };
    const earlier = first.get(data.id);
    if (earlier === undefined) first.set(data.id, one);
    else if (idOf(earlier) !== idOf(one) || earlier.body !== one.body)
      broken.push(`the end of job ${data.id} came under two ids or with two bodies`);
  }
  const unannounced = (await service.jobs()).filter(({ id }) => !first.has(id));
  return [...broken, ...unannounced.map(({ id }) => `the end of job ${id} was not announced`)];
}

function repeatsOf({ calls }: Receiver, { taken }: Relay): Announcements['repeats'] {
  const mails = taken.map(({ to, raw }) => `${headersOf(raw).get('message-id')} ${to.join()}`);
  return {
    calls: calls.length - new Set(calls.map(idOf)).size,
    mails: taken.length - new Set(mails).size,
  };
}

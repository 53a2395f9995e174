/**
 * Sends the examples of the reference to a fresh installation through the client of `clients/`, with the ids of
 * prepared things in place of theirs.
 */
import { randomUUID } from 'node:crypto';
import anyTest, { type TestFn } from 'ava';
import { Client as ApiClient, ApiError, type OperationTypes } from '../../../../clients/typescript/client.ts';
import { IDEMPOTENCY_KEYS } from '../../../../clients/typescript/idempotency-keys.ts';
import { EXAMPLE_IDS } from '../../../../contracts/portal/examples.ts';
import { type Client, type PortalProgram, SAMPLE, startProgram } from '../../../actors/portal/service.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { portalTable } from '../../descriptions.ts';
import { type Started, selfSigned, signatureValue } from '../signing/certificate-client.ts';

const test = anyTest as TestFn<PortalProgram>;

const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await startProgram(shared);
});

/** Operations that refuse their example, with the code that their description names: their schema accepted it. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  // test/http/portal/links/public-links.test.ts makes links and visits.
  ['POST /api/public-links', 'TemplateNotFound'],
  ['POST /api/public-links/view', 'PublicLinkNotFound'],
  ['POST /api/public-links/{id}/devices', 'PublicLinkNotFound'],
  ['POST /api/public-links/code', 'PublicLinkNotFound'],
  ['POST /api/public-links/documents', 'PublicLinkNotFound'],
  // test/http/portal/links/waiting.test.ts begins sessions.
  ['POST /api/waiting/session', 'InvalidAuthenticationCode'],
  ['POST /api/waiting/documents', 'InvalidTicket'],
  ['POST /api/waiting/signatures', 'InvalidTicket'],
  ['POST /api/waiting/deputies', 'InvalidTicket'],
  ['POST /api/waiting/deputies/view', 'InvalidTicket'],
  ['POST /api/waiting/deputies/end', 'InvalidTicket'],
  ['POST /api/waiting/deputies/documents', 'InvalidTicket'],
  ['POST /api/waiting/deputies/content', 'InvalidTicket'],
  ['POST /api/waiting/deputies/act', 'InvalidTicket'],
  ['POST /api/documents/sms-authentication-code', 'FlowActionNotFound'],
  ['POST /api/documents/authenticator-app-reset', 'FlowActionNotFound'],
]);

const EXAMPLES: ReadonlyMap<string, object> = new Map(
  portalTable().flatMap(({ method, path, examples }) =>
    examples?.request === undefined ? [] : [[`${method} ${path}`, examples.request as object] as const],
  ),
);

interface Identified {
  readonly id: string;
}

/** Parameters of the path, ids of the body, and the credential when it is no key. */
interface Prepared {
  readonly params?: { readonly [name: string]: string };
  readonly ids?: { readonly [example: string]: string };
  readonly session?: string;
}

type Operations = { readonly [operation: string]: OperationTypes };

const SIGNER = selfSigned('Ana Silva');

const CERTIFICATE = {
  [memberOf('POST /api/documents/{id}/signature/certificate', 'certificate')]:
    SIGNER.certificate.toString('base64'),
};

async function upload(
  client: Client,
  content: string | Uint8Array,
  name: string,
  type: string,
): Promise<string> {
  return (await client.upload({ name, content: Buffer.from(content), type })).id;
}

const CREATE = 'POST /api/documents';

function exampleOf(operation: string): object {
  const example = EXAMPLES.get(operation);
  if (example === undefined) throw new Error(`${operation} has no example.`);
  return example;
}

/** The body with prepared ids in place of those of the example. */
function withIds(body: object, ids: Prepared['ids'] = {}): object {
  let text = JSON.stringify(body);
  for (const [example, id] of Object.entries(ids)) text = text.replaceAll(example, id);
  return JSON.parse(text);
}

async function document(client: Client, query = '', type = 'Signer'): Promise<Prepared> {
  const file = await upload(client, SAMPLE.content, 'contract.pdf', 'application/pdf');
  const ids = { [EXAMPLE_IDS.upload]: file };
  const [made] = await client.post<{ documentId: string }[]>(
    `/api/documents${query}`,
    mayPassOn(withIds(exampleOf(CREATE), { ...ids, Signer: type })),
  );
  const id = made?.documentId ?? '';
  const { flowActions } = await client.get<{ flowActions: Identified[] }>(`/api/documents/${id}`);
  return {
    params: { id },
    ids: { ...ids, [EXAMPLE_IDS.document]: id, [EXAMPLE_IDS.flowAction]: flowActions[0]?.id ?? '' },
  };
}

/** The example hands an action on. */
function mayPassOn(request: object): object {
  const { flowActions } = request as { readonly flowActions: readonly object[] };
  return { ...request, flowActions: flowActions.map((action) => ({ ...action, allowPassingOn: true })) };
}

async function participant(client: Client, type: string): Promise<Prepared> {
  const prepared = await document(client, '', type);
  const { url } = await client.post<{ url: string }>(
    `/api/documents/${prepared.params?.['id']}/action-url`,
    exampleOf('POST /api/documents/{id}/action-url'),
  );
  const [, key = '', ticket = ''] = /\/key\/([^/]+)\/.*\?ticket=(.*)$/.exec(url) ?? [];
  return { params: { key }, ids: { ...prepared.ids, [EXAMPLE_IDS.ticket]: ticket } };
}

/** A member of an example. */
function memberOf(operation: string, member: string): string {
  return String(new Map<string, unknown>(Object.entries(exampleOf(operation))).get(member));
}

/** Token and signature value of a signature that was started at `/signature/certificate`. */
async function started(client: Client, path: string, prepared: Prepared): Promise<Prepared> {
  const { params = {}, ids = {} } = prepared;
  const start = `${path}/certificate`;
  const begun = await client.post<Started>(
    start.replace(/\{(\w+)\}/, (_, name: string) => params[name] ?? ''),
    withIds(exampleOf(`POST ${start}`), { ...ids, ...CERTIFICATE }),
  );
  return {
    params,
    ids: {
      ...ids,
      [memberOf(`POST ${path}`, 'token')]: begun.token,
      [memberOf(`POST ${path}`, 'signature')]: signatureValue(SIGNER, begun),
    },
  };
}

/** The ticket of a link to the editor, or the session that it opened. */
async function editor(client: Client, isOpen: boolean): Promise<Prepared> {
  const { ids = {} } = await files(client);
  const link = await client.post<{ url: string }>(
    '/api/editor-sessions',
    withIds(exampleOf('POST /api/editor-sessions'), ids),
  );
  const ticket = new URL(link.url).searchParams.get('ticket') ?? '';
  if (!isOpen) return { ids: { [EXAMPLE_IDS.ticket]: ticket } };
  const { token } = await client.post<{ token: string }>('/api/editor-sessions/open', { ticket });
  return { ids, session: token };
}

/** Sends the example of the operation that makes what `{id}` names. */
async function made(client: Client, path: string): Promise<Prepared> {
  const { ids = {} } = await files(client, 'Tenant.name,Tenant.email');
  const { id } = await client.post<Identified>(path, withIds(exampleOf(`POST ${path}`), ids));
  return { params: { id }, ids };
}

async function files(client: Client, columns = 'name,email'): Promise<Prepared> {
  return {
    ids: {
      [EXAMPLE_IDS.upload]: await upload(client, SAMPLE.content, 'contract.pdf', 'application/pdf'),
      [EXAMPLE_IDS.template]: await upload(client, 'Dear {{name}}', 'letter.txt', 'text/plain'),
      [EXAMPLE_IDS.table]: await upload(
        client,
        `${columns}\nAna,ana@example.com\n`,
        'people.csv',
        'text/csv',
      ),
    },
  };
}

type Own = Awaited<ReturnType<PortalProgram['organization']>>;

async function prepare(
  { acme, administrator }: PortalProgram,
  own: Own,
  operation: string,
): Promise<Prepared> {
  const [, path = ''] = operation.split(' ');
  if (path.includes('{userId}')) return member(own);
  if (path.includes('{keyId}')) return applicationKey(administrator, own);
  if (path === '/api/documents/{id}/envelope/versions')
    return document(acme, '?isEnvelope=true&envelopeName=Lease');
  if (path.startsWith('/api/editor-sessions/')) return editor(acme, path.endsWith('/current'));
  if (path.endsWith('/signature/certificate')) {
    const prepared = path.includes('{key}') ? await participant(acme, 'Signer') : await document(acme);
    return { ...prepared, ids: { ...prepared.ids, ...CERTIFICATE } };
  }
  if (path.endsWith('/signature'))
    return started(
      acme,
      path,
      path.includes('{key}') ? await participant(acme, 'Signer') : await document(acme),
    );
  if (path.startsWith('/api/documents/keys/'))
    return participant(acme, path.endsWith('/approval') ? 'Approver' : 'Signer');
  if (path === '/api/documents/validate-signatures') return signed(acme);
  // No link has this id.
  if (path.startsWith('/api/public-links/{id}')) return { params: { id: EXAMPLE_IDS.document } };
  if (path.startsWith('/api/documents/{id}') || /archive|combined|batch|reminder$|from-document$/.test(path))
    return document(acme);
  if (operation === 'PUT /api/folders/{id}/grants') {
    const { id: userId } = await acme.post<Identified>(
      '/api/organizations/users',
      exampleOf('POST /api/organizations/users'),
    );
    return { ...(await made(acme, '/api/folders')), ids: { [EXAMPLE_IDS.flowAction]: userId } };
  }
  const collection = /^(\/api\/(?:document-drafts|document-flows|templates|folders))\/\{id\}/.exec(path)?.[1];
  if (collection !== undefined) return made(acme, collection);
  if (path.includes('{applicationId}')) {
    const id = own.organizationId;
    const application = await administrator.post<Identified>(`/api/admin/organizations/${id}/applications`, {
      name: 'Reference 2',
    });
    return { params: { id, applicationId: application.id } };
  }
  if (path.includes('{webhookId}')) {
    const id = own.organizationId;
    const hook = await own.post<Identified>(
      `/api/organizations/${id}/webhooks`,
      exampleOf('POST /api/organizations/{id}/webhooks'),
    );
    return { params: { id, webhookId: hook.id } };
  }
  if (path.includes('{providerId}')) {
    const id = own.organizationId;
    const provider = await own.post<Identified>(
      `/api/organizations/${id}/signing-providers`,
      exampleOf('POST /api/organizations/{id}/signing-providers'),
    );
    return { params: { id, providerId: provider.id } };
  }
  if (path.includes('organizations/{id}')) return { params: { id: own.organizationId } };
  if (path.includes('{subject}')) return { params: { subject: 'hr-1042' } };
  return files(acme);
}

function clientFor({ acme, administrator, monitor }: PortalProgram, own: Own, path: string): Client {
  if (/^\/api\/(admin|users\/\{|organizations\/\{id\}\/users)/.test(path)) return administrator;
  if (path.endsWith('/date')) return monitor;
  return /organizations\/(\{id\}|users\/\{)/.test(path) ? own : acme;
}

/** A person of the organization. */
async function member(own: Own): Promise<Prepared> {
  const path = '/api/organizations/users';
  const { id } = await own.post<Identified>(path, exampleOf(`POST ${path}`));
  return { params: { id: own.organizationId, userId: id } };
}

async function applicationKey(administrator: Client, { organizationId }: Own): Promise<Prepared> {
  const applications = `/api/admin/organizations/${organizationId}/applications`;
  const application = await administrator.post<Identified>(applications, {
    name: `Reference ${randomUUID()}`,
  });
  const key = await administrator.post<Identified>(`${applications}/${application.id}/keys`, {});
  return { params: { id: organizationId, applicationId: application.id, keyId: key.id } };
}

function uploadForm(): FormData {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(SAMPLE.content)], { type: SAMPLE.type }), SAMPLE.name);
  return form;
}

/** Sends the example of an operation. */
async function send(
  program: PortalProgram,
  own: Own,
  {
    operation,
    prepared: { params = {}, ids, session },
    fetchOf = fetch,
  }: { readonly operation: string; readonly prepared: Prepared; readonly fetchOf?: typeof fetch | undefined },
): Promise<unknown> {
  const [, path = ''] = operation.split(' ');
  const { url, key } = clientFor(program, own, path);
  const api = new ApiClient<Operations>(
    session === undefined
      ? { url, key, fetch: fetchOf }
      : { url, key: session, keyHeader: 'X-Editor-Session', fetch: fetchOf },
  );
  const example = EXAMPLES.get(operation);
  const body = operation === 'POST /api/uploads' ? uploadForm() : example && withIds(example, ids);
  return api.response(operation, { params, body }).then(
    (answer) => answer.text(),
    (error: unknown) => error,
  );
}

test.serial('the example of every operation with a body is accepted when it is sent', async (t) => {
  const own = await t.context.organization('Reference');
  const wrong: string[] = [];
  for (const operation of EXAMPLES.keys()) {
    const answer = await send(t.context, own, {
      operation,
      prepared: await prepare(t.context, own, operation),
    });
    const code = answer instanceof ApiError ? answer.code : answer instanceof Error ? answer : undefined;
    if (code !== REFUSED.get(operation)) wrong.push(`${operation}: ${answer}`);
  }
  t.deepEqual(wrong, []);
  t.log(`${EXAMPLES.size} examples were sent`);
});

/** Ends its own credential: a repetition is refused with 401, as that of a wrong credential. */
const ENDS_CREDENTIAL = 'DELETE /api/editor-sessions/current';

/** Operations that the client repeats by itself, beside GET. */
const REPEATED = portalTable()
  .map(({ method, path }) => `${method} ${path}`)
  .filter((name) => /^(PUT|DELETE) \/api\//.test(name) || IDEMPOTENCY_KEYS.has(name))
  .filter((name) => name !== ENDS_CREDENTIAL);

test.serial(
  'a call that the client repeats because its answer was lost has the effect and answer of one',
  async (t) => {
    t.deepEqual(
      [...IDEMPOTENCY_KEYS].filter((name) => !REPEATED.includes(name)),
      ['POST /api/files'],
    );
    const own = await t.context.organization('Repeated');
    /** Answer of the operation, and what the service shows afterwards, without ids and times. */
    const outcome = async (operation: string, isLost: boolean) => {
      const prepared = await prepare(t.context, own, operation);
      const [, path = ''] = operation.split(' ');
      const { acme } = t.context;
      const client = clientFor(t.context, own, path);
      const total = async () => (await acme.get<{ totalCount: number }>('/api/documents')).totalCount;
      const before = await total();
      let tries = 0;
      const answer = await send(t.context, own, {
        operation,
        prepared,
        fetchOf: async (...request) => {
          const answered = await fetch(...request);
          tries += 1;
          if (!isLost || tries > 1) return answered;
          await answered.arrayBuffer();
          throw new TypeError('fetch failed');
        },
      });
      t.is(tries, isLost ? 2 : 1, operation);
      const shown = path.replace(/\{(\w+)\}/g, (_, name: string) => prepared.params?.[name] ?? '');
      const isShown = !operation.startsWith('POST') && prepared.session === undefined;
      const view = isShown ? await client.fetch(shown).then((read) => read.text()) : '';
      const made =
        operation.includes('/documents') && !operation.endsWith('generation') ? (await total()) - before : 0;
      return plain([String(answer), view, String(made)]);
    };
    for (const operation of REPEATED)
      t.deepEqual(await outcome(operation, true), await outcome(operation, false), operation);
  },
);

/** Texts without what differs between two runs. */
function plain(texts: readonly string[]): readonly string[] {
  return texts.map((text) =>
    text
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-][\d:]+)/g, 'time')
      .replace(/ticket=[\w.-]+/g, 'ticket'),
  );
}

/** An upload of a file that is signed. */
async function signed(client: Client): Promise<Prepared> {
  const { params, ids = {} } = await document(client);
  const id = params?.['id'];
  const operation = 'POST /api/documents/{id}/electronic-signature';
  await client.post(`/api/documents/${id}/electronic-signature`, withIds(exampleOf(operation), ids));
  const file = await client.fetch(`/api/documents/${id}/content?type=Signatures`);
  const content = new Uint8Array(await file.arrayBuffer());
  return {
    ids: { [EXAMPLE_IDS.upload]: await upload(client, content, 'contract.pdf', 'application/pdf') },
  };
}

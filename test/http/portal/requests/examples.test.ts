/**
 * Sends the examples of the reference to a fresh installation through the client of `clients/`, with the ids of
 * prepared things in place of theirs.
 */
import anyTest, { type TestFn } from 'ava';
import { Client as ApiClient, ApiError, type OperationTypes } from '../../../../clients/typescript/client.ts';
import { EXAMPLE_IDS } from '../../../../http/portal/description/example-values.ts';
import { type Client, type PortalProgram, SAMPLE, startProgram } from '../../../actors/portal/service.ts';
import { portalTable } from '../harness.ts';
import { type Started, selfSigned, signatureValue } from '../signing/certificate-client.ts';

const test = anyTest as TestFn<PortalProgram>;

test.before(async (t) => {
  const tasks: (() => unknown)[] = [];
  t.context = await startProgram({ teardown: (task) => void tasks.push(task) });
  ending = async () => {
    for (const task of tasks.reverse()) await task();
  };
});
let ending: (() => Promise<void>) | undefined;
test.after.always(() => ending?.());

/** Operations that refuse every request, with the code that their description names. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['POST /api/documents/sms-authentication-code', 'InvalidFlowAction'],
]);

const EXAMPLES: ReadonlyMap<string, object> = new Map(
  portalTable().flatMap(({ method, path, examples }) =>
    examples?.request === undefined ? [] : [[`${method} ${path}`, examples.request as object] as const],
  ),
);

interface Made {
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
    withIds(exampleOf(CREATE), { ...ids, Signer: type }),
  );
  const id = made?.documentId ?? '';
  const { flowActions } = await client.get<{ flowActions: Made[] }>(`/api/documents/${id}`);
  return {
    params: { id },
    ids: { ...ids, [EXAMPLE_IDS.document]: id, [EXAMPLE_IDS.flowAction]: flowActions[0]?.id ?? '' },
  };
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
  const { id } = await client.post<Made>(path, withIds(exampleOf(`POST ${path}`), ids));
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

test('the example of every operation with a body works when it is sent', async (t) => {
  const { acme, administrator, monitor, organization } = t.context;
  const own = await organization('Reference');
  const wrong: string[] = [];
  let sent = 0;
  const prepare = async (operation: string): Promise<Prepared> => {
    const [, path = ''] = operation.split(' ');
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
    if (
      path.startsWith('/api/documents/{id}') ||
      /archive|combined|batch|reminder$|from-document$/.test(path)
    )
      return document(acme);
    const collection = /^(\/api\/(?:document-drafts|document-flows|templates|folders))\/\{id\}/.exec(
      path,
    )?.[1];
    if (collection !== undefined) return made(acme, collection);
    if (path.includes('{applicationId}')) {
      const id = own.organizationId;
      const application = await administrator.post<Made>(`/api/admin/organizations/${id}/applications`, {
        name: 'Reference 2',
      });
      return { params: { id, applicationId: application.id } };
    }
    if (path.includes('{webhookId}')) {
      const id = own.organizationId;
      const hook = await own.post<Made>(
        `/api/organizations/${id}/webhooks`,
        exampleOf('POST /api/organizations/{id}/webhooks'),
      );
      return { params: { id, webhookId: hook.id } };
    }
    if (path.includes('organizations/{id}')) return { params: { id: own.organizationId } };
    if (path.includes('{subject}')) return { params: { subject: 'hr-1042' } };
    return files(acme);
  };
  const clientFor = (path: string): Client => {
    if (/^\/api\/(admin|users\/\{|organizations\/\{id\}\/users)/.test(path)) return administrator;
    if (path.endsWith('/date')) return monitor;
    return path.includes('organizations/{id}') ? own : acme;
  };
  for (const operation of EXAMPLES.keys()) {
    const [, path = ''] = operation.split(' ');
    const { params = {}, ids, session } = await prepare(operation);
    const { url, key } = clientFor(path);
    const api = new ApiClient<Operations>(
      session === undefined ? { url, key } : { url, key: session, keyHeader: 'X-Editor-Session' },
    );
    const body = withIds(exampleOf(operation), ids);
    const refusal = await api.response(operation, { params, body }).then(
      async (answer) => void (await answer.arrayBuffer()),
      (error: unknown) => error,
    );
    const code = refusal instanceof ApiError ? refusal.code : refusal;
    if (code !== REFUSED.get(operation)) wrong.push(`${operation}: ${refusal}`);
    sent += 1;
  }
  t.deepEqual(wrong, []);
  t.is(sent, EXAMPLES.size);
  t.log(`${sent} examples were sent`);
});

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

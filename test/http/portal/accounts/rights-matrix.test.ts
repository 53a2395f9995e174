/**
 * Rights of users: role × operation × place. Each operation of the portal has a decision here, or the test is red.
 *
 * Source: docs/decisions/0288-rights-on-folders.md, docs/decisions/0277-scopes-and-roles-of-operators.md.
 */
import test, { type ExecutionContext } from 'ava';
import type { KeyAccess } from '../../../../contracts/portal/operation.ts';
import type { UserRole } from '../../../../machines/portal/accounts/portal-user.ts';
import { USER_SCOPES } from '../../../../machines/portal/accounts/user-rights.ts';
import { type Client, type PortalProgram, SAMPLE, startProgram } from '../../../actors/portal/service.ts';
import { portalTable } from '../../descriptions.ts';
import { fileOf, flowActions, type Ids, REQUESTS, unknownIds } from './requests-by-id.ts';
import { ADMINISTRATOR, type Caller, person } from './users.ts';

type Right = 'Read' | 'Send' | 'Manage';
type Place = 'open' | Right | 'hidden' | 'elsewhere';
/** Least right that an operation needs in the folder of the thing it names, which somebody else has made. */
type Decision =
  | Right
  /** It finds less in place of refusing. */
  | 'finds Read'
  | 'finds Manage'
  /** `Manage` by a grant: a folder without grants is restricted by administrators. */
  | 'grants'
  /** It belongs to the organization and to no folder. */
  | 'organization'
  /** Nothing of a folder is named: scopes alone decide (`roles.test.ts`). */
  | 'scope';
type Person = Awaited<ReturnType<typeof person>>;
type Verdict = 'permitted' | 'forbidden' | 'unknown';

const DECISIONS: { readonly [route: string]: Decision } = {
  'GET /api/sessions': 'scope',
  'DELETE /api/sessions': 'scope',
  'GET /api/organizations/sign-ins/export': 'scope',
  'GET /api/document-drafts': 'scope',
  'POST /api/document-drafts': 'scope',
  'DELETE /api/document-drafts/{id}': 'Manage',
  'GET /api/document-drafts/{id}': 'Read',
  'PUT /api/document-drafts/{id}': 'Manage',
  'POST /api/document-drafts/{id}/send': 'Send',
  'GET /api/document-flows': 'scope',
  'POST /api/document-flows': 'scope',
  'DELETE /api/document-flows/{id}': 'organization',
  'GET /api/document-flows/{id}': 'organization',
  'PUT /api/document-flows/{id}': 'organization',
  'POST /api/document-flows/{id}/documents': 'Send',
  'GET /api/documents': 'finds Read',
  'POST /api/documents': 'Send',
  'POST /api/documents/archive': 'Read',
  'POST /api/documents/batch/folder': 'finds Manage',
  'POST /api/documents/combined': 'Read',
  'GET /api/documents/export': 'finds Read',
  'POST /api/documents/generation': 'Send',
  'GET /api/documents/generation/{id}': 'Read',
  'POST /api/documents/generation/{id}/cancellation': 'Manage',
  'GET /api/documents/generation/{id}/rows': 'Read',
  'POST /api/documents/keys/{key}/approval': 'scope',
  'POST /api/documents/keys/{key}/electronic-signature': 'scope',
  'POST /api/documents/keys/{key}/email-authentication-code': 'scope',
  'POST /api/documents/keys/{key}/passing-on': 'scope',
  'POST /api/documents/keys/{key}/passkey-options': 'scope',
  'POST /api/documents/keys/{key}/participant-refusal': 'scope',
  'POST /api/documents/keys/{key}/signature': 'scope',
  'POST /api/documents/keys/{key}/signature/certificate': 'scope',
  'GET /api/documents/keys/{key}/signatures': 'Read',
  'POST /api/documents/keys/{key}/uploads': 'scope',
  'POST /api/documents/keys/{key}/view': 'scope',
  'GET /api/documents/operations': 'scope',
  'POST /api/documents/operations': 'finds Manage',
  'GET /api/documents/operations/{id}': 'Read',
  'POST /api/documents/operations/{id}/cancellation': 'Manage',
  'POST /api/documents/sms-authentication-code': 'scope',
  'POST /api/documents/authenticator-app-reset': 'scope',
  'POST /api/documents/validate-signatures': 'scope',
  'DELETE /api/documents/{id}': 'Manage',
  'GET /api/documents/{id}': 'Read',
  'POST /api/documents/{id}/action-url': 'scope',
  'GET /api/documents/{id}/attachments/{attachmentId}/content': 'Read',
  'POST /api/documents/{id}/cancellation': 'Manage',
  'GET /api/documents/{id}/content': 'Read',
  'GET /api/documents/{id}/content-b64': 'Read',
  'POST /api/documents/{id}/electronic-signature': 'scope',
  'POST /api/documents/{id}/envelope/versions': 'Manage',
  'POST /api/documents/{id}/flow': 'Manage',
  'POST /api/documents/{id}/folder': 'Manage',
  'GET /api/documents/{id}/deputies': 'Read',
  'GET /api/documents/{id}/history': 'Read',
  'GET /api/documents/{id}/mails': 'Read',
  'PUT /api/documents/{id}/notified-emails': 'Manage',
  'POST /api/documents/{id}/refusal': 'Manage',
  'PUT /api/documents/{id}/reminders': 'Manage',
  'POST /api/documents/{id}/retry': 'Manage',
  'POST /api/documents/{id}/signature': 'scope',
  'POST /api/documents/{id}/signature/certificate': 'scope',
  'GET /api/documents/{id}/signatures-details': 'Read',
  'GET /api/documents/{id}/ticket': 'Read',
  'GET /api/documents/{id}/validation-report': 'Read',
  'POST /api/documents/{id}/versions': 'Manage',
  'POST /api/editor-sessions': 'Read',
  'GET /api/folders': 'finds Read',
  'POST /api/folders': 'Manage',
  'GET /api/folders/{id}': 'Read',
  'POST /api/folders/{id}/delete': 'Manage',
  'GET /api/folders/{id}/details': 'Read',
  'GET /api/folders/{id}/grantees': 'grants',
  'GET /api/retention': 'scope',
  'POST /api/erasures': 'scope',
  'GET /api/erasures': 'scope',
  'PUT /api/retention': 'scope',
  'GET /api/retention/documents': 'scope',
  'GET /api/documents/{id}/retention': 'Manage',
  'PUT /api/documents/{id}/hold': 'Manage',
  'PUT /api/folders/{id}/hold': 'Manage',
  'GET /api/folders/{id}/grants': 'Manage',
  'PUT /api/folders/{id}/grants': 'grants',
  'POST /api/marks-sessions': 'scope',
  'POST /api/marks-sessions/documents': 'scope',
  'POST /api/notifications/flow-action-reminder': 'Manage',
  'GET /api/organizations/sign-ins': 'scope',
  'GET /api/organizations/users': 'scope',
  'POST /api/organizations/users': 'scope',
  'DELETE /api/organizations/users/{userId}': 'scope',
  'GET /api/organizations/{id}': 'scope',
  'GET /api/organizations/{id}/branding': 'scope',
  'PUT /api/organizations/{id}/branding': 'scope',
  'DELETE /api/organizations/{id}/branding/logo': 'scope',
  'PUT /api/organizations/{id}/branding/logo': 'scope',
  'POST /api/organizations/{id}/branding/preview': 'scope',
  'GET /api/organizations/{id}/deliveries': 'scope',
  'POST /api/organizations/{id}/deliveries/replay': 'scope',
  'POST /api/organizations/{id}/deliveries/{deliveryId}/resend': 'scope',
  'GET /api/organizations/{id}/signing-providers': 'scope',
  'POST /api/organizations/{id}/signing-providers': 'scope',
  'PUT /api/organizations/{id}/signing-providers/{providerId}': 'scope',
  'DELETE /api/organizations/{id}/signing-providers/{providerId}': 'scope',
  'POST /api/organizations/{id}/signing-providers/{providerId}/test': 'scope',
  'GET /api/organizations/{id}/webhooks': 'scope',
  'POST /api/organizations/{id}/webhooks': 'scope',
  'DELETE /api/organizations/{id}/webhooks/{webhookId}': 'scope',
  'PUT /api/organizations/{id}/webhooks/{webhookId}': 'scope',
  'POST /api/organizations/{id}/webhooks/{webhookId}/test': 'scope',
  'GET /api/public-links': 'scope',
  'POST /api/public-links': 'Send',
  'GET /api/public-links/{id}': 'Read',
  'POST /api/public-links/{id}/end': 'Manage',
  'POST /api/public-links/{id}/devices': 'Send',
  'POST /api/public-links/{id}/devices/{deviceId}/end': 'Send',
  'GET /api/templates': 'scope',
  'POST /api/templates': 'scope',
  'POST /api/templates/from-document': 'Read',
  'DELETE /api/templates/{id}': 'Manage',
  'GET /api/templates/{id}': 'Read',
  'PUT /api/templates/{id}': 'Manage',
  'POST /api/templates/{id}/documents': 'Send',
  'POST /api/templates/{id}/generation': 'Send',
  'GET /api/templates/{id}/versions': 'Read',
  'POST /api/uploads': 'scope',
  'POST /api/uploads/bytes': 'scope',
  'POST /api/uploads/segmented-upload-ticket': 'scope',
  'POST /api/users/notify-pending': 'scope',
};

const OPERATIONS = portalTable().filter(
  ({ auth, path }) => ['application', 'known-or-ticket'].includes(auth) && path.startsWith('/api/'),
);
const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;
const RIGHTS: readonly Right[] = ['Read', 'Send', 'Manage'];
const PLACES: readonly Place[] = ['open', ...RIGHTS, 'hidden', 'elsewhere'];
const FOUND =
  /^(?:GET \/api\/(?:folders|documents|documents\/export)|POST \/api\/documents\/(?:operations|batch\/folder))$/;

/** Ids of what lies in a place. */
interface Placed extends Ids {
  readonly attachment: string;
  /** Upload of a table. */
  readonly table: string;
}

const tableOf = ({ table }: Placed) => ({ id: table, name: 'a.csv', contentType: 'text/csv' });
const documentIn = (ids: Ids) => ({ files: [fileOf(ids)], flowActions, folderId: ids.folder });

/** Requests that end or remove come late, and that of the folder at the end. */
const LAST = [/cancellation|refusal/, /^DELETE/, /^PUT .*grants/, /folders\/\{id\}\/delete/];

/** Requests that name a folder, or need more than those of `REQUESTS`. */
const BODIES: { readonly [route: string]: (ids: Placed) => object } = {
  'POST /api/documents': documentIn,
  'POST /api/document-drafts': (ids) => ({ name: 'D', document: documentIn(ids) }),
  'PUT /api/document-drafts/{id}': (ids) => ({ name: 'D', document: documentIn(ids) }),
  'POST /api/templates': (ids) => ({ name: 'T', document: documentIn(ids) }),
  'POST /api/documents/generation': (ids) => ({
    flowActions,
    folderId: ids.folder,
    dataFile: tableOf(ids),
    templateFile: { id: ids.table, name: 'a.txt', contentType: 'text/plain' },
  }),
  'POST /api/templates/{id}/documents': () => ({
    participants: [{ role: 'Tenant', user: { name: 'Ana', email: 'ana@example.org' } }],
  }),
  'POST /api/templates/{id}/generation': (ids) => ({ dataFile: tableOf(ids) }),
  'POST /api/editor-sessions': (ids) => ({ draftId: ids.draft, returnUrl: 'https://app.example/' }),
  'POST /api/document-flows': () => ({ name: 'F', flowActions }),
  'POST /api/document-flows/{id}/documents': (ids) => ({ files: [fileOf(ids)], folderId: ids.folder }),
  'POST /api/documents/operations': ({ folder }) => ({
    action: 'Cancel',
    filter: { folderId: folder },
    dryRun: true,
  }),
  'POST /api/documents/{id}/folder': ({ folder }) => ({ folderId: folder }),
  'POST /api/documents/batch/folder': ({ document, folder }) => ({ documents: [document], folderId: folder }),
  'POST /api/documents/sms-authentication-code': ({ action }) => ({ flowActionId: action }),
  'POST /api/documents/authenticator-app-reset': ({ action }) => ({ flowActionId: action }),
  'POST /api/organizations/users': () => ({ name: 'U', email: 'u@example.org' }),
  'PUT /api/retention': () => ({ rules: [] }),
  'POST /api/erasures': () => ({ email: 'nobody@example.org' }),
  'POST /api/users/notify-pending': () => ({ emails: ['u@example.org'] }),
};

function expected(role: UserRole, decision: Decision, place: Place, access: KeyAccess): Verdict | undefined {
  const { scope, sessionScope = scope } = access;
  if (!USER_SCOPES[role].includes(role === 'auditor' ? scope : sessionScope)) return 'forbidden';
  if (decision === 'scope') return undefined;
  if (decision === 'grants' && role !== 'administrator' && place !== 'Manage')
    return role === 'sender' && place === 'hidden' ? 'unknown' : 'forbidden';
  if (place === 'elsewhere') return 'unknown';
  if (role !== 'sender') return 'permitted';
  if (decision === 'organization') return 'permitted';
  if (place === 'hidden') return 'unknown';
  if (decision === 'grants') return 'permitted';
  const least = RIGHTS.indexOf(decision.replace('finds ', '') as Right);
  if (place === 'open' || RIGHTS.indexOf(place) >= least) return 'permitted';
  return decision.startsWith('finds') ? 'unknown' : 'forbidden';
}

const TABLE = {
  name: 'a.csv',
  type: 'text/csv',
  content: Buffer.from('Tenant.name,Tenant.email\nAna,ana@example.org\n'),
};

/** A folder with one of everything, made by the key of an application. */
async function placed(client: Client): Promise<Placed> {
  const { id: folder } = await client.post<{ id: string }>('/api/folders', { name: 'Place' });
  await client.post('/api/folders', { name: 'Inside', parentId: folder });
  const made = async (path: string, body: object) => (await client.post<{ id: string }>(path, body)).id;
  const upload = (await client.upload()).id;
  const table = (await client.upload(TABLE)).id;
  const ids = { ...unknownIds(), folder, upload, table, attachment: '' };
  const document = await client.create(flowActions, {
    folderId: folder,
    disablePendingActionNotifications: true,
    attachments: [fileOf(ids)],
  });
  const {
    key,
    flowActions: actions,
    attachments,
  } = await client.get<{
    key: string;
    flowActions: { id: string }[];
    attachments: { id: string }[];
  }>(`/api/documents/${document}`);
  const template = await made('/api/templates', {
    name: 'Template',
    document: { ...documentIn(ids), flowActions: [{ title: 'Tenant' }] },
  });
  return {
    ...ids,
    document,
    key,
    action: actions[0]?.id ?? '',
    attachment: attachments[0]?.id ?? '',
    draft: await made('/api/document-drafts', { name: 'Draft', document: documentIn(ids) }),
    template,
    link: await made('/api/public-links', { name: 'Link', templateId: template, role: 'Tenant' }),
    flow: await made('/api/document-flows', { name: 'Flow', flowActions }),
    generation: await made(
      '/api/documents/generation',
      BODIES['POST /api/documents/generation']?.(ids) ?? {},
    ),
    operation: await made('/api/documents/operations', { action: 'Remind', filter: { folderId: folder } }),
  };
}

async function verdictOf(caller: Caller, route: string, ids: Placed): Promise<Verdict> {
  const [method = '', path = ''] = route.split(' ');
  const request = REQUESTS.find(
    ([name, , body]) => name === route && (route !== 'POST /api/editor-sessions' || body),
  );
  const body = BODIES[route] ?? request?.[2];
  const { status, code, answer } = await caller.call(
    method,
    path.includes('{attachmentId}')
      ? `/api/documents/${ids.document}/attachments/${ids.attachment}/content`
      : (request?.[1](ids) ?? path),
    method === 'GET' ? undefined : (body?.(ids) ?? {}),
  );
  // A user has no ticket of a participant.
  if (status === 403 || code === 'InvalidTicket') return 'forbidden';
  if (code === 'DocumentInvalidKey' || (/NotFound$/.test(code) && !/^(?:Flow|Upload|Certificate)/.test(code)))
    return 'unknown';
  if (!FOUND.test(route) || status !== 200) return 'permitted';
  const { items, matchedCount } = Object(answer) as { items?: unknown[]; matchedCount?: number };
  const found = Array.isArray(answer)
    ? (answer as { success: boolean }[]).some(({ success }) => success)
    : (items?.length ?? matchedCount ?? String(answer).includes(ids.document)) || false;
  return found ? 'permitted' : 'unknown';
}

test('each operation has a decision', (t) => {
  t.deepEqual(Object.keys(DECISIONS).sort(), OPERATIONS.map(nameOf).sort());
});

async function comparePlace(
  t: ExecutionContext,
  {
    program,
    chief,
    role,
    who,
  }: {
    readonly program: PortalProgram;
    readonly chief: Person;
    readonly role: UserRole;
    readonly who: Person;
  },
  place: Place,
) {
  const owner = place === 'elsewhere' ? await program.organization(`Elsewhere of ${role}`) : program.acme;
  const { caller, id } = who;
  const made = await placed(owner);
  const own = async (file: typeof SAMPLE | typeof TABLE) => {
    const form = new FormData();
    form.set('content', new Blob([new Uint8Array(file.content)], { type: file.type }), file.name);
    const headers = { 'X-Form-Token': caller.browser.token };
    const answer = await caller.browser.fetch('/api/uploads', { method: 'POST', body: form, headers });
    return (JSON.parse(await answer.text()) as { id: string }).id;
  };
  await caller.call('GET', '/api/folders');
  const ids = role === 'auditor' ? made : { ...made, upload: await own(SAMPLE), table: await own(TABLE) };
  if (place !== 'open' && place !== 'elsewhere') {
    const grant = place === 'hidden' ? { id: chief.id, right: 'Manage' } : { id, right: place };
    const grants = [{ type: 'User', ...grant }];
    t.is((await chief.caller.call('PUT', `/api/folders/${ids.folder}/grants`, { grants })).status, 200);
  }
  const order = (name: string) => LAST.findIndex((one) => one.test(name));
  const wrong: string[] = [];
  for (const route of OPERATIONS.toSorted((one, other) => order(nameOf(one)) - order(nameOf(other)))) {
    const name = nameOf(route);
    const wanted = expected(role, DECISIONS[name] ?? 'Read', place, route as unknown as KeyAccess);
    if (wanted === undefined) continue;
    const verdict = await verdictOf(caller, name, ids);
    if (verdict !== wanted) wrong.push(`${role}, ${place}, ${name}: ${verdict}, not ${wanted}`);
  }
  t.deepEqual(wrong, []);
}

test('a role may do in a folder what the decision says', async (t) => {
  const program = await startProgram(t);
  const chief = await person(program, 'chief', ADMINISTRATOR);
  const compare = async (role: UserRole, who: Person, places: readonly Place[]) => {
    for (const place of places) await comparePlace(t, { program, chief, role, who }, place);
  };
  await compare('sender', await person(program, 'bo'), PLACES);
  // Grants are for senders: other roles are the same in every folder.
  await compare('administrator', await person(program, 'ada', ADMINISTRATOR), ['hidden', 'elsewhere']);
  await compare('auditor', await person(program, 'audit', { auditor: true }), ['hidden', 'elsewhere']);
});

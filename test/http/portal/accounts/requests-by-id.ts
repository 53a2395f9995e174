/** A request for every route with the id of a resource of an organization, and such resources. Source: docs/portal-values.md §2. */
import { randomUUID } from 'node:crypto';
import { type Client, SAMPLE } from '../../../actors/portal/service.ts';

const PROVIDER = {
  title: 'Trust',
  address: 'http://127.0.0.1:9/csc/v2',
  clientId: 'a',
  clientSecret: 'b',
};

/** Ids of the organization's resources, or unknown ids. */
export interface Ids {
  readonly document: string;
  readonly key: string;
  readonly action: string;
  readonly user: string;
  readonly folder: string;
  readonly upload: string;
  readonly flow: string;
  readonly organization: string;
  readonly webhook: string;
  readonly provider: string;
  readonly delivery: string;
  readonly member: string;
  readonly generation: string;
  readonly operation: string;
  readonly draft: string;
  readonly template: string;
  readonly link: string;
}

export type Request = readonly [route: string, path: (ids: Ids) => string, body?: (ids: Ids) => unknown];

const mark = { topLeftX: 1, topLeftY: 1, width: 9, height: 9 };
export const fileOf = ({ upload }: Ids) => ({
  id: upload,
  displayName: 'A',
  name: SAMPLE.name,
  contentType: SAMPLE.type,
});
const user = { name: 'ann', email: 'ann@example.com', identifier: 'x' };
export const flowActions = [{ type: 'Signer', user }];
const document = (rest: string) => (ids: Ids) => `/api/documents/${ids.document}${rest}`;
const byKey = (rest: string) => (ids: Ids) => `/api/documents/keys/${ids.key}${rest}`;
const own = (rest: (ids: Ids) => string) => (ids: Ids) =>
  `/api/organizations/${ids.organization}${rest(ids)}`;
const draft = (rest: string) => (ids: Ids) => `/api/document-drafts/${ids.draft}${rest}`;
const template = (rest: string) => (ids: Ids) => `/api/templates/${ids.template}${rest}`;
const templateOf = (ids: Ids) => ({ name: 'T', document: { files: [fileOf(ids)], flowActions } });
const link = (rest: string) => (ids: Ids) => `/api/public-links/${ids.link}${rest}`;
const plain = (path: string) => () => path;

/** Every route with the id of a resource of an organization. */
export const REQUESTS: readonly Request[] = [
  ['GET /api/documents/{id}', document('')],
  ['DELETE /api/documents/{id}', document('')],
  ['GET /api/documents/{id}/retention', document('/retention')],
  ['PUT /api/documents/{id}/hold', document('/hold'), () => ({ reason: null })],
  ['POST /api/documents/{id}/action-url', document('/action-url'), () => ({ emailAddress: user.email })],
  [
    'GET /api/documents/{id}/attachments/{attachmentId}/content',
    (ids) => `/api/documents/${ids.document}/attachments/${ids.upload}/content`,
  ],
  ['GET /api/documents/{id}/content', document('/content?type=Original')],
  ['GET /api/documents/{id}/content-b64', document('/content-b64')],
  ['GET /api/documents/{id}/ticket', document('/ticket?type=Original')],
  ['POST /api/documents/{id}/cancellation', document('/cancellation'), () => ({ reason: 'x' })],
  ['POST /api/documents/{id}/refusal', document('/refusal'), () => ({ reason: 'x' })],
  ['POST /api/documents/{id}/versions', document('/versions'), (ids) => ({ file: fileOf(ids) })],
  [
    'POST /api/documents/{id}/envelope/versions',
    document('/envelope/versions'),
    (ids) => ({ files: [fileOf(ids)] }),
  ],
  ['POST /api/documents/{id}/flow', document('/flow'), (ids) => ({ deletedFlowActionIds: [ids.action] })],
  ['PUT /api/documents/{id}/notified-emails', document('/notified-emails'), () => ({ emails: [user.email] })],
  ['PUT /api/documents/{id}/reminders', document('/reminders'), () => ({ everyDays: 1 })],
  ['POST /api/documents/{id}/folder', document('/folder'), () => ({ folderId: null })],
  ['GET /api/documents/{id}/deputies', document('/deputies')],
  ['GET /api/documents/{id}/history', document('/history')],
  ['GET /api/documents/{id}/mails', document('/mails')],
  ['POST /api/documents/{id}/retry', document('/retry'), () => ({})],
  ['GET /api/documents/{id}/signatures-details', document('/signatures-details')],
  ['GET /api/documents/{id}/validation-report', document('/validation-report')],
  ['GET /api/documents/keys/{key}/signatures', byKey('/signatures')],
  [
    'POST /api/documents/{id}/electronic-signature',
    document('/electronic-signature'),
    (ids) => ({ flowActionId: ids.action }),
  ],
  [
    'POST /api/documents/{id}/signature/certificate',
    document('/signature/certificate'),
    (ids) => ({ flowActionId: ids.action, certificate: 'MAMCAQE=' }),
  ],
  [
    'POST /api/documents/{id}/signature',
    document('/signature'),
    (ids) => ({ flowActionId: ids.action, signature: 'AAAA', token: 'x' }),
  ],
  [
    'POST /api/documents/keys/{key}/electronic-signature',
    byKey('/electronic-signature'),
    (ids) => ({ flowActionId: ids.action }),
  ],
  [
    'POST /api/documents/keys/{key}/signature/certificate',
    byKey('/signature/certificate'),
    (ids) => ({ flowActionId: ids.action, certificate: 'MAMCAQE=' }),
  ],
  [
    'POST /api/documents/keys/{key}/signature',
    byKey('/signature'),
    (ids) => ({ flowActionId: ids.action, signature: 'AAAA', token: 'x' }),
  ],
  ['POST /api/documents/keys/{key}/approval', byKey('/approval'), (ids) => ({ flowActionId: ids.action })],
  [
    'POST /api/documents/keys/{key}/participant-refusal',
    byKey('/participant-refusal'),
    (ids) => ({ flowActionId: ids.action, reason: 'x' }),
  ],
  [
    'POST /api/documents/keys/{key}/passing-on',
    byKey('/passing-on'),
    (ids) => ({ flowActionId: ids.action, name: 'Lou', email: 'lou@example.org', reason: 'x' }),
  ],
  ['POST /api/documents/keys/{key}/uploads', byKey('/uploads?field=x'), () => ({})],
  ['POST /api/documents/keys/{key}/view', byKey('/view'), (ids) => ({ flowActionId: ids.action })],
  ['POST /api/documents/keys/{key}/passkey-options', byKey('/passkey-options'), () => ({})],
  [
    'POST /api/documents/keys/{key}/email-authentication-code',
    byKey('/email-authentication-code'),
    (ids) => ({ flowActionId: ids.action }),
  ],
  [
    'POST /api/notifications/flow-action-reminder',
    plain('/api/notifications/flow-action-reminder'),
    (ids) => ({ documentId: ids.document, flowActionId: ids.action }),
  ],
  ['GET /api/folders/{id}', ({ folder }) => `/api/folders/${folder}`],
  ['GET /api/folders/{id}/details', ({ folder }) => `/api/folders/${folder}/details`],
  ['PUT /api/folders/{id}/hold', ({ folder }) => `/api/folders/${folder}/hold`, () => ({ reason: null })],
  ['GET /api/folders/{id}/grants', ({ folder }) => `/api/folders/${folder}/grants`],
  ['PUT /api/folders/{id}/grants', ({ folder }) => `/api/folders/${folder}/grants`, () => ({ grants: [] })],
  ['GET /api/folders/{id}/grantees', ({ folder }) => `/api/folders/${folder}/grantees`],
  [
    'POST /api/folders/{id}/delete',
    ({ folder }) => `/api/folders/${folder}/delete`,
    () => ({ deleteAction: 'DeleteContent' }),
  ],
  ['GET /api/document-flows/{id}', ({ flow }) => `/api/document-flows/${flow}`],
  [
    'PUT /api/document-flows/{id}',
    ({ flow }) => `/api/document-flows/${flow}`,
    () => ({ name: 'F', flowActions }),
  ],
  [
    'POST /api/document-flows/{id}/documents',
    ({ flow }) => `/api/document-flows/${flow}/documents`,
    (ids) => ({ files: [fileOf(ids)] }),
  ],
  ['DELETE /api/document-flows/{id}', ({ flow }) => `/api/document-flows/${flow}`],
  ['GET /api/document-drafts/{id}', draft('')],
  ['PUT /api/document-drafts/{id}', draft(''), (ids) => ({ name: 'D', document: { files: [fileOf(ids)] } })],
  ['DELETE /api/document-drafts/{id}', draft('')],
  ['POST /api/document-drafts/{id}/send', draft('/send'), () => ({})],
  [
    'POST /api/document-drafts',
    plain('/api/document-drafts'),
    (ids) => ({ name: 'D', document: { files: [fileOf(ids)] } }),
  ],
  [
    'POST /api/editor-sessions',
    plain('/api/editor-sessions'),
    (ids) => ({ draftId: ids.draft, returnUrl: 'https://app.example/' }),
  ],
  ['POST /api/editor-sessions', plain('/api/editor-sessions'), (ids) => ({ files: [fileOf(ids)] })],
  ['GET /api/templates/{id}', template('')],
  ['PUT /api/templates/{id}', template(''), templateOf],
  ['DELETE /api/templates/{id}', template('')],
  ['GET /api/templates/{id}/versions', template('/versions')],
  ['POST /api/templates/{id}/documents', template('/documents'), () => ({})],
  [
    'POST /api/templates/{id}/generation',
    template('/generation'),
    ({ upload }) => ({ dataFile: { id: upload, name: 'a.csv', contentType: 'text/csv' } }),
  ],
  [
    'GET /api/documents/generation/{id}/rows',
    ({ generation }) => `/api/documents/generation/${generation}/rows`,
  ],
  [
    'POST /api/documents/generation/{id}/cancellation',
    ({ generation }) => `/api/documents/generation/${generation}/cancellation`,
    () => ({}),
  ],
  ['GET /api/public-links/{id}', link('')],
  ['POST /api/public-links/{id}/end', link('/end'), () => ({})],
  ['POST /api/public-links/{id}/devices', link('/devices'), () => ({ pin: '2468' })],
  [
    'POST /api/public-links/{id}/devices/{deviceId}/end',
    (ids) => `/api/public-links/${ids.link}/devices/${randomUUID()}/end`,
    () => ({}),
  ],
  [
    'POST /api/public-links',
    plain('/api/public-links'),
    (ids) => ({ name: 'L', templateId: ids.template, role: 'Tenant' }),
  ],
  ['POST /api/templates', plain('/api/templates'), templateOf],
  [
    'POST /api/templates/from-document',
    plain('/api/templates/from-document'),
    (ids) => ({ documentId: ids.document }),
  ],
  ['GET /api/organizations/{id}', own(() => '')],
  ['GET /api/organizations/{id}/branding', own(() => '/branding')],
  ['PUT /api/organizations/{id}/branding', own(() => '/branding'), () => ({ primaryColor: '#1b5fb4' })],
  ['PUT /api/organizations/{id}/branding/logo', own(() => '/branding/logo'), () => ({ bytes: 'eA==' })],
  ['DELETE /api/organizations/{id}/branding/logo', own(() => '/branding/logo')],
  [
    'POST /api/organizations/{id}/branding/preview',
    own(() => '/branding/preview'),
    () => ({ kind: 'pending' }),
  ],
  ['GET /api/organizations/{id}/webhooks', own(() => '/webhooks')],
  ['POST /api/organizations/{id}/webhooks', own(() => '/webhooks'), () => ({ url: 'https://x.example/' })],
  [
    'PUT /api/organizations/{id}/webhooks/{webhookId}',
    own(({ webhook }) => `/webhooks/${webhook}`),
    () => ({ url: 'https://x.example/' }),
  ],
  ['DELETE /api/organizations/{id}/webhooks/{webhookId}', own(({ webhook }) => `/webhooks/${webhook}`)],
  [
    'POST /api/organizations/{id}/webhooks/{webhookId}/test',
    own(({ webhook }) => `/webhooks/${webhook}/test`),
  ],
  ['GET /api/organizations/{id}/signing-providers', own(() => '/signing-providers')],
  ['POST /api/organizations/{id}/signing-providers', own(() => '/signing-providers'), () => PROVIDER],
  [
    'PUT /api/organizations/{id}/signing-providers/{providerId}',
    own(({ provider }) => `/signing-providers/${provider}`),
    () => PROVIDER,
  ],
  [
    'DELETE /api/organizations/{id}/signing-providers/{providerId}',
    own(({ provider }) => `/signing-providers/${provider}`),
  ],
  [
    'POST /api/organizations/{id}/signing-providers/{providerId}/test',
    own(({ provider }) => `/signing-providers/${provider}/test`),
  ],
  ['GET /api/organizations/{id}/deliveries', own(() => '/deliveries')],
  [
    'POST /api/organizations/{id}/deliveries/{deliveryId}/resend',
    own(({ delivery }) => `/deliveries/${delivery}/resend`),
  ],
  [
    'POST /api/organizations/{id}/deliveries/replay',
    own(() => '/deliveries/replay'),
    () => ({ from: '2020-01-01', to: '2030-01-01' }),
  ],
  ['DELETE /api/organizations/users/{userId}', ({ member }) => `/api/organizations/users/${member}`],
  ['GET /api/sessions', ({ member }) => `/api/sessions?userId=${member}`],
  ['DELETE /api/sessions', ({ member }) => `/api/sessions?userId=${member}`],
  ['GET /api/documents/generation/{id}', ({ generation }) => `/api/documents/generation/${generation}`],
  // Ids in bodies and queries.
  [
    'POST /api/documents/generation',
    plain('/api/documents/generation'),
    (ids) => ({ flowActions, dataFile: fileOf(ids), templateFile: fileOf(ids) }),
  ],
  ['POST /api/documents', plain('/api/documents'), (ids) => ({ files: [fileOf(ids)], flowActions })],
  [
    'POST /api/documents/batch/folder',
    plain('/api/documents/batch/folder'),
    (ids) => ({ documents: [ids.document] }),
  ],
  ['POST /api/folders', plain('/api/folders'), ({ folder }) => ({ name: 'N', parentId: folder })],
  ['GET /api/folders', ({ folder }) => `/api/folders?filterByParent=true&parentId=${folder}`],
  ['GET /api/documents', ({ folder }) => `/api/documents?FolderId=${folder}`],
  ['GET /api/documents/export', ({ folder }) => `/api/documents/export?FolderId=${folder}`],
  [
    'POST /api/documents/operations',
    plain('/api/documents/operations'),
    ({ folder }) => ({ action: 'Remind', filter: { folderId: folder }, dryRun: true }),
  ],
  ['POST /api/documents/archive', plain('/api/documents/archive'), (ids) => ({ documents: [ids.document] })],
  [
    'POST /api/documents/combined',
    plain('/api/documents/combined'),
    (ids) => ({ documents: [ids.document] }),
  ],
  ['GET /api/documents/operations/{id}', ({ operation }) => `/api/documents/operations/${operation}`],
  [
    'POST /api/documents/operations/{id}/cancellation',
    ({ operation }) => `/api/documents/operations/${operation}/cancellation`,
  ],
  [
    'POST /api/documents/validate-signatures',
    plain('/api/documents/validate-signatures'),
    ({ upload }) => ({ fileId: upload, mimeType: SAMPLE.type }),
  ],
  [
    'POST /api/marks-sessions',
    plain('/api/marks-sessions'),
    (ids) => ({ files: [fileOf(ids)], flowActions }),
  ],
  [
    'POST /api/marks-sessions/documents',
    plain('/api/marks-sessions/documents'),
    (ids) => ({ files: [fileOf(ids)], flowActions: [{ ...flowActions[0], prePositionedMarks: [mark] }] }),
  ],
];

/** Routes without such an id, or with an id that is a ticket itself. */
export const OF_NOBODY = new Set([
  'POST /api/uploads',
  'POST /api/uploads/bytes',
  'POST /api/uploads/segmented-upload-ticket',
  'POST /api/documents/sms-authentication-code',
  'POST /api/documents/authenticator-app-reset',
  'POST /api/users/notify-pending',
  'GET /api/documents/operations',
  'GET /api/retention',
  'POST /api/erasures',
  'GET /api/erasures',
  'PUT /api/retention',
  'GET /api/retention/documents',
  'GET /api/document-drafts',
  'GET /api/templates',
  'GET /api/public-links',
  'GET /api/document-flows',
  'POST /api/document-flows',
  'GET /api/organizations/users',
  'GET /api/organizations/sign-ins',
  'GET /api/organizations/sign-ins/export',
  'POST /api/organizations/users',
]);

export async function belongings(client: Client, organization: string): Promise<Ids> {
  const { id: folder } = await client.post<{ id: string }>('/api/folders', { name: 'Mine' });
  const { id: flow } = await client.post<{ id: string }>('/api/document-flows', {
    name: 'Mine',
    flowActions,
  });
  const { id: upload } = await client.upload();
  const made = await client.create(flowActions, { folderId: folder });
  const detail = await client.get<{ key: string; flowActions: { id: string; user: { id: string } }[] }>(
    `/api/documents/${made}`,
  );
  const webhooks = `/api/organizations/${organization}/webhooks`;
  const { id: webhook } = await client.post<{ id: string }>(webhooks, { url: 'http://127.0.0.1:9/' });
  const { id: delivery } = await client.post<{ id: string }>(`${webhooks}/${webhook}/test`, {});
  const providers = `/api/organizations/${organization}/signing-providers`;
  const { id: provider } = await client.post<{ id: string }>(providers, PROVIDER);
  const { id: member } = await client.post<{ id: string }>('/api/organizations/users', user);
  const file = {
    id: (await client.upload({ name: 'a.csv', type: 'text/csv', content: Buffer.from('a\n1\n') })).id,
  };
  const { id: generation } = await client.post<{ id: string }>('/api/documents/generation', {
    flowActions,
    dataFile: { ...file, name: 'a.csv', contentType: 'text/csv' },
    templateFile: { ...file, name: 'a.txt', contentType: 'text/plain' },
  });
  const { id: operation } = await client.post<{ id: string }>('/api/documents/operations', {
    action: 'Remind',
    filter: {},
  });
  const { id: draft } = await client.post<{ id: string }>('/api/document-drafts', {
    name: 'Mine',
    document: {},
  });
  const { id: template } = await client.post<{ id: string }>('/api/templates', {
    name: 'Mine',
    document: {
      flowActions: [{ title: 'Tenant' }],
      files: [{ id: upload, displayName: 'A', name: SAMPLE.name, contentType: SAMPLE.type }],
    },
  });
  const { id: publicLink } = await client.post<{ id: string }>('/api/public-links', {
    name: 'Mine',
    templateId: template,
    role: 'Tenant',
  });
  const [action] = detail.flowActions;
  return {
    document: made,
    key: detail.key,
    action: action?.id ?? '',
    user: action?.user.id ?? '',
    folder,
    upload,
    flow,
    organization,
    webhook,
    provider,
    delivery,
    member,
    generation,
    operation,
    draft,
    template,
    link: publicLink,
  };
}

export function unknownIds(): Ids {
  const key = randomUUID().replaceAll('-', '').slice(0, 20).toUpperCase();
  const ids = Object.fromEntries(
    [
      'document',
      'action',
      'user',
      'folder',
      'upload',
      'flow',
      'organization',
      'webhook',
      'provider',
      'delivery',
      'member',
      'generation',
      'operation',
      'draft',
      'template',
      'link',
    ].map((name) => [name, randomUUID()]),
  );
  return { ...ids, key } as unknown as Ids;
}

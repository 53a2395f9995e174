/**
 * The portal's API description beyond its operations, which their routes describe.
 *
 * Source: docs/portal-values.md §0, §§1 to 3.
 */
import { PORTAL_WEBHOOKS } from '../../contracts/portal/webhooks/webhook-events.ts';
import type { ApiDescription } from '../core/openapi/document.ts';
import { USER_COOKIE } from './access-check.ts';
import { portalRefusals } from './refusal-info.ts';

const DESCRIPTION = `Documents that several people sign or approve, in an order that the service keeps. An upload becomes
a document with a flow; participants are notified by e-mail when it is their turn, or sign inside another application.

Requests carry \`X-Api-Key\` with \`application|secret\`; those that carry a ticket need no key. Success is always 200.
Names of members and query parameters are read without regard to case; unknown ones are ignored. Times are in UTC, with
milliseconds. An unknown document, folder or action, and one of another organization, is answered 422; an unknown path or
ticket 404; an unknown method 405. Programs decide by the \`code\` of a refusal.`;

const GROUPS: ApiDescription['groups'] = [
  { name: 'Uploads', description: 'Storing files, which documents are created from.' },
  {
    name: 'Signing',
    description: 'Signatures, approvals and refusals of participants.',
  },
  {
    name: 'Validation',
    description: 'Validation of signatures.',
  },
  {
    name: 'Monitoring',
    description: 'For keys of the role Monitor, which reach nothing else.',
  },
  { name: 'Documents', description: 'Documents and their flows.' },
  {
    name: 'Notifications',
    description: 'Reminders by e-mail.',
  },
  { name: 'Folders', description: 'Folders of documents.' },
  { name: 'Retention', description: 'Deletion of documents by rules, legal holds, and erasure of people.' },
  { name: 'Drafts', description: 'Requests for documents that are not sent yet.' },
  { name: 'Templates', description: 'Reusable requests for documents, with roles and values.' },
  {
    name: 'Links for anybody',
    description: 'Addresses at which each visitor makes a document of a template.',
  },
  { name: 'Generation', description: 'Creating documents for every row of a table.' },
  { name: 'Saved flows', description: 'Reusable flows.' },
  { name: 'Editor', description: 'The document editor in other applications.' },
  { name: 'Marks', description: 'Sessions in which a person places marks before a document is created.' },
  {
    name: 'Organizations',
    description: 'People, branding and webhooks of the organization of the key.',
  },
  {
    name: 'Administration',
    description: 'For keys of the role Administrator.',
  },
  { name: 'System', description: 'The service itself.' },
  { name: 'Description', description: 'This description.' },
  { name: 'Pages', description: 'Pages for people, and their parts.' },
];

/** Media types of generated files; uploaded files keep their own types. */
const FILE_TYPES = [
  'application/pdf',
  'application/pkcs7-signature',
  'application/xml',
  'application/octet-stream',
  'application/zip',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '*/*',
];

export function portalApi(version: string, address?: string): ApiDescription {
  return {
    title: 'sealwright portal',
    version,
    description: DESCRIPTION,
    address,
    groups: GROUPS,
    fileTypes: FILE_TYPES,
    headers: {
      'content-range': 'Bytes of this segment, such as `bytes 0-1048575/3145728`. Required with a ticket.',
      'user-agent': 'Program of the client, kept as evidence.',
    },
    webhooks: PORTAL_WEBHOOKS,
    refusals: portalRefusals,
    security: {
      schemes: {
        ApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description:
            'The key of an application, `name|secret`. Operations name the scope that a key with limited scopes needs; other keys need none.',
        },
        EditorSession: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Editor-Session',
          description: 'The token of a session of the editor, from `POST /api/editor-sessions/open`.',
        },
        UserSession: {
          type: 'apiKey',
          in: 'cookie',
          name: USER_COOKIE,
          description:
            'The session of a user who signed in to the pages. Over HTTPS the name begins with `__Host-`.',
        },
      },
      // The scope that a limited key needs (OpenAPI 3.1.1 §4.8.30: role names of schemes other than OAuth 2).
      of({ auth, scope }) {
        if (auth === 'anonymous') return [];
        if (auth === 'editor') return [{ EditorSession: [] }];
        if (auth === 'user' || auth === 'user-administrator') return [{ UserSession: [] }];
        const key = { ApiKey: scope === undefined ? [] : [scope] };
        return auth === 'known-or-ticket' ? [key, {}] : [key];
      },
    },
  };
}

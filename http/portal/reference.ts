/**
 * Texts of the portal's API description beyond its routes.
 *
 * Source: docs/portal-values.md §0, §§1 to 3.
 */
import type { ApiDescription } from '../core/openapi/document.ts';
import { USER_COOKIE } from './access-check.ts';
import { PORTAL_PROPERTY_TEXTS } from './description/property-texts.ts';
import { REQUEST_EXAMPLES } from './description/request-examples.ts';
import { PORTAL_WEBHOOKS } from './description/webhooks.ts';
import { portalRefusals } from './refusal-info.ts';

const DESCRIPTION = `Documents that several people sign or approve, in an order that the service keeps. An upload becomes
a document with a flow; participants are mailed when it is their turn, or sign inside another application.

Requests carry \`X-Api-Key\` with \`application|secret\`; those that carry a ticket need no key. Success is always 200.
Names of members and query parameters are read without regard to case; unknown ones are ignored. Times are in UTC, with
milliseconds. An unknown document, folder or action, and one of another organization, is answered 422; an unknown path or
ticket 404; an unknown method 405. Programs decide by the \`code\` of a refusal.`;

const GROUPS: ApiDescription['groups'] = [
  { name: 'Uploads', description: 'Where files come in.', paths: /^\/api\/uploads(\/|$)/ },
  {
    name: 'Signing',
    description: 'What participants do, on our pages or in other applications.',
    paths:
      /^\/api\/documents\/(?:\{id\}|keys\/\{key\})\/(?:electronic-signature|signature|approval|participant-refusal|email-auth)|sms-authentication-code$/,
  },
  {
    name: 'Validation',
    description: 'Whether signatures are good.',
    paths: /\/(?:signatures|signatures-details|validation-report|validate-signatures)$/,
  },
  {
    name: 'Monitoring',
    description: 'For keys of the role Monitor, which reach nothing else.',
    paths: /^\/api\/(?:reports\/|documents\/date$)/,
  },
  { name: 'Documents', description: 'Documents and their flows.', paths: /^\/api\/documents(\/|$)/ },
  {
    name: 'Notifications',
    description: 'Reminders by e-mail.',
    paths: /^\/api\/(?:notifications\/|users\/notify-pending$)/,
  },
  { name: 'Folders', description: 'Where documents are kept.', paths: /^\/api\/folders(\/|$)/ },
  { name: 'Saved flows', description: 'Flows to be used again.', paths: /^\/api\/document-flows(\/|$)/ },
  { name: 'Marks', description: 'Placing marks before creation.', paths: /^\/api\/marks-sessions?(\/|$)/ },
  {
    name: 'Organizations',
    description: 'Webhooks of the organization and their calls.',
    paths: /^\/api\/organizations\//,
  },
  {
    name: 'Administration',
    description: 'For keys of the role Administrator.',
    paths: /^\/api\/(?:admin|users)(\/|$)/,
  },
  { name: 'System', description: 'The service itself.', paths: /^\/api\// },
  { name: 'Description', description: 'This description.', paths: /^\/(openapi|scalar)\// },
  { name: 'Pages', description: 'Pages for people, and their parts.', paths: /^\// },
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

const KEY = [{ ApiKey: [] }];

export function portalApi(version: string): ApiDescription {
  return {
    title: 'sealwright portal',
    version,
    description: DESCRIPTION,
    groups: GROUPS,
    fileTypes: FILE_TYPES,
    propertyTexts: PORTAL_PROPERTY_TEXTS,
    examples: REQUEST_EXAMPLES,
    webhooks: PORTAL_WEBHOOKS,
    refusals: portalRefusals,
    security: {
      schemes: {
        ApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: 'The key of an application, `name|secret`.',
        },
        UserSession: {
          type: 'apiKey',
          in: 'cookie',
          name: USER_COOKIE,
          description: 'The session of a user who signed in to the pages.',
        },
      },
      of({ auth }) {
        if (auth === 'anonymous') return [];
        if (auth === 'user' || auth === 'user-administrator') return [{ UserSession: [] }];
        return auth === 'known-or-ticket' ? [...KEY, {}] : KEY;
      },
    },
  };
}

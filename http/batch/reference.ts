/**
 * The batch service's API description beyond its operations, which their routes describe.
 *
 * Source: docs/batch-values.md §0, §3.
 */
import { JOB_WEBHOOKS } from '../../contracts/batch/webhooks.ts';
import type { ApiDescription } from '../core/openapi/document.ts';
import type { HttpSettings } from '../core/settings.ts';
import { batchRefusals } from './refusal-info.ts';

const DESCRIPTION = `Signs files in bulk. A file becomes a job when it is uploaded or appears in an input folder; a job is
signed as PAdES, CAdES or XAdES, verified, encrypted if so configured, and published to the output folder.

Every request needs the API key or a session, except those marked otherwise. Every refusal is a problem body
(RFC 9457); programs decide by its \`code\`. Times are in UTC, with milliseconds. \`HEAD\` is answered wherever \`GET\`
is. An unknown path is answered 404 \`route.not-found\`, an unknown method 405 \`route.method-not-allowed\`.`;

const GROUPS: ApiDescription['groups'] = [
  { name: 'Files', description: 'Uploading files, and validating signatures.' },
  { name: 'Jobs', description: 'Jobs and their results.' },
  { name: 'Pipeline', description: 'Pausing and resuming the processing of queued jobs.' },
  { name: 'Actions', description: 'Actions of operators.' },
  { name: 'Authentication', description: 'Sessions of browsers.' },
  { name: 'System', description: 'The service itself.' },
  { name: 'Description', description: 'This description.' },
  { name: 'Pages', description: 'Pages for people, and their parts.' },
];

/** Media types of outputs. Source: docs/batch-values.md §3, `GET /api/jobs/{id}/output`. */
const FILE_TYPES = [
  'application/pdf',
  'application/pkcs7-mime',
  'application/pkcs7-signature',
  'application/x-pem-file',
  'application/vnd.etsi.asic-s+zip',
  'application/vnd.etsi.asic-e+zip',
  'application/xml',
  'application/octet-stream',
];

export function batchApi(
  settings: Pick<HttpSettings, 'apiKeyHeader' | 'cookieName' | 'publicUrl'>,
  version: string,
): ApiDescription {
  return {
    title: 'sealwright batch service',
    version,
    description: DESCRIPTION,
    address: settings.publicUrl,
    groups: GROUPS,
    headers: {
      [settings.apiKeyHeader]:
        'The key. With it the answer names the checks that an anonymous caller does not see.',
    },
    webhooks: JOB_WEBHOOKS,
    fileTypes: FILE_TYPES,
    refusals: batchRefusals,
    security: {
      schemes: {
        ApiKey: {
          type: 'apiKey',
          in: 'header',
          name: settings.apiKeyHeader,
          description: 'The configured key. When a request has both, this header alone decides.',
        },
        Session: {
          type: 'apiKey',
          in: 'cookie',
          name: settings.cookieName,
          description: 'The session of a browser that is logged in.',
        },
        Token: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'at+jwt',
          description: 'An access token of an issuer of `Identity:Tokens`.',
        },
      },
      of: ({ auth }) => (auth === 'anonymous' ? [] : [{ ApiKey: [] }, { Session: [] }, { Token: [] }]),
    },
  };
}

/**
 * What the API description says about the batch service beyond its routes.
 *
 * Source: Batch Signing Service API, "What the service does", "Endpoints" and "Versioning"; batch-gaps §3.
 */
import type { ApiFacts } from '../openapi/document.ts';
import { OPERATION_EXAMPLES } from './operation-examples.ts';
import { OPERATION_WORDS } from './operation-words.ts';
import { batchRefusals } from './refusal-facts.ts';

const DESCRIPTION = `Signs files in bulk. A file becomes a job when it is uploaded or appears in an input folder; a job is
signed as PAdES, CAdES or XAdES, verified, encrypted if so configured, and published to the output folder.

Every request needs the API key or a session, except those marked otherwise. Every refusal is a problem body
(RFC 9457); programs decide by its \`code\`. Times are in UTC, with milliseconds. \`HEAD\` is answered wherever \`GET\`
is. An unknown path is answered 404 \`route.not-found\`, an unknown method 405 \`route.method-not-allowed\`.`;

/** Groups in the order of the document; pages and their parts come last. */
const GROUPS: ApiFacts['groups'] = [
  { name: 'Files', description: 'Where files come in.', paths: /^\/api\/files$/ },
  { name: 'Jobs', description: 'What becomes of them.', paths: /^\/api\/jobs(\/|$)/ },
  { name: 'Pipeline', description: 'Whether queued jobs are claimed.', paths: /^\/api\/pipeline\// },
  { name: 'Actions', description: 'What operators set off.', paths: /^\/api\/(rescan|cleanup)$/ },
  { name: 'Authentication', description: 'Sessions of browsers.', paths: /^\/api\/auth\// },
  { name: 'System', description: 'The service itself.', paths: /^\/api\// },
  { name: 'Description', description: 'This description.', paths: /^\/(openapi|scalar)\// },
  { name: 'Pages', description: 'Pages for people, and their parts.', paths: /^\// },
];

/** Every type an output can have. Source: batch-gaps §3, `GET /api/jobs/{id}/output`. */
const FILE_TYPES = [
  'application/pdf',
  'application/pkcs7-mime',
  'application/pkcs7-signature',
  'application/x-pem-file',
  'application/xml',
  'application/octet-stream',
];

export function batchApi(
  settings: { readonly apiKeyHeader: string; readonly cookieName: string },
  version: string,
): ApiFacts {
  return {
    title: 'sealwright batch service',
    version,
    description: DESCRIPTION,
    groups: GROUPS,
    words: OPERATION_WORDS,
    examples: OPERATION_EXAMPLES,
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
      },
      of: ({ auth }) => (auth === 'anonymous' ? [] : [{ ApiKey: [] }, { Session: [] }]),
    },
  };
}

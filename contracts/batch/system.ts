/** `/api/health`, `/api/ready` and `/api/whoami`. Source: docs/batch-values.md §0, §3. */
import { z } from 'zod';
import { entity, parts, shown, time } from '../fields.ts';
import { ACCESS_SCOPES, OPERATOR_ROLES } from './access.ts';
import { HEALTH_STATUSES } from './component-states.ts';
import { AT } from './examples.ts';
import { KEY_BOUNDS } from './keys.ts';
import { operationsOf } from './operation.ts';

const bound = (description: string) =>
  z
    .array(z.string())
    .max(KEY_BOUNDS.list)
    .optional()
    .meta({ description, examples: [['invoices']] });

const identity = entity('Identity', {
  operator: shown(z.string(), 'Name under which actions of this caller are recorded.', 'operator'),
  scheme: z.enum(['ApiKey', 'Cookie', 'Bearer']).describe('How the caller is authenticated.'),
  role: z.enum(OPERATOR_ROLES).optional().describe('Role of a person who signed in.'),
  scopes: z
    .array(z.enum(ACCESS_SCOPES))
    .max(ACCESS_SCOPES.length)
    .optional()
    .describe('What the caller may do. Absent: everything, with `Auth:ApiKey` or its session.'),
  profiles: bound('Profiles whose jobs it reaches. Absent: all.'),
  folders: bound('Input folders whose jobs it reaches. Absent: all.'),
  expiresAt: time.optional().describe('Time at which its key or token ends. Absent: it does not.'),
});

const health = entity('Health', { status: z.literal('Healthy').describe('State of it.') });

export const readiness = entity('Readiness', {
  status: z.enum(['Ready', 'NotReady']).describe('State of it.'),
  checkedAtUtc: time.describe('Time of the checks.'),
  checks: parts('Result of each check, by name.', {
    name: shown(z.string(), 'Name of the check, also in metrics and `sealwright doctor`.', 'database'),
    status: z.enum(HEALTH_STATUSES).describe('State of it.'),
    detail: shown(
      z.string().nullable(),
      'Reasons and paths are shown to those who send the key.',
      'reachable (LMDB (/var/lib/batch/db))',
    ),
  }),
});

const READY = {
  status: 'Ready',
  checkedAtUtc: AT,
  checks: [
    { name: 'database', status: 'Healthy', detail: 'reachable (LMDB (/var/lib/batch/db))' },
    { name: 'input-folder:invoices', status: 'Healthy', detail: null },
    { name: 'license', status: 'Healthy', detail: 'not required' },
  ],
};

const COMMON = { exemptFromLoadShedding: true, refusals: [] } as const;

const operation = operationsOf({ group: 'System' });

export const readHealth = operation('GET /api/health', {
  ...COMMON,
  auth: 'anonymous',
  exemptFromEntryRules: true,
  summary: 'Says that the process is up.',
  description:
    'For process supervisors: it does not report whether the service can process jobs. Not subject to `AllowedHosts` and `Hosting:RequireHttps`.',
  answerHeaders: ['X-Run-Id'],
  replies: { 200: health },
});

export const readIdentity = operation('GET /api/whoami', {
  ...COMMON,
  summary: 'Says who is asking, and by which scheme.',
  description:
    'With a session the scheme is `Cookie`, with a key `ApiKey`, with an access token of `Identity:Tokens` `Bearer`; when several are sent the key decides, then the token.',
  reply: identity,
  examples: { reply: { operator: 'operator', scheme: 'ApiKey' } },
});

export const readReadiness = operation('GET /api/ready', {
  ...COMMON,
  auth: 'anonymous',
  exemptFromEntryRules: true,
  summary: 'Says whether work can be done, and what stands in its way.',
  description:
    'Checks are Healthy, Degraded (this part does not work and the others do) or Unhealthy. 503 with the same body when any check is Unhealthy, else 200. The metric `batch_health_check`, the alert rules and `sealwright doctor` use the same names. Not subject to `AllowedHosts` and `Hosting:RequireHttps`.',
  replies: { 200: readiness, 503: readiness },
  examples: { reply: READY },
});

export const readMetrics = operation('GET /api/metrics', {
  summary: 'Metrics in the text format of Prometheus.',
  description:
    'Counters start at zero with the process; gauges are read from the store on each request, so they are correct directly after a restart. Open to anyone when `Metrics:RequireApiKey` is false.',
  exemptFromLoadShedding: true,
  reply: 'text',
});

/**
 * `/api/health`, `/api/ready` and `/api/whoami`.
 *
 * Source: docs/batch-values.md §0, §3.
 */

import type { Clock } from '@sealwright/runtime';
import type { Health } from '../../actors/batch/api/inspection.ts';
import type { OperatorCheck } from '../core/access/operator-check.ts';
import { healthy, json } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { AT } from './description/example-values.ts';
import { noBody, noParams, noQuery } from './queries.ts';
import { healthShape, readyBody, readyShape, whoamiShape } from './shapes.ts';

const ANONYMOUS_GET = {
  method: 'GET',
  auth: 'anonymous',
  rate: 'none',
  exemptFromLoadShedding: true,
  bodyPolicy: 'none',
  headers: [],
  params: noParams,
  query: noQuery,
  body: noBody,
  invalidInput: {
    params: 'route.not-found',
    query: 'validation.filter-invalid',
    body: 'validation.body-invalid',
  },
  refusals: [],
} as const;

/** Answer of `GET /api/ready`. @param isOperator false leaves out paths, names of certificates and reasons */
export async function readiness(health: Health, clock: Pick<Clock, 'now'>, isOperator: boolean) {
  const body = readyBody(await health.checks(), clock.now(), isOperator);
  return { status: body.status === 'Ready' ? 200 : 503, body } as const;
}

const READY = {
  status: 'Ready',
  checkedAtUtc: AT,
  checks: [
    { name: 'database', status: 'Healthy', detail: 'reachable (LMDB (/var/lib/batch/db))' },
    { name: 'input-folder:invoices', status: 'Healthy', detail: null },
    { name: 'license', status: 'Healthy', detail: 'not required' },
  ],
};

/** @param isOperator true when a request has the key or a session; it reads the headers `credentialHeaders` */
export function systemRoutes(
  health: Health,
  clock: Pick<Clock, 'now'>,
  { isOperator, credentialHeaders }: OperatorCheck,
  runId: string | undefined,
): readonly AnyRoute[] {
  const answer = healthy(runId);
  return [
    route({
      ...ANONYMOUS_GET,
      path: '/api/health',
      group: 'System',
      exemptFromEntryRules: true,
      summary: 'Says that the process is up.',
      description:
        'For process supervisors: it does not report whether the service can process jobs. Not subject to `AllowedHosts` and `Hosting:RequireHttps`.',
      answerHeaders: ['X-Run-Id'],
      responses: { 200: healthShape },
      examples: { responses: { 200: { status: 'Healthy' } } },
      handle: () => answer,
    }),
    route({
      ...ANONYMOUS_GET,
      auth: 'operator',
      path: '/api/whoami',
      group: 'System',
      summary: 'Says who is asking, and by which scheme.',
      description:
        'With a session the scheme is `Cookie`, with the key `ApiKey`; when both are sent the key decides.',
      responses: { 200: whoamiShape },
      examples: { responses: { 200: { operator: 'operator', scheme: 'ApiKey' } } },
      handle({ identity }) {
        return json(200, { operator: identity?.operator ?? '', scheme: identity?.scheme ?? 'ApiKey' });
      },
    }),
    route({
      ...ANONYMOUS_GET,
      path: '/api/ready',
      group: 'System',
      exemptFromEntryRules: true,
      summary: 'Says whether work can be done, and what stands in its way.',
      description:
        'Checks are Healthy, Degraded (this part does not work and the others do) or Unhealthy. 503 with the same body when any check is Unhealthy, else 200. The metric `batch_health_check`, the alert rules and `sealwright doctor` use the same names. Not subject to `AllowedHosts` and `Hosting:RequireHttps`.',
      responses: { 200: readyShape, 503: readyShape },
      examples: { responses: { 200: READY } },
      headers: credentialHeaders,
      async handle({ header, caller }) {
        const { status, body } = await readiness(health, clock, isOperator(header, caller));
        return json(status, body);
      },
    }),
  ];
}

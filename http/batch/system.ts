/**
 * `/api/health`, `/api/ready` and `/api/whoami`.
 *
 * Source: Batch Signing Service API, "System"; batch-gaps §3.
 */
import type { Readiness } from '../../actors/api.ts';
import type { Clock } from '../../runtime/index.ts';
import { json, keptJson } from '../reply.ts';
import { type AnyRoute, route } from '../router.ts';
import { noBody, noParams, noQuery } from './queries.ts';
import { healthShape, readyBody, readyShape, whoamiShape } from './shapes.ts';

const ANONYMOUS_GET = {
  method: 'GET',
  auth: 'anonymous',
  rate: 'none',
  vital: true,
  bodyPolicy: 'none',
  headers: [],
  params: noParams,
  query: noQuery,
  body: noBody,
  unfit: { params: 'route.not-found', query: 'validation.filter-invalid', body: 'validation.body-invalid' },
  refusals: [],
} as const;

const HEALTHY = keptJson(200, { status: 'Healthy' });

export function systemRoutes(readiness: Readiness, clock: Pick<Clock, 'now'>): readonly AnyRoute[] {
  return [
    route({
      ...ANONYMOUS_GET,
      path: '/api/health',
      summary: 'Says that the process is up.',
      responses: { 200: healthShape },
      handle: () => HEALTHY,
    }),
    route({
      ...ANONYMOUS_GET,
      auth: 'operator',
      path: '/api/whoami',
      summary: 'Says who is asking, and by which scheme.',
      responses: { 200: whoamiShape },
      handle({ identity }) {
        return json(200, { operator: identity?.operator ?? '', scheme: identity?.scheme ?? 'ApiKey' });
      },
    }),
    route({
      ...ANONYMOUS_GET,
      path: '/api/ready',
      summary: 'Says whether work can be done, and what stands in its way.',
      responses: { 200: readyShape, 503: readyShape },
      async handle() {
        const body = readyBody(await readiness.checks(), clock.now());
        return json(body.status === 'Ready' ? 200 : 503, body);
      },
    }),
  ];
}

/** `/api/health`, which is ours. */
import { z } from 'zod';
import { keptJson } from '../reply.ts';
import type { AnyRoute } from '../router.ts';
import { portalRoute } from './route.ts';

const HEALTHY = keptJson(200, { status: 'Healthy' });

export function systemRoutes(): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/api/health',
      summary: 'Says that the process is up.',
      auth: 'anonymous',
      vital: true,
      responses: { 200: z.strictObject({ status: z.literal('Healthy') }) },
      refusals: [],
      handle: () => HEALTHY,
    }),
  ];
}

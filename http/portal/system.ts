/**
 * `/api/health`, which is ours, and what the portal does not have.
 *
 * Source: portal-gaps §20, "Generation".
 */
import { z } from 'zod';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import { json } from '../reply.ts';
import type { AnyRoute } from '../router.ts';
import { portalRoute } from './route.ts';

const HEALTHY = json(200, { status: 'Healthy' });

export function systemRoutes(): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/api/health',
      summary: 'Says that the process is up.',
      auth: 'anonymous',
      responses: { 200: z.strictObject({ status: z.literal('Healthy') }) },
      refusals: [],
      handle: () => HEALTHY,
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/generation',
      summary: 'Documents are not generated from templates here.',
      responses: {},
      refusals: ['NotFound'],
      handle: noGeneration,
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/generation/{id}',
      summary: 'Documents are not generated from templates here.',
      params: z.object({ id: z.string() }),
      responses: {},
      refusals: ['NotFound'],
      handle: noGeneration,
    }),
  ];
}

function noGeneration(): never {
  throw new PortalRefusal('NotFound', 'This service generates no documents.', {
    details: { resourceName: 'DocumentGeneration' },
  });
}

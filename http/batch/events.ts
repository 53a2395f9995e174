/**
 * `GET /api/events`: what happened to the service as a whole.
 *
 * Source: Batch Signing Service API, "Events" 2; batch-gaps §15.
 */
import type { SystemEvents } from '../../actors/api.ts';
import { json } from '../reply.ts';
import { type AnyRoute, route } from '../router.ts';
import { eventQuery, noBody, noParams } from './queries.ts';
import { eventListShape, isoTime } from './shapes.ts';

export function eventRoutes(events: SystemEvents): readonly AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/events',
      summary: 'Lists system events, newest first.',
      auth: 'operator',
      rate: 'none',
      bodyPolicy: 'none',
      headers: [],
      params: noParams,
      query: eventQuery,
      body: noBody,
      unfit: {
        params: 'route.not-found',
        query: 'validation.filter-invalid',
        body: 'validation.body-invalid',
      },
      responses: { 200: eventListShape },
      refusals: ['validation.filter-invalid'],
      async handle({ query }) {
        const { kind: kinds, page, pageSize } = query;
        const { items, totalCount } = await events.list({ kinds, page, pageSize });
        return json(200, {
          items: items.map(({ timestamp, ...event }) => ({ timestamp: isoTime(timestamp), ...event })),
          page,
          pageSize,
          totalCount,
        });
      },
    }),
  ];
}

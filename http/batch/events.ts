/**
 * `GET /api/events`: service-wide events.
 *
 * Source: docs/batch-values.md §0, §15.
 */
import type { SystemEvents } from '../../actors/batch/api/service.ts';
import { json } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
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

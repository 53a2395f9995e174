/**
 * `/api/pipeline/*`: pauses and resumes the claiming of queued jobs.
 *
 * Source: docs/batch-values.md §0, §3.
 */
import type { PipelineControl } from '../../actors/batch/api/service.ts';
import { json } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { checkReason, noBody, noParams, noQuery, reasonBody } from './queries.ts';
import { pipelineBody, pipelineShape } from './shapes.ts';

const COMMON = {
  auth: 'operator',
  rate: 'actions',
  headers: [],
  params: noParams,
  query: noQuery,
  unfit: { params: 'route.not-found', query: 'validation.filter-invalid', body: 'validation.body-invalid' },
  responses: { 200: pipelineShape },
} as const;

export function pipelineRoutes(pipeline: PipelineControl): readonly AnyRoute[] {
  return [
    route({
      ...COMMON,
      method: 'GET',
      path: '/api/pipeline/state',
      summary: 'Says whether the pipeline is paused and what is in flight.',
      bodyPolicy: 'none',
      body: noBody,
      refusals: [],
      async handle() {
        return json(200, pipelineBody(await pipeline.state()));
      },
    }),
    ...(['pause', 'resume'] as const).map((action) =>
      route({
        ...COMMON,
        method: 'POST',
        path: `/api/pipeline/${action}`,
        summary:
          action === 'pause'
            ? 'Claims no more jobs; those in flight finish. Lasts over restarts.'
            : 'Claims jobs again.',
        bodyPolicy: 'json',
        body: reasonBody,
        refusals: ['validation.reason-too-long', 'validation.body-invalid', 'service.busy'],
        async handle({ body }) {
          checkReason(body.reason);
          return json(200, pipelineBody(await pipeline[action](body.reason)));
        },
      }),
    ),
  ];
}

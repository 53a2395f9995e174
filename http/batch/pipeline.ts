/**
 * `/api/pipeline/*`: pauses and resumes the claiming of queued jobs.
 *
 * Source: docs/batch-values.md §0, §3.
 */
import type { PipelineControl } from '../../actors/batch/api/service.ts';
import { json } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { AT } from './description/example-values.ts';
import { type SharedAnswers, sharedQuery } from './inspection/shared-answers.ts';
import { checkReason, noBody, noParams, noQuery, reasonBody } from './queries.ts';
import { pipelineBody, pipelineShape } from './shapes.ts';

const COMMON = {
  group: 'Pipeline',
  auth: 'operator',
  rate: 'actions',
  headers: [],
  params: noParams,
  query: noQuery,
  invalidInput: {
    params: 'route.not-found',
    query: 'validation.filter-invalid',
    body: 'validation.body-invalid',
  },
  responses: { 200: pipelineShape },
} as const;

const CHANGE = {
  method: 'POST',
  bodyPolicy: 'json',
  body: reasonBody,
  refusals: ['validation.reason-too-long', 'validation.body-invalid', 'service.busy'],
} as const;

const PIPELINE = {
  paused: true,
  pausedAtUtc: AT,
  resumedAtUtc: null,
  pausedBy: 'operator',
  reason: 'certificate change',
  held: null,
  maxConcurrency: 8,
  jobsInFlight: 2,
  jobsInFlightByFormat: { pades: 1, cades: 0, xades: 1, total: 2 },
};

export function pipelineRoutes(pipeline: PipelineControl, shared: SharedAnswers): readonly AnyRoute[] {
  return [
    route({
      ...COMMON,
      method: 'GET',
      path: '/api/pipeline/state',
      summary: 'Says whether the pipeline is paused and what is in flight.',
      description:
        '`held` gives the reason and the time while no jobs are claimed because a disk is full or a folder is not writable; it ends automatically. Counts against the actions limit, as the other operations of the pipeline do.',
      bodyPolicy: 'none',
      query: sharedQuery,
      body: noBody,
      examples: { responses: { 200: PIPELINE } },
      refusals: [],
      handle: ({ query: { version } }) =>
        shared.answer(version, ['pipeline'], async () => pipelineBody(await pipeline.state())),
    }),
    route({
      ...COMMON,
      ...CHANGE,
      path: '/api/pipeline/pause',
      summary: 'Claims no more jobs; those in flight finish. Lasts over restarts.',
      description:
        'Idempotent: pausing a paused pipeline changes nothing, the reason included. Uploads and watchers go on; jobs stay Queued.',
      examples: { request: { reason: 'certificate change' }, responses: { 200: PIPELINE } },
      async handle({ body }) {
        checkReason(body.reason);
        return json(200, pipelineBody(await pipeline.pause(body.reason)));
      },
    }),
    route({
      ...COMMON,
      ...CHANGE,
      path: '/api/pipeline/resume',
      summary: 'Claims jobs again.',
      description: 'Idempotent. The next jobs are claimed at once, oldest first.',
      examples: {
        request: { reason: 'done' },
        responses: {
          200: { ...PIPELINE, paused: false, resumedAtUtc: '2026-05-26T15:50:00.000Z', reason: 'done' },
        },
      },
      async handle({ body }) {
        checkReason(body.reason);
        return json(200, pipelineBody(await pipeline.resume(body.reason)));
      },
    }),
  ];
}

/** Pausing and resuming the claiming of queued jobs. Source: docs/batch-values.md §0, §3. */
import { z } from 'zod';
import { entity, maybePart, part, shown, time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { AT } from './examples.ts';
import { operation } from './operation.ts';
import { reasonBody, sharedQuery } from './requests.ts';

const pipelineState = entity('PipelineState', {
  paused: z.boolean().describe('Whether no jobs are claimed because an operator paused the pipeline.'),
  pausedAtUtc: time.nullable().describe('Time of the last pause. Null: never paused.'),
  resumedAtUtc: time.nullable().describe('Time of the last resumption. Null: never resumed.'),
  pausedBy: z.enum(['system', 'operator']).describe('Who paused the pipeline last.'),
  reason: shown(
    z.string().nullable(),
    'Why, as events and the history show it. Null: none was given.',
    'certificate change',
  ),
  held: maybePart('Why no jobs are claimed although the pipeline runs. Null: jobs are claimed.', {
    reason: shown(
      z.string(),
      'Why, as events and the history show it. Null: none was given.',
      'certificate change',
    ),
    since: time.describe('Time from which this holds or is counted.'),
  }),
  maxConcurrency: shown(z.int(), 'Jobs that are signed at the same time.', 8),
  jobsInFlight: shown(z.int(), 'Jobs in progress.', 2),
  jobsInFlightByFormat: part('Jobs in progress by signature format.', {
    pades: shown(z.int(), 'Jobs in the format PAdES.', 1),
    cades: shown(z.int(), 'Jobs in the format CAdES.', 0),
    xades: shown(z.int(), 'Jobs in the format XAdES.', 1),
    total: shown(z.int(), 'Jobs of all formats.', 2),
  }),
});

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

/** Of every operation of the pipeline. */
const COMMON = { group: 'Pipeline', rate: 'actions', reply: pipelineState } as const;

const CHANGE = {
  ...COMMON,
  body: reasonBody,
  refusals: ['validation.reason-too-long', 'validation.body-invalid', 'service.busy'],
} as const;

export const readPipeline = operation('GET /api/pipeline/state', {
  ...COMMON,
  summary: 'Says whether the pipeline is paused and what is in flight.',
  description:
    '`held` gives the reason and the time while no jobs are claimed because a disk is full or a folder is not writable; it ends automatically. Counts against the actions limit, as the other operations of the pipeline do.',
  query: sharedQuery,
  examples: { reply: PIPELINE },
});

export const pausePipeline = operation('POST /api/pipeline/pause', {
  ...CHANGE,
  summary: 'Claims no more jobs; those in flight finish. Lasts over restarts.',
  description:
    'Idempotent: pausing a paused pipeline changes nothing, the reason included. Uploads and watchers go on; jobs stay Queued.',
  examples: { request: { reason: 'certificate change' }, reply: PIPELINE },
});

export const resumePipeline = operation('POST /api/pipeline/resume', {
  ...CHANGE,
  summary: 'Claims jobs again.',
  description: 'Idempotent. The next jobs are claimed at once, oldest first.',
  examples: {
    request: { reason: 'done' },
    reply: { ...PIPELINE, paused: false, resumedAtUtc: '2026-05-26T15:50:00.000Z', reason: 'done' },
  },
});

export type PipelineView = Value<typeof pipelineState>;
/** Hold of a running pipeline: the disk is full or a folder is not writable, so no job is claimed. */
export type PipelineHold = NonNullable<PipelineView['held']>;

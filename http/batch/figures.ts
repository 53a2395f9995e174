/**
 * What clients may know of the service's set-up and speed: signing profiles and statistics.
 *
 * Source: batch-gaps §15, "Profiles" and "Statistics".
 */
import { z } from 'zod';
import type { ProfileList, ProfileView, Statistics } from '../../actors/api.ts';
import { json } from '../reply.ts';
import { type AnyRoute, route } from '../router.ts';
import { noBody, noParams, noQuery, statisticsQuery } from './queries.ts';
import { isoTime, jobFormat, timestamp } from './shapes.ts';

export const profilesShape = z.strictObject({
  profiles: z.array(
    z.strictObject({
      name: z.string(),
      format: jobFormat.nullable(),
      method: z.enum(['Local', 'RemoteSigner']),
      verify: z.boolean(),
      encrypt: z.boolean(),
      validateCertificate: z.boolean(),
      certificate: z
        .strictObject({
          source: z.string(),
          subject: z.string(),
          thumbprint: z.string(),
          notAfter: timestamp,
        })
        .nullable(),
      default: z.boolean(),
    }),
  ),
});

const figures = z.strictObject({
  count: z.int(),
  avgMs: z.number().nullable(),
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  maxMs: z.number().nullable(),
});

export const statisticsShape = z.strictObject({
  since: timestamp,
  completed: z.int(),
  failed: z.int(),
  canceled: z.int(),
  encrypted: z.int(),
  perStage: z.strictObject({ queueWait: figures, sign: figures, verify: figures, output: figures }),
  perMethod: z.strictObject({ Local: z.int(), RemoteSigner: z.int() }),
  throughputPerMinute: z.number(),
  lifetimePerMinute: z.number(),
});

const COMMON = {
  method: 'GET',
  auth: 'operator',
  rate: 'none',
  bodyPolicy: 'none',
  headers: [],
  params: noParams,
  body: noBody,
  unfit: { params: 'route.not-found', query: 'validation.filter-invalid', body: 'validation.body-invalid' },
} as const;

export function figureRoutes(profiles: ProfileList, statistics: Statistics): readonly AnyRoute[] {
  return [
    route({
      ...COMMON,
      path: '/api/profiles',
      summary: 'Lists the signing profiles an upload may name.',
      query: noQuery,
      responses: { 200: profilesShape },
      refusals: [],
      handle: () => json(200, { profiles: profiles.list().map(profileBody) }),
    }),
    route({
      ...COMMON,
      path: '/api/statistics',
      summary: 'Says how many jobs ended within a window up to now, and how long their stages took.',
      query: statisticsQuery,
      responses: { 200: statisticsShape },
      refusals: ['validation.filter-invalid'],
      async handle({ query }) {
        const { since, ...more } = await statistics.over(query.window);
        return json(200, { since: isoTime(since), ...more });
      },
    }),
  ];
}

function profileBody({ certificate, isDefault, ...profile }: ProfileView) {
  return {
    ...profile,
    certificate: certificate && { ...certificate, notAfter: isoTime(certificate.notAfter) },
    default: isDefault,
  };
}

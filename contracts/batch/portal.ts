/** Activity of the portal, and the keys of its applications, for operators. */
import { z } from 'zod';
import { entity, part, shown, time } from '../fields.ts';
import { AT, JOB_ID, OTHER_ID } from './examples.ts';
import { operationsOf } from './operation.ts';
import { MAX_INTERVALS, seriesQuery, sharedQuery } from './requests.ts';

/** One number for each interval. */
const counts = (description: string) =>
  z
    .array(z.int().meta({ examples: [31] }))
    .max(MAX_INTERVALS)
    .meta({ description, examples: [[31, 40, 29, 27]] });

const portalActivity = entity('PortalActivity', {
  since: time.describe('Time from which this holds or is counted.'),
  intervalSeconds: shown(z.number(), 'Length of an interval, seconds.', 21600),
  documents: part('Documents by the interval in which they were created.', {
    created: counts('Documents and envelopes that were created in each interval, oldest first.'),
    concluded: counts('Those of each interval that are concluded now.'),
    refused: counts('Those of each interval that a participant has refused.'),
  }),
  webhooks: part('Webhook deliveries by the interval in which they were created.', {
    delivered: counts('Deliveries that a receiver has accepted, oldest interval first.'),
    failed: counts('Deliveries that were given up after the last attempt.'),
  }),
  mails: part('E-mails by the interval in which they were created.', {
    sent: counts('E-mails that the mail server has accepted, oldest interval first.'),
    failed: counts('E-mails that were given up after the last attempt.'),
  }),
  complete: shown(
    z.boolean(),
    'False when not all of the window was read: `incomplete` names the counts that are too low.',
    true,
  ),
  incomplete: z
    .array(z.enum(['documents', 'webhooks', 'mails']))
    .max(3)
    .meta({
      description: 'Members of which not all was read: their counts are too low. Empty with `complete`.',
      examples: [['webhooks']],
    }),
});

const operation = operationsOf({ group: 'System' });

export const readPortalActivity = operation('GET /api/portal/activity', {
  summary: 'Counts documents, webhook deliveries and e-mails of the portal in equal intervals up to now.',
  description:
    'For charts: one number for each interval, oldest first, by the time of creation and with the state of now. Reads at most the newest 5,000 documents, the newest 5,000 e-mails of each state, and the newest 5,000 deliveries of each state of each organization, of at most 1,000 organizations, and stops after 5 seconds. Only where the portal is served.',
  query: seriesQuery,
  reply: portalActivity,
  examples: {
    reply: {
      since: '2026-05-25T15:42:11.123Z',
      intervalSeconds: 21_600,
      documents: { created: [31, 40, 29, 27], concluded: [30, 38, 22, 4], refused: [1, 0, 0, 0] },
      webhooks: { delivered: [62, 78, 51, 30], failed: [0, 2, 0, 0] },
      mails: { sent: [64, 81, 55, 31], failed: [0, 0, 1, 0] },
      complete: true,
      incomplete: [],
    },
  },
  refusals: ['validation.filter-invalid'],
});

const MAX_KEYS = 500;

const portalKeys = entity('PortalKeys', {
  items: z
    .array(
      z.strictObject({
        id: shown(z.guid(), 'Identifier.', JOB_ID),
        organization: z.string().meta({ description: 'Name of its organization.', examples: ['Acme'] }),
        application: z.string().meta({ description: 'Name of its application.', examples: ['billing'] }),
        role: z.string().meta({
          description: 'What the application may do: Normal, Monitor or Administrator.',
          examples: ['Normal'],
        }),
        limited: z.boolean().describe('True when scopes or folders limit the key.'),
        createdAt: time.describe('Time at which it was made, UTC.'),
        lastUsedAt: time.nullable().describe('Null for a key that was not used yet.'),
        expiresAt: time.nullable().describe('Null for a key that does not expire.'),
        expiry: z.enum(['never', 'later', 'soon', 'over']).describe('`soon`: within 30 days.'),
      }),
    )
    .max(MAX_KEYS)
    .describe('Entries of this page.'),
  complete: shown(
    z.boolean(),
    'False when there are more than 1,000 organizations or more than 500 keys.',
    true,
  ),
});

export const listPortalKeys = operation('GET /api/portal/keys', {
  summary: "Lists the keys of the portal's applications, those that expire first at the beginning.",
  description:
    'With organization, application and last use, without secrets. Reads the first 1,000 organizations by name and answers at most 500 keys. Only where the portal is served.',
  query: sharedQuery,
  reply: portalKeys,
  examples: {
    reply: {
      items: [
        {
          id: OTHER_ID,
          organization: 'Acme',
          application: 'billing',
          role: 'Normal',
          limited: false,
          createdAt: AT,
          lastUsedAt: AT,
          expiresAt: null,
          expiry: 'never',
        },
      ],
      complete: true,
    },
  },
});

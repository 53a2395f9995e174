/**
 * `/api/portal/keys`: expiry and last use of the keys of applications, for operators. Not their secrets.
 *
 * Not in docs/batch-values.md §0; additive.
 */
import { z } from 'zod';
import type { OperatorKeys } from '../../../actors/portal/api.ts';
import { type AnyRoute, route } from '../../core/router.ts';
import { AT } from '../description/example-values.ts';
import { noParams } from '../queries.ts';
import { withQueryLimit } from '../query-limits.ts';
import { isoTime, timestamp } from '../shapes.ts';
import { type SharedAnswers, sharedQuery } from './shared-answers.ts';

const MAX_KEYS = 500;

const keysShape = z
  .strictObject({
    items: z
      .array(
        z.strictObject({
          id: z.guid(),
          organization: z.string().meta({ description: 'Name of its organization.', examples: ['Acme'] }),
          application: z.string().meta({ description: 'Name of its application.', examples: ['billing'] }),
          role: z.string().meta({
            description: 'What the application may do: Normal, Monitor or Administrator.',
            examples: ['Normal'],
          }),
          limited: z.boolean().describe('True when scopes or folders limit the key.'),
          createdAt: timestamp,
          lastUsedAt: timestamp.nullable().describe('Null for a key that was not used yet.'),
          expiresAt: timestamp.nullable().describe('Null for a key that does not expire.'),
          expiry: z.enum(['never', 'later', 'soon', 'over']).describe('`soon`: within 30 days.'),
        }),
      )
      .max(MAX_KEYS),
    complete: z
      .boolean()
      .describe('False when there are more than 1,000 organizations or more than 500 keys.'),
  })
  .meta({ id: 'PortalKeys' });

export function portalKeyRoutes(keys: OperatorKeys, shared: SharedAnswers): readonly AnyRoute[] {
  return [
    route({
      ...withQueryLimit('route.not-found'),
      path: '/api/portal/keys',
      group: 'System',
      summary: "Lists the keys of the portal's applications, those that expire first at the beginning.",
      description:
        'With organization, application and last use, without secrets. Reads the first 1,000 organizations by name and answers at most 500 keys. Only where the portal is served.',
      params: noParams,
      query: sharedQuery,
      responses: { 200: keysShape },
      examples: {
        responses: {
          200: {
            items: [
              {
                id: '6f2b8e14-93c7-4d5a-b0e1-7a4c2d9f8b36',
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
      },
      refusals: [],
      handle: ({ query: { version } }) =>
        shared.answer(version, ['portal-keys'], async () => {
          const { items, complete } = await keys.keys();
          return {
            items: items.map(({ createdAt, lastUsedAt, expiresAt, ...key }) => ({
              ...key,
              createdAt: isoTime(createdAt),
              lastUsedAt: lastUsedAt === null ? null : isoTime(lastUsedAt),
              expiresAt: expiresAt === null ? null : isoTime(expiresAt),
            })),
            complete,
          };
        }),
    }),
  ];
}

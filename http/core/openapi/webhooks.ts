/**
 * Describes the calls that a service makes to other systems.
 *
 * Source: OpenAPI 3.1.1 §4.8.1 (`webhooks`).
 */
import type { z } from 'zod';
import type { SchemaBook } from './schemas.ts';

/** Type of event → its call. */
export type WebhookDescriptions = {
  readonly [type: string]: {
    /** One sentence for people. */
    readonly summary: string;
    /** CommonMark. */
    readonly description: string;
    readonly payload: z.ZodType;
  };
};

const RESPONSES = {
  '2XX': { description: 'Received within 10 seconds. Every other answer is tried again, ten times in all.' },
  '410': { description: 'The receiver is gone: the service calls it no more.' },
} as const;

export function webhooksOf(
  webhooks: WebhookDescriptions,
  book: SchemaBook,
): { readonly [type: string]: { readonly post: object } } {
  return Object.fromEntries(
    Object.entries(webhooks).map(([type, { summary, description, payload }]) => [
      type,
      {
        post: {
          operationId: `on${type}`,
          summary,
          description,
          security: [],
          parameters: Object.keys(WEBHOOK_HEADERS).map((name) => ({
            $ref: `#/components/parameters/${name}`,
          })),
          requestBody: { required: true, content: { 'application/json': { schema: book.output(payload) } } },
          responses: RESPONSES,
        },
      },
    ]),
  );
}

const text = { type: 'string' } as const;

/** Headers of every call, by name. */
export const WEBHOOK_HEADERS = {
  'webhook-id': {
    in: 'header',
    name: 'webhook-id',
    required: true,
    schema: text,
    description: 'Identifies the event, the same on each attempt. Ignore an id that was processed.',
  },
  'webhook-sequence': {
    in: 'header',
    name: 'webhook-sequence',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$' },
    description: 'Number of the event among those of its document or job, from 1, without gaps.',
  },
  'webhook-timestamp': {
    in: 'header',
    name: 'webhook-timestamp',
    required: false,
    schema: text,
    description: 'Time of the attempt, seconds since the epoch. With a secret only.',
  },
  'webhook-signature': {
    in: 'header',
    name: 'webhook-signature',
    required: false,
    schema: text,
    description:
      'Signatures of id, timestamp and body by the rules of Standard Webhooks. With a secret only.',
  },
} as const;

/** Replies as they go on the wire. */
import type { z } from 'zod';

/** The body, when it fits the schema of the reply; times stay text. */
export function onWire<Schema extends z.ZodType>(schema: Schema, body: unknown): z.input<Schema> {
  schema.parse(body);
  return body as z.input<Schema>;
}

/**
 * What members of requests can hold. Messages go on after `The <Name> field`.
 *
 * Source: portal-gaps §1 rows 3, 4 and 6 to 9.
 */
import { z } from 'zod';
import type { Millis } from '../../machines/ids.ts';
import { SchemaBook } from '../openapi/schemas.ts';
import { base64Bytes } from './base64.ts';
import { parseDay, parseEnd, parseMoment } from './moments.ts';
import { REQUIRED } from './unfit.ts';

/**
 * An object whose members are named without regard to case; of a member sent twice the last value counts that is not
 * null, and unknown members are ignored.
 */
export function members<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const names = new Map(Object.keys(shape).map((name) => [name.toLowerCase(), name]));
  return z.preprocess((given) => exactNames(given, names), z.object(shape, { error: 'must be an object' }));
}

function exactNames(given: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const exact: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(given)) {
    const known = names.get(name.toLowerCase());
    if (known !== undefined && (value !== null || !(known in exact))) exact[known] = value;
  }
  return exact;
}

const anyText = z.string({ error: 'must be a string' });

/** Text that must be there and not be blank. */
export const text = anyText.refine((given) => given.trim() !== '', { error: REQUIRED });
/** Text, null or nothing; what is blank is nothing. */
export const maybeText = anyText.nullish().transform((given) => (given?.trim() === '' ? null : given));

export const flag = z.boolean({ error: 'must be true or false' });
export const maybeFlag = flag.nullish();
export const whole = z.int({ error: 'must be a whole number' });
export const number = z.number({ error: 'must be a number' });
export function between(least: number, most: number) {
  const error = `must be a number from ${least} to ${most}`;
  return z.number({ error }).min(least, { error }).max(most, { error });
}

export function list<Item extends z.ZodType>(item: Item) {
  return z.array(item, { error: 'must be a list' });
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A UUID in lower case. */
export const uuid = anyText
  .transform((given, context) => {
    const id = given.toLowerCase();
    if (UUID.test(id)) return id;
    context.issues.push({
      code: 'custom',
      message: given === '' ? REQUIRED : 'must be a UUID',
      input: given,
    });
    return z.NEVER;
  })
  .meta({ openapi: { type: 'string', format: 'uuid' } });

/** A UUID, null or nothing; so is empty text, which some clients send for null. */
export const maybeUuid = z
  .preprocess((given) => (given === '' ? null : given), uuid.nullish())
  .meta({ openapi: { type: ['string', 'null'], format: 'uuid' } });

/** One of some words, without regard to case; given in their own. */
export function word<const Word extends string>(words: readonly Word[]) {
  const exact = new Map(words.map((name) => [name.toLowerCase(), name]));
  return anyText
    .transform((given, context) => {
      const known = exact.get(given.toLowerCase());
      if (known !== undefined) return known;
      context.issues.push({
        code: 'custom',
        message: `must be one of ${words.join(', ')}`,
        input: given,
      });
      return z.NEVER;
    })
    .meta({ openapi: { type: 'string', enum: words } });
}

/** A moment with its zone, or without one in UTC. */
export const moment = textAs(parseMoment, 'must be an ISO 8601 time');
/** The same; a bare day is its last millisecond. */
export const end = textAs(parseEnd, 'must be an ISO 8601 day or time');
/** A day; of a moment, the day as it is written. Midnight UTC. */
export const day = textAs(parseDay, 'must be an ISO 8601 day or time');

function textAs(parse: (text: string) => Millis | undefined, message: string) {
  return anyText
    .transform((given, context) => {
      const found = parse(given);
      if (found !== undefined) return found;
      context.issues.push({ code: 'custom', message, input: given });
      return z.NEVER;
    })
    .meta({ description: `ISO 8601: ${message}.`, openapi: { type: 'string' } });
}

/** Bytes in Base64, at least one. */
export const bytes = anyText
  .transform((given, context) => {
    const found = base64Bytes(given);
    if (found !== undefined && found.length > 0) return found;
    context.issues.push({
      code: 'custom',
      message: given === '' ? REQUIRED : 'must be Base64',
      input: given,
    });
    return z.NEVER;
  })
  .meta({ openapi: { type: 'string', contentEncoding: 'base64' } });

/** What fits `schema`, as it was sent. */
export function asSent<Schema extends z.ZodType>(schema: Schema) {
  return z
    .unknown()
    .superRefine((given, context) => {
      const read = schema.safeParse(given, { reportInput: true });
      if (!read.success) context.issues.push(...(read.error.issues as z.core.$ZodRawIssue[]));
    })
    .meta({ openapi: new SchemaBook().input(schema) });
}

/**
 * Schemas of members. Messages of those of requests continue `The <Name> field`. A bound stands here once: it is what
 * is accepted and what the API description says.
 *
 * Source: docs/portal-values.md §1 rows 3, 4 and 6 to 9.
 */
import { z } from 'zod';
import { base64Bytes } from './base64.ts';
import { noteIgnored } from './ignored-members.ts';
import { isBlank, plainLine } from './plain-text.ts';
import { isoTime, parseEnd, parseEndOfDay, parseMoment } from './times.ts';

/** Message for a member that is missing, null or empty. */
export const REQUIRED = 'is required';
/** Maximum number of faults that are searched and reported. */
export const MAX_FAULTS = 20;
/** Options of parsing. */
export const WITH_INPUT = { reportInput: true } as const;

/**
 * Code and message of a value beyond a bound, where these are not `BadRequest` and the message of the schema. The first
 * one refuses a request that has no other fault.
 */
export interface BoundRefusal {
  readonly code: string;
  readonly message: string;
}

/**
 * An object with case-insensitive member names; of a duplicate member the last value other than null counts, and
 * unknown members are ignored (`namingIgnored`).
 */
export function members<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const names = new Map(Object.keys(shape).map((name) => [name.toLowerCase(), name]));
  return z.preprocess((given) => exactNames(given, names), z.object(shape, { error: 'must be an object' }));
}

function exactNames(given: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const exact: Record<string, unknown> = Object.create(null);
  let unknown: string[] | undefined;
  for (const [name, value] of Object.entries(given)) {
    const known = names.get(name.toLowerCase());
    if (known === undefined) {
      unknown ??= [];
      unknown.push(name);
    } else if (value !== null || !(known in exact)) exact[known] = value;
  }
  noteIgnored(given, unknown);
  return exact;
}

/** An object with its name in the API description and in the types of the client; no other members are allowed. */
export function entity<const Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) {
  return z.strictObject(shape).meta({ id });
}

/** An object within another. */
export function part<const Shape extends z.core.$ZodLooseShape>(meaning: string, shape: Shape) {
  return z.strictObject(shape).describe(meaning);
}

export function maybePart<const Shape extends z.core.$ZodLooseShape>(meaning: string, shape: Shape) {
  return z.strictObject(shape).nullable().describe(meaning);
}

/** A list of objects within another. */
export function parts<const Shape extends z.core.$ZodLooseShape>(meaning: string, shape: Shape) {
  return z.array(z.strictObject(shape)).describe(meaning);
}

/** Default maximum length of a text, characters. */
export const MAX_TEXT = 10_000;
/** Default maximum number of items of a list; above every rule behind the schemas. */
const MAX_LIST = 1000;
/** Maximum number of members of a map. */
const MAX_MAP = 1000;
/** Maximum length of a map member's name, characters. */
const MAX_NAME = 500;

/** A text of at most this many characters. */
export function textUpTo(most: number) {
  return z
    .string({ error: 'must be a string' })
    .max(most, { error: `must have at most ${most} characters`, abort: true });
}

export const anyText = textUpTo(MAX_TEXT);

/** Text that is required and not blank: invisible characters alone count as blank, as white space does. */
export const text = anyText
  .refine((given) => !isBlank(given), { error: REQUIRED })
  .meta({ openapi: { type: 'string', minLength: 1, maxLength: MAX_TEXT } });
/** Text, null or absent; blank counts as absent. */
export const maybeText = anyText
  .nullish()
  .transform((given) => (given != null && isBlank(given) ? null : given))
  .optional();

/**
 * Text that is required, in the form that `clean` gives it.
 * @param fault message for more characters than `most` in that form
 */
export function textOf(clean: (given: string) => string, most: number, fault = 'is too long') {
  return text
    .transform((given, context) => {
      const cleaned = clean(given);
      if (cleaned.length > most) context.issues.push({ code: 'custom', message: fault, input: given });
      return cleaned;
    })
    .meta({ openapi: { type: 'string', minLength: 1, maxLength: most } });
}

/** Text in the form that `clean` gives it; null or absent: none, and so is a blank one. See `textOf`. */
export function maybeTextOf(clean: (given: string) => string, most: number, fault = 'is too long') {
  return maybeText
    .transform((given, context) => {
      const cleaned = given == null ? given : clean(given) || null;
      if (cleaned != null && cleaned.length > most)
        context.issues.push({ code: 'custom', message: fault, input: given });
      return cleaned;
    })
    .optional()
    .meta({ openapi: { anyOf: [{ type: 'string', maxLength: most }, { type: 'null' }] } });
}

/** One line without invisible characters. */
export function maybeLine(most: number) {
  return maybeTextOf(plainLine, most);
}

export const flag = z.boolean({ error: 'must be true or false' });
export const maybeFlag = flag.nullish();
export const whole = z.int({ error: 'must be a whole number' });
/** A whole number within bounds. */
export function wholeFrom(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}
export const number = z.number({ error: 'must be a number' });
export function between(least: number, most: number) {
  const error = `must be a number from ${least} to ${most}`;
  return z.number({ error }).min(least, { error }).max(most, { error });
}

/**
 * A list. Items are parsed one by one until `MAX_FAULTS` faults are found, so that an entirely invalid list costs no
 * more than a short one.
 * @param least minimum number of items. @default 0
 * @param most maximum number of items; longer lists are refused unread
 * @param refusal of longer lists. @default `BadRequest`
 */
export function list<Item extends z.ZodType>(
  item: Item,
  { least = 0, most = MAX_LIST, refusal }: { least?: number; most?: number; refusal?: BoundRefusal } = {},
) {
  return z
    .array(z.unknown(), { error: 'must be a list' })
    .transform((given, context): z.output<Item>[] => {
      const fault = (message: string) => context.issues.push({ code: 'custom', message, input: given });
      if (given.length < least)
        fault(least === 1 ? 'must have at least one item' : `must have ${least} items`);
      if (given.length > most) {
        const message = `must have at most ${most} items`;
        context.issues.push({ code: 'custom', message, input: given, params: { refusal } });
        return z.NEVER;
      }
      const items: z.output<Item>[] = [];
      for (const [index, one] of given.entries()) {
        const read = item.safeParse(one, WITH_INPUT);
        if (read.success) items.push(read.data);
        else if (!addFaults(context.issues, index, read.error)) break;
      }
      return items;
    })
    .meta({
      openapi: {
        type: 'array',
        ...(least > 0 && { minItems: least }),
        maxItems: most,
        items: item,
      },
    });
}

/** A map of names to values of `item`, parsed like a list. */
export function map<Item extends z.ZodType>(item: Item, error = 'must be an object') {
  return z
    .record(z.string(), z.unknown(), { error })
    .transform((given, context): Record<string, z.output<Item>> => {
      const fault = (message: string) => context.issues.push({ code: 'custom', message, input: given });
      const entries = Object.entries(given);
      if (entries.length > MAX_MAP) {
        fault(`must have at most ${MAX_MAP} members`);
        return z.NEVER;
      }
      const read: [string, z.output<Item>][] = [];
      for (const [name, one] of entries) {
        if (name.length > MAX_NAME) {
          fault(`must have names of at most ${MAX_NAME} characters`);
          return z.NEVER;
        }
        const found = item.safeParse(one, WITH_INPUT);
        if (found.success) read.push([name, found.data]);
        else if (!addFaults(context.issues, name, found.error)) break;
      }
      return Object.fromEntries(read);
    })
    .meta({
      openapi: {
        type: 'object',
        maxProperties: MAX_MAP,
        propertyNames: { maxLength: MAX_NAME },
        additionalProperties: item,
      },
    });
}

/** Adds the faults of one item, each with its path; false once the maximum is reached. */
function addFaults(issues: z.core.$ZodRawIssue[], place: PropertyKey, error: z.ZodError): boolean {
  for (const issue of error.issues) {
    if (issues.length >= MAX_FAULTS) return false;
    issues.push({ ...issue, path: [place, ...issue.path] } as z.core.$ZodRawIssue);
  }
  return issues.length < MAX_FAULTS;
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

/** A UUID, null or absent; empty text counts as null, because some clients send it. */
export const maybeUuid = z
  .preprocess((given) => (given === '' ? null : given), uuid.nullish())
  .meta({ openapi: { type: ['string', 'null'], format: 'uuid' } });

/** One of several values, without regard to case; returned in canonical casing. */
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

/** Times as `times.ts` reads them, without white space around. */
const WRITTEN_TIME = {
  type: 'string',
  maxLength: 36,
  pattern: '^\\d{4}-\\d{2}-\\d{2}([Tt ]\\d{2}:\\d{2}.*)?$',
};

/** A timestamp with its zone, or in UTC without one. */
export const moment = textAs(parseMoment, 'must be an ISO 8601 time');
/** A timestamp; a bare day is its last millisecond. */
export const end = textAs(parseEnd, 'must be an ISO 8601 day or time');
/** The last millisecond of a day; of a timestamp, of the day as written in its zone. */
export const day = textAs(parseEndOfDay, 'must be an ISO 8601 day or time');

function textAs(parse: (text: string) => number | undefined, message: string) {
  return anyText
    .transform((given, context) => {
      const found = parse(given);
      if (found !== undefined) return found;
      context.issues.push({ code: 'custom', message, input: given });
      return z.NEVER;
    })
    .meta({
      description: `ISO 8601: ${message}.`,
      openapi: WRITTEN_TIME,
      exampleValue: '2026-05-26T15:42:11Z',
    });
}

/**
 * Bytes in Base64, at least one.
 * @param most most bytes
 * @param read bytes up to which the service behind the schema refuses what is beyond `most`. @default none
 */
export function bytes(most: number, read = most) {
  // A third more characters, and space for line breaks.
  const characters = (count: number) => Math.ceil((count * 4) / 3) + Math.ceil(count / 32) + 4;
  return textUpTo(characters(read))
    .transform((given, context) => {
      const found = base64Bytes(given);
      const isEmpty = found === undefined || found.length === 0;
      if (!isEmpty && found.length <= read) return found;
      const fault = isEmpty ? 'must be Base64' : `must have at most ${read} bytes`;
      context.issues.push({ code: 'custom', message: given === '' ? REQUIRED : fault, input: given });
      return z.NEVER;
    })
    .meta({ openapi: { type: 'string', contentEncoding: 'base64', maxLength: characters(most) } });
}

/** Result: the values as sent. */
export function asSent<Schema extends z.ZodType>(schema: Schema) {
  return z
    .unknown()
    .superRefine((given, context) => {
      const read = schema.safeParse(given, WITH_INPUT);
      if (!read.success) context.issues.push(...(read.error.issues as z.core.$ZodRawIssue[]));
    })
    .meta({ openapi: schema });
}

/** Result: the values as parsed and as sent. */
export function withSent<Schema extends z.ZodType>(schema: Schema) {
  return z
    .unknown()
    .transform((given, context): { readonly read: z.output<Schema>; readonly sent: unknown } => {
      const found = schema.safeParse(given, WITH_INPUT);
      if (found.success) return { read: found.data, sent: given };
      context.issues.push(...(found.error.issues as z.core.$ZodRawIssue[]));
      return z.NEVER;
    })
    .meta({ openapi: schema });
}

/** A member with its meaning and an example. Without an example: `describe`. */
export function shown<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  exampleValue: unknown,
): Schema {
  return schema.meta({ description, exampleValue });
}

// Members of replies.

/** An object with any members. */
export const anyObject = z.unknown().meta({ openapi: { type: 'object' } });

/** Milliseconds since the epoch here; UTC with milliseconds and `Z` on the wire. */
export const time = z
  .codec(z.iso.datetime({ precision: 3 }), z.number(), {
    decode: (wire) => Date.parse(wire),
    encode: isoTime,
  })
  .meta({ openapi: { type: 'string', format: 'date-time' } });

export const id = z.guid();

/** Type of `z.string().brand<Name>()`. */
export type Branded<Name extends string> = string & z.core.$brand<Name>;

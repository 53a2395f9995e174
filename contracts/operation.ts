/**
 * Declarations of operations. HTTP binds each to its handler (`handle`); routes, the API description and the typed client
 * come from them.
 *
 * Source: docs/decisions/0192-contracts.md.
 */
import type { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Content of a reply other than JSON: bytes of a file, an HTML page, an asset of a page, plain text, XML, or nothing.
 */
export type Content = 'file' | 'page' | 'asset' | 'text' | 'csv' | 'xml' | 'empty';

/** Examples of the JSON bodies of an operation, for the API description; a test validates them by their schemas. */
export interface OperationExamples {
  readonly request?: unknown;
  /** Of a success with JSON. @default composed of the examples of the properties */
  readonly reply?: unknown;
  /** In place of `reply`, where there are several statuses. */
  readonly responses?: { readonly [status: number]: unknown };
}

export interface Place<Code extends string> {
  readonly method: Method;
  /** `{name}` matches one segment. */
  readonly path: string;
  readonly refusals: readonly Code[];
}

/** Method and path: `GET /api/jobs/{id}`. */
export type Called = `${Method} /${string}`;

export function placeOf(called: Called): Place<never> {
  const [method, path = ''] = called.split(' ') as [Method, string];
  return { method, path, refusals: [] };
}

/** Members to declare beside some, for each alternative. */
export type Rest<Declared, Known> = Declared extends unknown ? Omit<Declared, keyof Known> : never;

/** Headers that answers of single operations have. */
export type AnswerHeader = 'X-Run-Id' | 'X-Notified-Count';

/** Declaration of an operation, for both services. `Code`: the error codes of the service. */
export interface Declaration<Code extends string> {
  /** Name of the operation's group in the API description. */
  readonly group: string;
  /** One sentence for people. */
  readonly summary: string;
  /** Rules and effects that the summary does not tell, CommonMark. */
  readonly description: string;
  /** Lower-case names of the request headers that the handler reads. @default none */
  readonly headers?: readonly string[];
  /** Headers of its successful answers beside those of all. @default none */
  readonly answerHeaders?: readonly AnswerHeader[];
  /** @default none */
  readonly params?: z.ZodType;
  /** @default none */
  readonly query?: z.ZodType;
  /** Schema of a JSON body. @default no body */
  readonly body?: z.ZodType;
  /** Schema, or content, of the reply with status 200; handlers of a schema return its value. */
  readonly reply: z.ZodType | Content;
  readonly examples?: OperationExamples;
  /** Every error code of the handler and its service; those of authentication and rate limit are added. @default none */
  readonly refusals?: readonly Code[];
}

/** Type of a part of a request; undefined where the operation has none. */
export type Part<Declared, Name extends string> = Declared extends {
  readonly [name in Name]: infer Schema extends z.ZodType;
}
  ? z.output<Schema>
  : undefined;

/** Values as handlers and services see them; nothing changes them. */
export type Value<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

type DeepReadonly<Declared> = Declared extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Declared extends Uint8Array | string
    ? Declared
    : Declared extends object
      ? { readonly [Member in keyof Declared]: DeepReadonly<Declared[Member]> }
      : Declared;

/** Values that an encoder takes: it writes null for what is absent, where null is allowed. */
export type Sent<Declared> = Declared extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : Declared extends Uint8Array | string
    ? Declared
    : Declared extends object
      ? {
          readonly [Member in keyof Declared as null extends Declared[Member] ? never : Member]: Sent<
            Declared[Member]
          >;
        } & {
          readonly [Member in keyof Declared as null extends Declared[Member] ? Member : never]?:
            | Sent<Declared[Member]>
            | undefined;
        }
      : Declared;

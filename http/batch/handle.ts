/** Binds the declared operations of the batch service to their handlers. */
import { z } from 'zod';
import type { Alternatives, BatchOperation } from '../../contracts/batch/operation.ts';
import { encoderOf } from '../../contracts/encoder.ts';
import type { Part, Sent, Value } from '../../contracts/operation.ts';
import { isBound } from '../core/access/permission.ts';
import { cachedJson, type JsonReply, json, type Reply, type SmallReply } from '../core/reply.ts';
import { type AnyRoute, type ApiRequest, route } from '../core/router.ts';
import type { SharedAnswers } from './shared-answers.ts';

type DeclaredRequest<Declared> = ApiRequest<
  Part<Declared, 'params'>,
  Part<Declared, 'query'>,
  Part<Declared, 'body'>
>;

type SchemaIn<Declared> = Extract<Declared extends readonly (infer One)[] ? One : Declared, z.ZodType>;

/** Encodes a value by the schema of its status. */
type Answer<Replies> = <Status extends keyof Replies & number>(
  status: Status,
  value: Sent<Value<SchemaIn<Replies[Status]>>>,
) => JsonReply;

type Handler<Declared> = Declared extends { readonly replies: infer Replies }
  ? (request: DeclaredRequest<Declared>, answer: Answer<Replies>) => SmallReply | Promise<Reply>
  : Declared extends { readonly reply: infer Schema extends z.ZodType }
    ? (request: DeclaredRequest<Declared>) => Sent<Value<Schema>> | Promise<Sent<Value<Schema>>>
    : (request: DeclaredRequest<Declared>) => SmallReply | Promise<Reply>;

interface Options {
  /** Answers requests that name a `version` of the service together. */
  readonly shared?: SharedAnswers;
  /** True: a value that is returned without a promise is encoded once, for as long as it exists. @default false */
  readonly keepsReplies?: boolean;
}

/** The handler gives the value of the reply's schema; for `replies`, and content that is not JSON, the reply. */
export function handle<const Declared extends BatchOperation>(
  operation: Declared,
  handler: Handler<Declared>,
  { shared, keepsReplies = false }: Options = {},
): AnyRoute {
  const { unknown = 'route.not-found', ...declared }: BatchOperation = operation;
  const { status, responses } = repliesOf(operation);
  const encoders = new Map(
    Object.entries(responses).flatMap(([code, reply]) => {
      const schema = [reply].flat().find((one) => one instanceof z.ZodType);
      return schema === undefined ? [] : [[Number(code), encoderOf(schema)] as const];
    }),
  );
  const encode = status === undefined ? undefined : encoders.get(status);
  const answer = (code: number, value: unknown) => json(code, encoders.get(code)?.(value));
  const kept = new WeakMap<object, JsonReply>();
  const cachedReply = (value: object): JsonReply => {
    const known = kept.get(value) ?? cachedJson(200, encode?.(value));
    kept.set(value, known);
    return known;
  };
  // The router validates a request by the schemas of its operation.
  const call = handler as (request: unknown, answer: unknown) => unknown;
  return route<unknown, unknown, unknown>({
    auth: 'operator',
    rate: 'none',
    headers: [],
    params: z.object({}),
    query: z.object({}),
    body: z.unknown(),
    ...declared,
    bodyPolicy: declared.bodyPolicy ?? (declared.body === undefined ? 'none' : 'json'),
    invalidInput: { params: unknown, query: 'validation.filter-invalid', body: 'validation.body-invalid' },
    responses,
    handle(request) {
      if (status === undefined || encode === undefined) return call(request, answer) as Promise<Reply>;
      // The answers of callers who see a part of the jobs are theirs alone.
      if (shared !== undefined && !isBound(request.identity)) {
        const { version, ...query } = request.query as { readonly version?: string };
        const name = [declared.path, request.params, query];
        return shared.answer(version, name, async () => encode(await call(request, answer)));
      }
      const value = call(request, answer);
      if (value instanceof Promise) return value.then((found) => json(status, encode(found)));
      return keepsReplies ? cachedReply(value as object) : json(status, encode(value));
    },
  });
}

/** Replies by status; `status`: that of the operation that has one. */
function repliesOf(declared: BatchOperation): {
  readonly status?: number;
  readonly responses: { readonly [status: number]: Alternatives };
} {
  if ('replies' in declared) return { responses: declared.replies };
  const { status = 200, reply } = declared;
  return { status, responses: { [status]: reply } };
}

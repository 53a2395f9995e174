/** Binds the declared operations of the portal to their handlers. */
import { z } from 'zod';
import type { IdempotentRequests, Tenant } from '../../actors/portal/api.ts';
import { encoderOf } from '../../contracts/encoder.ts';
import type { Part, Sent, Value } from '../../contracts/operation.ts';
import { nameOf, type PortalOperation } from '../../contracts/portal/operation.ts';
import { fingerprintOf } from '../core/body/json-body.ts';
import { type EmptyReply, json, type Reply } from '../core/reply.ts';
import type { AnyRoute, CredentialRequest } from '../core/router.ts';
import { IDEMPOTENCY_HEADER, idempotencyKeyOf, withIdempotency } from './idempotency.ts';
import { DONE, type PortalRequest, portalRoute } from './route.ts';

type DeclaredRequest<Declared> = PortalRequest<
  Part<Declared, 'params'>,
  Part<Declared, 'query'>,
  Part<Declared, 'body'>
>;

/**
 * Gives the value of the reply's schema, or nothing where that is optional; nothing for `empty`, or the reply with its headers;
 * the reply itself for other content.
 */
type Handler<Declared extends PortalOperation> = Declared['reply'] extends z.ZodType
  ? Handling<Declared, Sent<Value<Declared['reply']>> | Promise<Sent<Value<Declared['reply']>>>>
  : Declared['reply'] extends 'empty'
    ? Handling<Declared, Promise<EmptyReply | void>>
    : Handling<Declared, Reply | Promise<Reply>>;

type Handling<Declared, Result> = (request: DeclaredRequest<Declared>, seed: string | undefined) => Result;

interface Options<Declared> {
  /** For idempotent operations. */
  readonly requests?: IdempotentRequests;
  /** Checks the credentials in the body before the rest is parsed; see `Route.authorize`. */
  authorize?(request: CredentialRequest<Part<Declared, 'params'>, Tenant>): Promise<void>;
}

/**
 * The route of an operation. `seed`, of ids: repeated requests with one `Idempotency-Key` have the same one; without such
 * a key there is none.
 */
export function handle<const Declared extends PortalOperation>(
  operation: Declared,
  handler: Handler<Declared>,
  { requests, authorize }: Options<Declared> = {},
): AnyRoute {
  const { reply, idempotent, largeBody, headers = [], ...declared }: PortalOperation = operation;
  const encode = typeof reply === 'string' ? undefined : encoderOf(reply);
  const content = reply instanceof z.ZodOptional ? [reply.unwrap() as z.ZodType, 'empty' as const] : reply;
  return portalRoute<unknown, unknown, unknown>({
    ...declared,
    ...(authorize !== undefined && { authorize }),
    ...(largeBody === true && { largeBody: nameOf(operation) }),
    headers: idempotent === true ? [...headers, IDEMPOTENCY_HEADER] : headers,
    responses: { 200: content, ...(headers.includes('range') && { 206: reply }) },
    async handle(received) {
      const request = received as DeclaredRequest<Declared>;
      const answer = async (seed?: string): Promise<unknown> => {
        const value = await handler(request, seed);
        // An answer that is stored is JSON.
        return encode === undefined ? (value ?? null) : encode(value);
      };
      const result =
        requests === undefined ? await answer() : await repeatable(operation, request, requests, answer);
      if (result === null || result === undefined) return DONE;
      return encode === undefined ? (result as Reply) : json(200, result);
    },
  });
}

function repeatable(
  operation: PortalOperation,
  { tenant, params, query, header, fingerprint }: PortalRequest<unknown, unknown, unknown>,
  requests: IdempotentRequests,
  make: (seed?: string) => Promise<unknown>,
): Promise<unknown> {
  const key = idempotencyKeyOf(header(IDEMPOTENCY_HEADER));
  const request = {
    route: nameOf(operation),
    key,
    fingerprint: key === undefined ? '' : fingerprintWith(params, query, fingerprint()),
  };
  return withIdempotency(requests, tenant, request, make);
}

/** That of the body alone without parameters and an empty query. */
function fingerprintWith(params: unknown, query: unknown, ofBody: string): string {
  const ids = Object.values(Object(params)).map((given) => String(given).toLowerCase());
  const isAsked = Object.values(Object(query)).some((value) => value !== undefined);
  const parts = [...ids, ...(isAsked ? [query] : []), ofBody];
  return parts.length === 1 ? ofBody : fingerprintOf(parts);
}

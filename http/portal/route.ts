/**
 * Routes of the portal: those of the table with what most of them have in common left out.
 */
import { z } from 'zod';
import type { Tenant } from '../../actors/portal/api.ts';
import type { PortalRefusalCode } from '../../machines/portal-refusals.ts';
import type { EmptyReply } from '../reply.ts';
import type { AnyRoute, ApiRequest, AuthPolicy, Route } from '../router.ts';
import { requireRole, requireTenant } from './gate.ts';

export interface PortalRequest<Params, Query, Body> extends ApiRequest<Params, Query, Body, Tenant> {
  /** Who sent it. Refusals: `Unauthorized`, `Forbidden`, on routes that need no key and were sent none. */
  readonly tenant: Tenant;
}

type Whole<Params, Query, Body> = Route<Params, Query, Body, Tenant, PortalRefusalCode>;

interface PortalRoute<Params, Query, Body>
  extends Pick<Whole<Params, Query, Body>, 'method' | 'path' | 'summary' | 'responses' | 'refusals'>,
    Partial<
      Pick<
        Whole<Params, Query, Body>,
        'auth' | 'rate' | 'vital' | 'headers' | 'params' | 'query' | 'body' | 'failurePage'
      >
    > {
  /** How the body is read. @default json where there is a schema for it, none otherwise */
  readonly bodyPolicy?: Route['bodyPolicy'];
  /** The code for path parameters that do not fit. @default NotFound */
  readonly unfitParams?: PortalRefusalCode;
  handle(request: PortalRequest<Params, Query, Body>): ReturnType<Whole<Params, Query, Body>['handle']>;
}

/** @param definition `auth` is `application` unless it says otherwise */
export function portalRoute<Params, Query, Body>(definition: PortalRoute<Params, Query, Body>): AnyRoute {
  const { unfitParams = 'NotFound', handle, ...given } = definition;
  const route: Whole<Params, Query, Body> = {
    auth: 'application',
    rate: 'none',
    bodyPolicy: given.body === undefined ? 'none' : 'json',
    headers: [],
    params: z.object({}) as unknown as z.ZodType<Params>,
    query: z.object({}) as unknown as z.ZodType<Query>,
    body: z.unknown() as unknown as z.ZodType<Body>,
    unfit: { params: unfitParams, query: 'BadRequest', body: 'BadRequest' },
    ...given,
    handle: (request) => handle.call(definition, withTenant(request, route.auth)),
  };
  return route as unknown as AnyRoute;
}

function withTenant<Params, Query, Body>(
  request: ApiRequest<Params, Query, Body, Tenant>,
  auth: AuthPolicy,
): PortalRequest<Params, Query, Body> {
  return {
    ...request,
    get tenant() {
      const tenant = requireTenant(request.identity);
      // Elsewhere the gate has seen to it.
      if (auth === 'known-or-ticket') requireRole(tenant, 'application');
      return tenant;
    },
  };
}

/** What an operation without a result is answered. Source: portal-gaps §1 row 11. */
export const DONE: EmptyReply = { kind: 'empty', status: 200 };

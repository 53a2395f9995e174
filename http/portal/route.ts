/** Routes of the portal, with defaults for the common properties. */
import { z } from 'zod';
import type { Tenant } from '../../actors/portal/api.ts';
import type { KeyAccess } from '../../contracts/portal/operation.ts';
import type { PortalRefusalCode } from '../../contracts/portal/refusals.ts';
import type { Caller } from '../core/access/caller.ts';
import type { BodyReader } from '../core/body/body.ts';
import type { EmptyReply } from '../core/reply.ts';
import type { RequestNames } from '../core/request-ids.ts';
import type { AnyRoute, ApiRequest, AuthPolicy, Route } from '../core/router.ts';
import { requireRole, requireTenant } from './access-check.ts';
import { requireScope } from './key-scopes.ts';

export interface PortalRequest<Params, Query, Body> extends ApiRequest<Params, Query, Body, Tenant> {
  /**
   * Identity of the caller. Refusals: `Unauthorized`, `Forbidden`, on routes that admit requests without a key when
   * there is none.
   */
  readonly tenant: Tenant;
}

type Whole<Params, Query, Body> = Route<Params, Query, Body, Tenant, PortalRefusalCode>;

interface Definition<Params, Query, Body>
  extends Pick<
      Whole<Params, Query, Body>,
      'method' | 'path' | 'group' | 'summary' | 'description' | 'responses' | 'refusals'
    >,
    Partial<
      Pick<
        Whole<Params, Query, Body>,
        | 'answerHeaders'
        | 'examples'
        | 'rate'
        | 'exemptFromLoadShedding'
        | 'exemptFromEntryRules'
        | 'headers'
        | 'params'
        | 'query'
        | 'body'
        | 'maxBodyBytes'
        | 'authorize'
        | 'failurePage'
        | 'problems'
      >
    > {
  /** Body policy. @default json where there is a schema for the body, none otherwise */
  readonly bodyPolicy?: Route['bodyPolicy'];
  /**
   * Name of the body's schema in `LARGE_BODIES`: bodies up to 8 MiB are accepted, and a worker thread parses the
   * larger ones.
   */
  readonly largeBody?: string;
  handle(request: PortalRequest<Params, Query, Body>): ReturnType<Whole<Params, Query, Body>['handle']>;
}

/** Policies under which a key of an application can be used. */
type KeyPolicy = Extract<AuthPolicy, 'application' | 'monitor' | 'administrator' | 'known-or-ticket'>;

/** Callers: an operation for keys says what a limited key needs. `auth` is `application` by default. */
type Access = ({ readonly auth?: KeyPolicy } & KeyAccess) | { readonly auth: Exclude<AuthPolicy, KeyPolicy> };

type PortalRoute<Params, Query, Body> = Definition<Params, Query, Body> & Access;

export function portalRoute<Params, Query, Body>(definition: PortalRoute<Params, Query, Body>): AnyRoute {
  const { handle, ...given } = definition;
  const access = 'scope' in definition ? definition : undefined;
  const route: AnyRoute = {
    auth: 'application',
    rate: 'none',
    bodyPolicy: given.body === undefined ? 'none' : 'json',
    headers: [],
    params: z.object({}),
    query: z.object({}),
    body: z.unknown(),
    invalidInput: { params: 'NotFound', query: 'BadRequest', body: 'BadRequest' },
    ...given,
    handle: (request) => {
      if (access !== undefined && route.auth !== 'known-or-ticket')
        requireScope(requireTenant(request.identity), access);
      return handle.call(
        definition,
        new RequestOfTenant(request, route.auth === 'known-or-ticket' ? access : undefined),
      );
    },
  };
  return route;
}

/** A request, with the tenant that its credentials name. */
class RequestOfTenant<Params, Query, Body> implements PortalRequest<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly fingerprint: () => string;
  readonly stream: BodyReader | undefined;
  readonly header: (name: string) => string;
  readonly headOnly: boolean;
  readonly identity: Tenant | undefined;
  readonly caller: Caller;
  readonly names: () => RequestNames;

  constructor(
    request: ApiRequest<Params, Query, Body, Tenant>,
    /** Needs of a key where requests without one are admitted, too. */
    private readonly optionalKey: KeyAccess | undefined,
  ) {
    this.params = request.params;
    this.query = request.query;
    this.body = request.body;
    this.fingerprint = request.fingerprint;
    this.stream = request.stream;
    this.header = request.header;
    this.headOnly = request.headOnly;
    this.identity = request.identity;
    this.caller = request.caller;
    this.names = request.names;
  }

  get tenant(): Tenant {
    const tenant = requireTenant(this.identity);
    // Elsewhere the access check guarantees an identity.
    if (this.optionalKey !== undefined) {
      requireRole(tenant, 'application');
      requireScope(tenant, this.optionalKey);
    }
    return tenant;
  }
}

/** Reply of operations without a result. Source: docs/portal-values.md §1 row 11. */
export const DONE: EmptyReply = { kind: 'empty', status: 200 };

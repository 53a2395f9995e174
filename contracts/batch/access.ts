/**
 * Decides what each scope of a key and each role of a person may do: here, and nowhere else. A route without a decision
 * stops the start.
 *
 * Source: docs/decisions/0277-scopes-and-roles-of-operators.md.
 */

/** `read` changes nothing; `submit` makes jobs; `operate` acts on them; `administer` gives access, and ends nodes. No scope includes another. */
export const ACCESS_SCOPES = ['read', 'submit', 'operate', 'administer'] as const;
export type AccessScope = (typeof ACCESS_SCOPES)[number];

/** Roles of people on the operator pages, with their scopes. */
export const ROLE_SCOPES = {
  viewer: ['read'],
  operator: ['read', 'submit', 'operate'],
  administrator: ACCESS_SCOPES,
} as const satisfies { readonly [role: string]: readonly AccessScope[] };
export type OperatorRole = keyof typeof ROLE_SCOPES;
export const OPERATOR_ROLES = Object.keys(ROLE_SCOPES) as [OperatorRole, ...OperatorRole[]];

/**
 * What an operation needs. `reach`: the part of the service that it concerns. Keys that are bound to profiles and folders
 * may call operations of jobs and folders, which apply the bounds, and none that concern the whole service.
 */
export interface Access {
  /** `any`: every known caller. */
  readonly scope: AccessScope | 'any';
  readonly reach: 'caller' | 'jobs' | 'folders' | 'service';
}

const ANY: Access = { scope: 'any', reach: 'caller' };
const READ: Access = { scope: 'read', reach: 'service' };
const READ_JOBS: Access = { scope: 'read', reach: 'jobs' };
const SUBMIT: Access = { scope: 'submit', reach: 'jobs' };
const OPERATE: Access = { scope: 'operate', reach: 'service' };
const OPERATE_JOBS: Access = { scope: 'operate', reach: 'jobs' };
const ADMINISTER: Access = { scope: 'administer', reach: 'service' };

/** Every operation that is not anonymous. Pages and their parts are in `accessOf`: they hold no data of the service. */
const OPERATIONS = {
  'POST /api/files': SUBMIT,
  'POST /api/validate': { scope: 'read', reach: 'caller' },
  'GET /api/jobs': READ_JOBS,
  'GET /api/jobs/{id}': READ_JOBS,
  'GET /api/jobs/{id}/output': READ_JOBS,
  'POST /api/jobs/{id}/cancel': OPERATE_JOBS,
  'POST /api/jobs/{id}/retry': OPERATE_JOBS,
  'POST /api/jobs/retry': OPERATE,
  'POST /api/jobs/cancel': OPERATE,
  'DELETE /api/jobs': OPERATE,
  'POST /api/operations': OPERATE,
  'GET /api/operations': READ,
  'GET /api/operations/{id}': READ,
  'POST /api/operations/{id}/cancel': OPERATE,
  'GET /api/pipeline/state': READ,
  'POST /api/pipeline/pause': OPERATE,
  'POST /api/pipeline/resume': OPERATE,
  'GET /api/folders': READ,
  'POST /api/rescan': { scope: 'operate', reach: 'folders' },
  'POST /api/cleanup': OPERATE,
  'GET /api/events': READ,
  'GET /api/profiles': READ,
  'GET /api/statistics': READ,
  'GET /api/statistics/series': READ,
  'GET /api/failures': READ,
  'GET /api/metrics': READ,
  'GET /api/whoami': ANY,
  'GET /api/actors': READ,
  'GET /api/actor-kinds/{kind}': READ,
  'GET /api/actors/{kind}/{id}': READ,
  'POST /api/actors/{kind}/{id}/restart': OPERATE,
  'GET /api/changes': READ,
  'GET /api/runtime': READ,
  'POST /api/runtime/nodes/{id}/drain': ADMINISTER,
  'GET /api/portal/activity': READ,
  'GET /api/portal/keys': READ,
  'GET /api/mails': READ,
  'GET /api/mails/{id}': READ,
  // Their links sign for the addressee.
  'GET /api/mails/{id}/text': ADMINISTER,
  'GET /api/mails/{id}/html': ADMINISTER,
  'POST /api/mails/{id}/resend': OPERATE,
  'POST /api/mails/resend': OPERATE,
  'GET /api/webhooks/deliveries': READ,
  'POST /api/webhooks/deliveries/{id}/resend': OPERATE,
  'POST /api/webhooks/replay': OPERATE,
  'GET /api/webhooks/portal': READ,
  'GET /api/webhooks/portal/{organizationId}/deliveries': READ,
  'POST /api/webhooks/portal/{organizationId}/deliveries/{id}/resend': OPERATE,
  'GET /api/keys': ADMINISTER,
  'POST /api/keys': ADMINISTER,
  'POST /api/keys/{name}/rotate': ADMINISTER,
  'POST /api/keys/{name}/revoke': ADMINISTER,
} as const satisfies { readonly [operation: string]: Access };
export type OperationName = keyof typeof OPERATIONS;

/** True when these scopes permit an operation. @param scopes absent: all */
export function hasScope(
  scopes: readonly AccessScope[] | undefined,
  { scope }: Pick<Access, 'scope'>,
): boolean {
  return scope === 'any' || scopes === undefined || scopes.includes(scope);
}

/** The same decision, for what a page offers to a person, whose reach is the whole service. */
export function mayCall(scopes: readonly AccessScope[] | undefined, operation: OperationName): boolean {
  return hasScope(scopes, OPERATIONS[operation]);
}

/** Operations that these scopes do not permit. */
export function refusedTo(scopes: readonly AccessScope[] | undefined): readonly OperationName[] {
  return (Object.keys(OPERATIONS) as OperationName[]).filter((name) => !mayCall(scopes, name));
}

export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}

/** The decision about an operation; undefined: there is none. */
export function accessOf({
  method,
  path,
  group,
}: {
  method: string;
  path: string;
  group: string;
}): Access | undefined {
  const isFrame = method === 'GET' && (group === 'Pages' || group === 'Description');
  const name = `${method} ${path}`;
  if (isOperation(name)) return OPERATIONS[name];
  return isFrame ? ANY : undefined;
}

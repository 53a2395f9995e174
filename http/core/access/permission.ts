/** Compares what a caller may do with what an operation needs, which `contracts/batch/access.ts` decides. */
import { type Access, hasScope } from '../../../contracts/batch/access.ts';
import { Refusal } from '../../../machines/refusals.ts';
import type { Identity } from './auth.ts';

/** True for callers who reach the jobs of some profiles or folders only. */
export function isBound(rights: Pick<Identity, 'profiles' | 'folders'> | undefined): boolean {
  return rights?.profiles !== undefined || rights?.folders !== undefined;
}

type Rights = Pick<Identity, 'scopes' | 'profiles' | 'folders'>;

/** The right that is missing, as the end of a sentence; undefined: none. */
function missing(rights: Rights, { scope, reach }: Access): string | undefined {
  if (!hasScope(rights.scopes, { scope })) return `lack the scope ${scope}`;
  if (isBound(rights) && reach === 'service')
    return 'are bound to profiles or folders, and this request concerns the whole service';
  return undefined;
}

export function mayDo(rights: Rights, access: Access): boolean {
  return missing(rights, access) === undefined;
}

/** Refusals: `auth.forbidden`. */
export function requireAccess(rights: Rights, access: Access): void {
  const lack = missing(rights, access);
  if (lack !== undefined) throw forbidden(`The credentials ${lack}.`);
}

export function forbidden(message: string): Refusal {
  return new Refusal('auth.forbidden', message);
}

/** Refusals: `auth.forbidden` for rights that would exceed those of the giver. */
export function requireGivable(
  { scopes, expiresAt }: Pick<Identity, 'scopes' | 'expiresAt'>,
  given: { readonly scopes: readonly string[]; readonly expiresAt?: number | null | undefined },
): void {
  const held: readonly string[] | undefined = scopes;
  const excess = held && given.scopes.find((scope) => !held.includes(scope));
  if (excess !== undefined)
    throw forbidden(`The credentials lack the scope ${excess}, so they cannot give it.`);
  if (expiresAt !== undefined && (given.expiresAt ?? Number.POSITIVE_INFINITY) > expiresAt)
    throw forbidden('The key or token expires, so it cannot make or rotate a key that lives longer.');
}

type Bounds = Pick<Identity, 'profiles' | 'folders'>;

/**
 * The wanted profile or folder within the bounds of the caller: the only one where none is named.
 * Refusals: `auth.forbidden`.
 */
function within(
  bound: readonly string[] | undefined,
  wanted: string | undefined,
  what: string,
): string | undefined {
  if (bound === undefined) return wanted;
  const name = wanted?.trim().toLowerCase() ?? '';
  if (name === '' && bound.length === 1) return bound[0];
  if (bound.includes(name)) return name;
  throw forbidden(`The credentials are bound: name one ${what} of ${bound.join(', ')}.`);
}

/** Adds the bounds of the caller to a filter of jobs. Refusals: `auth.forbidden`. */
export function boundFilter<
  Filter extends { readonly profile?: string | undefined; readonly folder?: string | undefined },
>(bounds: Bounds | undefined, filter: Filter): Filter {
  if (bounds === undefined || !isBound(bounds)) return filter;
  const profile = within(bounds.profiles, filter.profile, 'profile');
  const folder = within(bounds.folders, filter.folder, 'folder');
  return { ...filter, ...(profile && { profile }), ...(folder && { folder }) };
}

/** Profile of an upload, which belongs to no folder. Refusals: `auth.forbidden`. */
export function boundProfile(bounds: Bounds | undefined, wanted: string | undefined): string | undefined {
  if (bounds?.folders !== undefined)
    throw forbidden('The credentials are bound to folders, and an upload belongs to none.');
  return within(bounds?.profiles, wanted, 'profile');
}

export function boundFolder(bounds: Bounds | undefined, wanted: string | undefined): string | undefined {
  if (bounds?.profiles !== undefined && bounds.folders === undefined)
    throw forbidden('The credentials are bound to profiles, and a rescan concerns folders.');
  return within(bounds?.folders, wanted, 'folder');
}

/** Other jobs do not exist for the caller. Refusals: `job.not-found`. */
export function requireJobWithin(
  bounds: Bounds | undefined,
  job: { readonly id: string; readonly profileName: string; readonly folder: string | null },
): void {
  const isIn = (bound: readonly string[] | undefined, name: string | null) =>
    bound === undefined || bound.includes(name?.toLowerCase() ?? '');
  if (!isIn(bounds?.profiles, job.profileName) || !isIn(bounds?.folders, job.folder))
    throw new Refusal('job.not-found', `No job has the id ${job.id}.`);
}

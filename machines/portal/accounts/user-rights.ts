/**
 * Decides what the roles of users may do: in the API by scopes, on the pages by the kind of request.
 *
 * Source: docs/decisions/0277-scopes-and-roles-of-operators.md.
 */
import type { KeyScope } from '../../../contracts/portal/operation.ts';
import type { UserRole } from './portal-user.ts';

/** Scopes of a session. An auditor is what a key with `Read` is. */
export const USER_SCOPES: { readonly [role in UserRole]: readonly KeyScope[] } = {
  administrator: ['Read', 'Create', 'Administer'],
  sender: ['Read', 'Create'],
  auditor: ['Read'],
};

/** Form of administrators that removes the factors of a participant. */
const FACTOR_RESET = '/account/documents/{id}/participants/{action}/factor-reset';

/** Forms about the user alone. */
const OWN_FORMS = new Set([
  '/sign-out',
  '/account/sessions',
  '/account/second-factor',
  '/account/second-factor/removal',
  '/account/second-factor/recovery-codes',
  '/account/second-factor/passkeys',
  '/account/second-factor/passkeys/name',
  '/account/second-factor/passkeys/removal',
]);

/** True when a user may load a page, or send a form of it. Auditors see the pages of administrators, and send no form. */
export function mayUsePage(role: UserRole, policy: string, method: string, path: string): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  if (role === 'auditor') return isRead || OWN_FORMS.has(path);
  return policy === 'user' || role === 'administrator';
}

/** Administrators alone may send the forms whose paths begin so. */
const OF_ADMINISTRATORS = ['/organization', FACTOR_RESET];

/** True when a user may send a form to a path: the decision of its route, for the page that has the form. */
export function maySend(role: UserRole, path: string): boolean {
  const isOfAdministrators = OF_ADMINISTRATORS.some((prefix) => path.startsWith(prefix));
  return mayUsePage(role, isOfAdministrators ? 'user-administrator' : 'user', 'POST', path);
}

/** Forms and operations below these paths change keys, users, identity, or whom participants are led to, or erase people at once. */
const CHANGES_OF_IDENTITY = [
  '/organization/applications',
  '/organization/signing-providers',
  '/organization/users',
  '/organization/retention/erasures',
  '/organization/second-factor',
  '/account/second-factor',
  '/api/organizations/users',
  '/api/erasures',
  '/api/organizations/{id}/signing-providers',
  '/api/documents/authenticator-app-reset',
  FACTOR_RESET,
];
/** Those below them that do not, or that ask for a code themselves. */
const WITHOUT_PROOF = new Set([
  // It takes something away only, and must not wait.
  '/organization/users/{userId}/sessions',
  '/account/second-factor/removal',
  '/account/second-factor/recovery-codes',
  '/account/second-factor/passkeys/name',
  '/organization/signing-providers/{providerId}/test',
  '/api/organizations/{id}/signing-providers/{providerId}/test',
]);

/** True when a request with a session needs a proof of the person that is not old. @param path with `{name}` of parameters */
export function needsProof(method: string, path: string): boolean {
  if (method === 'GET' || method === 'HEAD' || WITHOUT_PROOF.has(path)) return false;
  return CHANGES_OF_IDENTITY.some((one) => path === one || path.startsWith(`${one}/`));
}

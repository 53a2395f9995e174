/** Callers of the portal by access tokens of OAuth 2.0 issuers: programs of an organization without a key. */
import { hash } from 'node:crypto';
import type { Clock, Log } from '@sealwright/runtime';
import type { Tenant, Tenants } from '../../actors/portal/api.ts';
import { KEY_SCOPES } from '../../contracts/portal/operation.ts';
import type { ApplicationId } from '../../machines/ids.ts';
import { createTokenCheck, rightsOf, type TokenRule } from '../core/access/access-tokens.ts';

/** Resolves with the tenant of a token; undefined for an invalid one, and for an organization that does not exist. */
export type TokenTenants = (token: string) => Promise<Tenant | undefined>;

export function createTokenTenants(
  rules: readonly TokenRule[],
  tenants: Pick<Tenants, 'organization'>,
  parts: { readonly clock: Pick<Clock, 'now' | 'elapsed' | 'after'>; readonly log: Log },
): TokenTenants | undefined {
  const own = rules.filter(({ organization }) => organization !== undefined);
  if (own.length === 0) return undefined;
  const verify = createTokenCheck(own, parts);
  return async (text) => {
    const token = await verify(text);
    const organization = token && (await tenants.organization(token.rule.organization ?? ''));
    if (token === undefined || organization === undefined) return undefined;
    const { issuer, clientId } = token;
    return {
      organization,
      application: { id: clientUuid(issuer, clientId), name: clientId, role: 'Normal' },
      scopes: rightsOf(token, KEY_SCOPES),
      keyExpiresAt: token.expiresAt,
      tokenRights: token.rule.rights,
    };
  };
}

/** Id of a client in histories and of its uploads: UUID version 8, custom bits (RFC 9562 §5.8). */
function clientUuid(issuer: string, clientId: string): ApplicationId {
  const digest = hash('sha256', `${issuer}\0${clientId}`);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}` as ApplicationId;
}

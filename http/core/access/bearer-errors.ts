/** Tells the client of a bearer token why it is refused. Source: RFC 6750 §3. */
import type { TokenRule } from './access-tokens.ts';

/** Texts that need no escape in the header, and so are scopes (RFC 6749 §3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

/** Gives a refusal the parameters of its `WWW-Authenticate`. @param scopes of which one is missing */
export function withBearerError<Refused extends Error>(
  refusal: Refused,
  error: 'invalid_token' | 'insufficient_scope',
  scopes: readonly string[] = [],
): Refused {
  const named = scopes.filter((scope) => SCOPE.test(scope));
  const scope = named.length === 0 ? '' : `, scope="${named.join(' ')}"`;
  return Object.assign(refusal, { bearer: `error="${error}"${scope}` });
}

/** Undefined for a refusal that concerns no bearer token. */
export function bearerErrorOf(thrown: unknown): string | undefined {
  return (Object(thrown) as { readonly bearer?: string }).bearer;
}

/** The header: the schemes of the service with the error, of a bearer token, in its place. */
export function challengeWith(schemes: string, bearer: string | undefined): string {
  if (bearer === undefined) return schemes;
  return `${schemes}${schemes.endsWith('Bearer') ? ' ' : ', '}${bearer}`;
}

/** Scopes of an issuer that give a right. */
export function scopesGiving(rights: TokenRule['rights'], right: string): readonly string[] {
  return rights.filter((one) => one.right.toLowerCase() === right.toLowerCase()).map(({ scope }) => scope);
}

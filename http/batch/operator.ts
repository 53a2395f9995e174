import { type Identity, OPERATOR } from '../core/access/auth.ts';

/** Name of the caller for events, histories and the log. */
export function operatorOf(identity: Identity | undefined): string {
  return identity?.operator ?? OPERATOR;
}

/** The name of named keys and people. Holders of the configured key, whose texts are documented, have none. */
export function namedOperator(identity: Identity | undefined): string | undefined {
  return identity?.scopes === undefined ? undefined : identity.operator;
}

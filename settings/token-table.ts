/** `Identity:Tokens`: access tokens of OAuth 2.0 issuers. Source: RFC 9068; docs/decisions/0277-scopes-and-roles-of-operators.md. */
import { z } from 'zod';
import type { Fault } from './findings.ts';
import { issuer } from './identity-table.ts';
import { key, optional, records, required, type Shape } from './keys.ts';
import { choice, pattern, text } from './kinds.ts';

const MAX_TOKENS = 50;
const BATCH_RIGHTS = ['Read', 'Submit', 'Operate', 'Administer'] as const;
const PORTAL_RIGHTS = ['Read', 'Create', 'Sign', 'Administer'] as const;
const scope = pattern('scope', 'must be the name of a scope', z.string().regex(/^[!#-[\]-~]{1,200}$/));

/** Members of one entry of `Identity:Tokens:#:Rights`. */
export const TOKEN_RIGHT_KEYS = {
  Scope: required(scope, 'read', { says: 'A scope in the token, exactly as the issuer writes it.' }),
  Right: required(choice([...new Set([...BATCH_RIGHTS, ...PORTAL_RIGHTS])]), 'Read', {
    says: 'Right that it gives, as a scope of a key: one of applications in an organization; `Read`, `Submit`, `Operate` or `Administer` in the batch service.',
  }),
} as const;

/** Members of one entry of `Identity:Tokens`. */
export const TOKEN_KEYS = {
  Issuer: required(issuer, 'https://localhost', {
    says: 'Issuer of the tokens (`iss`), whose metadata names its keys. Tokens have the type `at+jwt`.',
  }),
  Audience: required(text('name'), 'sealwright', { says: 'Audience that a token must name (`aud`).' }),
  Organization: optional(text('name of an organization'), {
    says: 'Organization of the portal for which the tokens count. Absent: they count for the batch service.',
  }),
  Rights: key(records(TOKEN_RIGHT_KEYS), [], {
    says: 'Rights by scope. A token without one of them is refused with 403.',
  }),
} as const;

export const TOKENS_KEYS = {
  'Identity:Tokens': key(records(TOKEN_KEYS), [], {
    says: `Issuers whose access tokens programs may send as \`Authorization: Bearer\`, at most ${MAX_TOKENS}.`,
  }),
} as const;

export type TokenSettings = Shape<typeof TOKEN_KEYS>;

export function checkTokens(tokens: readonly TokenSettings[], faults: Fault[]): void {
  if (tokens.length > MAX_TOKENS)
    faults.push({ key: 'Identity:Tokens', rule: `must have at most ${MAX_TOKENS} entries` });
  for (const [index, { issuer, audience, organization, rights }] of tokens.entries()) {
    const prefix = `Identity:Tokens:${index}`;
    const twin = tokens.findIndex(
      (one) =>
        one.issuer === issuer &&
        one.audience === audience &&
        (one.organization === undefined) === (organization === undefined),
    );
    if (twin < index)
      faults.push({
        key: `${prefix}:Audience`,
        rule: `is also that of Identity:Tokens:${twin}, for the same issuer`,
      });
    if (rights.length === 0) faults.push({ key: `${prefix}:Rights`, rule: 'must have an entry' });
    const allowed: readonly string[] = organization === undefined ? BATCH_RIGHTS : PORTAL_RIGHTS;
    for (const [at, { right }] of rights.entries())
      if (!allowed.includes(right))
        faults.push({ key: `${prefix}:Rights:${at}:Right`, rule: `must be one of ${allowed.join(', ')}` });
  }
}

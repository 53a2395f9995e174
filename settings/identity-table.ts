/** `Identity:*`: sign-in of users and operators at identity providers. Source: docs/identity.md. */
import { z } from 'zod';
import type { Fault, Warning } from './findings.ts';
import { key, optional, records, required, type Shape } from './keys.ts';
import {
  choice,
  flag,
  isThisMachine,
  list,
  parsedBy,
  path,
  pattern,
  scalar,
  secretText,
  text,
  whole,
} from './kinds.ts';
import { name as organizationName } from './portal-table.ts';

export const providerName = pattern(
  'name',
  'must be 1 to 40 lower-case letters, digits and inner hyphens',
  z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/),
);
const domain = pattern(
  'domain',
  'must be the domain of e-mail addresses, as example.com',
  z
    .string()
    .toLowerCase()
    .regex(/^(?!-)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}$/),
);
const scope = pattern('scope', 'must be the name of a scope', z.string().regex(/^[!#-[\]-~]{1,100}$/));
/** As configured: the provider's own name of itself must be equal, also in a slash at its end. */
export const issuer = scalar<string>({
  type: 'URL',
  rule: 'must be an https URL without user, query and fragment; http is accepted for this machine only',
  schema: parsedBy((given) => {
    if (!URL.canParse(given) || /[?#\s]/.test(given)) return undefined;
    const { protocol, hostname, username, password } = new URL(given);
    if (username !== '' || password !== '') return undefined;
    const isAllowed = protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname));
    return isAllowed ? given : undefined;
  }),
});

const USER_ROLES = ['Administrator', 'Sender', 'Auditor'] as const;
const OPERATOR_ROLES = ['Viewer', 'Operator', 'Administrator'] as const;

/** Members of one entry of `Identity:Providers:#:Roles`. */
export const PROVIDER_ROLE_KEYS = {
  Group: required(text('name of a group'), '*', {
    says: 'A group of the provider, exactly as the claim names it; `*`: everybody whom the provider signs in.',
  }),
  Role: required(choice([...new Set([...USER_ROLES, ...OPERATOR_ROLES])]), 'Viewer', {
    says: 'Role that it gives: `Administrator`, `Sender` or `Auditor` in an organization; `Viewer`, `Operator` or `Administrator` for operators. Of several, the one with the most rights counts.',
  }),
} as const;

/** Members of one entry of `Identity:Providers`. */
export const PROVIDER_KEYS = {
  Name: required(providerName, 'unnamed', {
    says: 'Name in the addresses `/sign-in/<Name>` and `/login/<Name>`, and on the buttons.',
  }),
  Kind: key(choice(['Oidc', 'Saml']), 'Oidc', {
    says: 'Protocol: OpenID Connect, or SAML 2.0.',
  }),
  Organization: optional(organizationName, {
    says: 'Organization whose users sign in there. Either this or `Operators`.',
  }),
  Operators: key(flag(), false, { says: 'Operators of the batch service sign in there.' }),
  Domains: key(list(domain), [], {
    says: 'Domains of its e-mail addresses: the sign-in page leads them there, and others are refused. Empty: the sign-in page has a button.',
  }),
  Roles: key(records(PROVIDER_ROLE_KEYS), [], {
    says: 'Roles by group, applied at each sign-in. Empty: the organization’s administrators give roles.',
  }),
  CreateUsers: key(flag(), false, {
    says: 'Make a user of the organization at the first sign-in. Needs `Roles`.',
  }),
  Issuer: optional(issuer, {
    says: '`Oidc`: address of the provider; `/.well-known/openid-configuration` is below it.',
  }),
  ClientId: optional(text('client id'), { says: '`Oidc`: client id that the provider has issued.' }),
  ClientSecret: optional(secretText(), { says: '`Oidc`: client secret that the provider has issued.' }),
  MetadataFile: optional(path(), {
    says: '`Saml`: metadata of the provider. Read at each sign-in, so that it can be replaced.',
  }),
  EntityId: optional(text('entity id'), {
    says: '`Saml`: name of this service at the provider, and audience of its answers.',
  }),
  AllowUnsolicited: key(flag(), false, {
    says: '`Saml`: take answers that begin at the provider. Others can then sign people in as somebody else.',
  }),
  Scopes: key(list(scope), ['openid', 'profile', 'email'], { says: '`Oidc`: scopes of the request.' }),
  GroupsClaim: key(text('name of a claim'), 'groups', {
    says: 'Claim with the groups, in the ID token or the user information; with `Saml` the attribute.',
  }),
} as const;

export const IDENTITY_KEYS = {
  'Identity:Providers': key(records(PROVIDER_KEYS), [], { says: 'Identity providers.' }),
  'Identity:LocalSignIn': key(flag(), true, {
    says: 'Mail links to users of organizations that have a provider. `keys sign-in` makes one in either case.',
  }),
  'Identity:SessionMinutes': key(whole(5, 43_200), 720, {
    unit: 'minutes',
    says: 'Length of a session that began at a provider; then groups and roles are read anew.',
  }),
} as const;

export type ProviderSettings = Shape<typeof PROVIDER_KEYS>;

const NEEDED = {
  Oidc: ['issuer', 'clientId', 'clientSecret'],
  Saml: ['metadataFile', 'entityId'],
} as const;

interface IdentitySettings {
  readonly identity: { readonly providers: readonly ProviderSettings[]; readonly localSignIn: boolean };
}

export function checkIdentity({ identity }: IdentitySettings, faults: Fault[], warnings: Warning[]): void {
  const { providers, localSignIn } = identity;
  for (const [index, provider] of providers.entries()) {
    const prefix = `Identity:Providers:${index}`;
    const fault = (member: string, rule: string) => faults.push({ key: `${prefix}:${member}`, rule });
    const { name, organization, operators, domains, roles, createUsers, scopes } = provider;
    const before = providers.slice(0, index);
    if (name === 'link') fault('Name', 'must not be link, which is the page of mailed links');
    const twin = before.findIndex((one) => one.name === name);
    if (twin >= 0) fault('Name', `is also the name of Identity:Providers:${twin}; names must be unique`);
    if ((organization !== undefined) === operators)
      fault('Organization', 'is required, or Operators=true; one of the two');
    const allowed: readonly string[] = operators ? OPERATOR_ROLES : USER_ROLES;
    for (const [at, { role }] of roles.entries())
      if (!allowed.includes(role)) fault(`Roles:${at}:Role`, `must be one of ${allowed.join(', ')}`);
    if (operators && roles.length === 0)
      fault('Roles', 'is required with Operators: otherwise nobody has a role');
    if (createUsers && roles.length === 0)
      fault('CreateUsers', 'is true, which needs Roles: a new user would have no role');
    if (createUsers && operators) fault('CreateUsers', 'is for organizations; operators need no records');
    for (const member of NEEDED[provider.kind])
      if (provider[member] === undefined)
        fault(member[0]?.toUpperCase() + member.slice(1), `is required with Kind=${provider.kind}`);
    // It does not say that an address is verified, so it speaks for its domains.
    if (provider.kind === 'Saml' && !operators && domains.length === 0)
      fault('Domains', 'is required with Kind=Saml and an Organization');
    if (!scopes.includes('openid')) fault('Scopes', 'must hold openid');
    for (const one of domains) {
      const other = before.findIndex((earlier) => !earlier.operators && earlier.domains.includes(one));
      if (!operators && other >= 0) fault('Domains', `has ${one}, as has Identity:Providers:${other}`);
    }
    if (domains.length === 0 && (createUsers || operators) && roles.some(({ group }) => group === '*'))
      warnings.push({
        key: `${prefix}:Domains`,
        text: 'is empty, and a role is for everybody: whoever has an account at the provider gets in',
      });
  }
  if (!localSignIn && providers.every(({ operators }) => operators))
    warnings.push({
      key: 'Identity:LocalSignIn',
      text: 'is false, which closes mailed links of organizations with a provider; there is none',
    });
}

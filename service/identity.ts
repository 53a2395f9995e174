/** Maps `Identity:*` to the identity providers of both services. Source: docs/identity.md. */
import type { Clock, Ids, Log, StoreNodes } from '@sealwright/runtime';
import type { Batch, HealthCheck } from '../actors/index.ts';
import { SignOn, type SignOnProvider, type UserProviders } from '../http/index.ts';
import type { ProviderSettings, Settings } from '../settings.ts';
import type { KeyFolder } from './key-folder.ts';

export interface IdentitySetup {
  readonly users: UserProviders;
  readonly operators: SignOn;
  /** Degraded while nobody can sign in at a provider: who is signed in works on. */
  checks(): readonly HealthCheck[];
}

/** Undefined without providers. @throws {Fatal} `keys.unusable` */
export async function setUpIdentity(
  { identity, auth }: Pick<Settings, 'identity' | 'auth'>,
  keys: KeyFolder,
  parts: {
    readonly clock: Clock;
    readonly ids: Ids;
    readonly log: Log;
    readonly nodes: StoreNodes | undefined;
    readonly publicUrl: () => string;
    readonly used: Batch['access']['used'];
  },
): Promise<IdentitySetup | undefined> {
  if (identity.providers.length === 0) return undefined;
  const { value } = await keys.loadOrCreate('identity-secret', () =>
    parts.ids.bytes(32).toString('base64url'),
  );
  const secret = Buffer.from(value, 'base64url');
  const ofUsers = identity.providers.flatMap((provider) => userProvider(provider) ?? []);
  const users = new SignOn(
    { path: '/sign-in', cookies: 'sealwright-user', providers: ofUsers },
    secret,
    parts,
  );
  const ofOperators = identity.providers.filter(({ operators }) => operators).map(withProtocol);
  const operators = new SignOn(
    { path: '/login', cookies: auth.cookieName, providers: ofOperators },
    secret,
    parts,
  );
  users.warmUp();
  operators.warmUp();
  return {
    users: { signOn: users, publicUrl: parts.publicUrl, localSignIn: identity.localSignIn },
    operators,
    checks: () =>
      [...users.troubles(), ...operators.troubles()].map(({ name, trouble }) => ({
        name: `identity:${name}`,
        detail: trouble ?? null,
        status: trouble === undefined ? 'Healthy' : 'Degraded',
      })),
  };
}

function userProvider({ organization, ...provider }: ProviderSettings) {
  return organization === undefined ? undefined : { ...withProtocol(provider), organization };
}

/** The members of a kind are present: the settings are checked. */
function withProtocol<Given extends Omit<ProviderSettings, 'organization'>>(given: Given) {
  const { name, kind, groupsClaim, metadataFile = '', entityId = '', allowUnsolicited } = given;
  const { issuer = '', clientId = '', clientSecret = '', scopes } = given;
  const protocol: SignOnProvider['protocol'] =
    kind === 'Saml'
      ? { kind, name, groupsClaim, metadataFile, entityId, allowUnsolicited }
      : { kind, name, groupsClaim, issuer, clientId, clientSecret, scopes };
  return { ...given, protocol };
}

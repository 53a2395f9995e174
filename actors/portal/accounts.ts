/** Parts of the portal for organizations, their users and how these sign in. */

import { Administration } from './accounts/administration.ts';
import { OperatorKeyList } from './accounts/operator-keys.ts';
import { PasskeyCeremonies } from './accounts/passkeys.ts';
import { ProviderSignIn } from './accounts/provider-sign-in.ts';
import { SecondFactors } from './accounts/second-factors.ts';
import { UserSignIn } from './accounts/sign-in.ts';
import { TenantDirectory } from './accounts/tenants.ts';
import { UserSessions } from './accounts/user-sessions.ts';
import { UserDirectory } from './accounts/users.ts';
import { FolderGrants } from './folders/folder-grants.ts';
import { FolderRightsDirectory } from './folders/folder-rights.ts';
import { Activity } from './reports/activity.ts';
import { Provisioning } from './scim/provisioning.ts';
import { bootstrapTenants } from './tenants-bootstrap.ts';
import { OperatorDeliveries } from './webhooks/operator-deliveries.ts';
import type { PortalCommon } from './wiring-common.ts';

export function createAccounts({
  options,
  runtime,
  lists,
  links,
  secrets,
  publicUrl,
  outgoing,
}: PortalCommon) {
  const { store, clock } = runtime;
  const { identity = { sessionMinutes: 720, closed: [] } } = options;
  const sessionLifetime = options.userSessionHours * 3_600_000;
  const { trust } = options;
  const canQualify = trust?.lists !== undefined && trust.revocation !== 'none';
  const administration = new Administration(runtime, lists, canQualify);
  const users = new UserDirectory(runtime, lists);
  const folderRights = new FolderRightsDirectory(runtime);
  const passkeys = new PasskeyCeremonies(clock, secrets, publicUrl);
  const signIn = new UserSignIn(runtime, links, sessionLifetime, folderRights);
  const operatorWebhooks = new OperatorDeliveries(store, outgoing.webhooks, administration);
  return {
    tenants: new TenantDirectory(runtime),
    administration,
    users,
    folderRights,
    folderGrants: new FolderGrants(runtime, users),
    passkeys,
    signIn,
    providerSignIn: new ProviderSignIn(runtime, {
      administration,
      users,
      signIn,
      links,
      sessionLifetime: identity.sessionMinutes * 60_000,
    }),
    secondFactors: new SecondFactors({ runtime, box: secrets, passkeys, links, sessionLifetime }),
    userSessions: new UserSessions(runtime),
    provisioning: new Provisioning(runtime),
    operatorKeys: new OperatorKeyList(administration),
    operatorWebhooks,
    activity: new Activity(store, clock, () => operatorWebhooks.organizationIds()),

    /** Brings in what the settings name, at each start. */
    async configure(): Promise<void> {
      await bootstrapTenants(administration, options.tenants, outgoing.registry);
      const closed = await Promise.all(identity.closed.map((name) => administration.findOrganization(name)));
      signIn.closeFor(closed.flatMap((found) => (found === undefined ? [] : [found.id])));
    },

    /**
     * A link by which the first administrator of an organization signs in, for the terminal of a start; makes the user if
     * nobody administers it. Undefined for an unknown organization.
     */
    async firstAdministratorLink(organization: string): Promise<string | undefined> {
      const found = await administration.findOrganization(organization);
      if (found === undefined) return undefined;
      const user = await users.firstAdministrator(found.id);
      return signIn.linkFor(user.id);
    },
  };
}

export type Accounts = ReturnType<typeof createAccounts>;

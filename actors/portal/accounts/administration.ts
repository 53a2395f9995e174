/**
 * Makes and lists organizations, applications and their secrets, for `sealwright keys`, the administration API and the
 * pages. `by`: who asked for it, for the journal.
 *
 * Source: docs/portal-values.md §0, §20.
 */
import {
  type ActorStore,
  accepted,
  type Clock,
  createRuntime,
  type EventOf,
  type Ids,
  type Log,
  type Refused,
  type RefusedAnswer,
  type Step,
} from '@sealwright/runtime';
import { isBlank, visibleText } from '../../../contracts/plain-text.ts';
import type { Principal } from '../../../contracts/portal/entities.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import {
  type ApplicationRole,
  type KeyLimits,
  MAX_TENANT_NAME,
} from '../../../contracts/portal/organizations.ts';
import {
  type ApplicationId,
  type Millis,
  type OrganizationId,
  parsePortalId,
  type UserId,
} from '../../../machines/ids.ts';
import {
  type ApplicationSecret,
  foldedName,
  NO_SETTINGS,
  type OrganizationContext,
  type OrganizationSettings,
  SYSTEM_ORGANIZATION,
} from '../../../machines/portal/accounts/organization.ts';
import { badMember, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { type ListOfRows, RowLists } from '../../shared/lists/row-lists.ts';
import { portalKeys } from '../../shared/secrets/secret-box.ts';
import { callerName, principalOf, type Tenant } from '../api/callers.ts';
import { isMailbox } from '../mails/mail-port.ts';
import { SigningLinks } from '../mails/signing-links.ts';
import { Tickets } from '../shared/tickets.ts';
import { ORGANIZATION, ORGANIZATION_ROW, ORGANIZATIONS_COUNTER, organizationName } from './organizations.ts';
import { resetFactor } from './second-factors.ts';
import { UserSignIn } from './sign-in.ts';
import { secretDigest } from './tenants.ts';
import { emailName, PORTAL_USER, UserDirectory } from './users.ts';

/**
 * Administration of a stopped service's store, for the command line: with the actors of organizations and users only;
 * pending work waits for the next start.
 */
export async function administrationOf(parts: {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly onCommitted: (step: Step) => void;
}): Promise<{
  readonly administration: Administration;
  /** Removes the second factor of a user. False: there is none. */
  resetFactor(organization: OrganizationId, email: string): Promise<boolean>;
  readonly users: UserDirectory;
  /**
   * Makes a link that signs a user in, also where mailed links are closed; undefined for a user without a role.
   * @param secret of the portal, from the key folder
   */
  signInLink(
    organization: OrganizationId,
    email: string,
    portal: { readonly secret: Buffer; readonly publicUrl: string },
  ): Promise<string | undefined>;
  stop(): Promise<void>;
}> {
  const lists = new RowLists(parts.store);
  const onCommitted = (step: Step) => {
    lists.observe(step);
    parts.onCommitted(step);
  };
  const actors = await createRuntime({
    ...parts,
    actors: [ORGANIZATION, PORTAL_USER],
    start: 'never',
    onCommitted,
  });
  const { store, clock, ids } = parts;
  const users = new UserDirectory({ actors, store, clock, ids }, lists);
  return {
    administration: new Administration({ actors, store, clock, ids }, lists),
    users,
    stop: () => actors.stop(),
    async resetFactor(organization, email) {
      const holder = await store.holder(emailName(email));
      const member = holder && (await users.member(organization, holder.id));
      if (member === undefined) return false;
      return resetFactor({ actors, clock }, organization, {
        userId: member.id as UserId,
        by: 'the command line',
      });
    },
    async signInLink(organization, email, { secret, publicUrl }) {
      const holder = await store.holder(emailName(email));
      const member = holder && (await users.member(organization, holder.id));
      const links = new SigningLinks(new Tickets(portalKeys(secret).tickets), clock, () => publicUrl);
      const signIn = new UserSignIn({ actors, store, clock, ids, log: parts.log }, links, 0, {
        // It begins no session.
        of: () => Promise.resolve(undefined),
      });
      return member && signIn.linkFor(member.id);
    },
  };
}

/** Bytes of a secret; 64 hex digits. Source: docs/portal-values.md §1 row 12. */
const SECRET_BYTES = 32;
const SHOWN_OF_SECRET = 8;
/** Time before its expiry in which a key is shown as ending. */
const EXPIRY_WARNING_MS = 30 * 24 * 60 * 60_000;

const ORGANIZATIONS: ListOfRows = {
  view: 'organizations',
  kind: ORGANIZATION.kind,
  prefix: [],
  counter: ORGANIZATIONS_COUNTER,
  textOf: ({ value }) => ORGANIZATION_ROW.read(value).name,
};

const UNMET =
  'No signature can reach a qualification here. Configure Signing:Trust:Lists, and Signing:Trust:Revocation as Soft or Hard.';

/** With the times in milliseconds. */
export type OrganizationView = ReturnType<typeof viewOf>;
export type ApplicationView = OrganizationView['applications'][number];

export class Administration {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>,
    private readonly lists: Pick<RowLists, 'page'>,
    /** False: no signature can reach a qualification. */
    private readonly canQualify = true,
  ) {}

  async organizations(query: {
    readonly q?: string | undefined;
    readonly limit: number;
    readonly offset: number;
  }): Promise<Page<OrganizationView>> {
    const { ids, totalCount } = await this.lists.page(ORGANIZATIONS, { ...query, newestFirst: false });
    const items = await Promise.all(ids.map((id) => this.organization(id as OrganizationId)));
    return { items, totalCount };
  }

  async organization(id: OrganizationId): Promise<OrganizationView> {
    return viewOf(id, await this.#read(id), this.runtime.clock.now());
  }

  /** Address for answers to its mails and pages; null = none. */
  async replyTo(id: OrganizationId): Promise<string | null> {
    return (await this.#read(id)).replyTo;
  }

  /** That address as the settings gave it last; undefined = they gave none. */
  async configuredReplyTo(id: OrganizationId): Promise<string | undefined> {
    return (await this.#read(id)).configuredReplyTo;
  }

  /** Refusals: `InvalidBranding`. @param given null: none */
  assertReplyTo(given: string | null): void {
    if (given === null || isMailbox(given)) return;
    const message = 'The ReplyTo must be an e-mail address, or a name with one in angle brackets.';
    throw new PortalRefusal('InvalidBranding', message, { errors: { ReplyTo: [message] } });
  }

  /** Refusals: `InvalidBranding`. @param given null: none */
  async setReplyTo(id: OrganizationId, given: string | null, by: string): Promise<void> {
    if (given === (await this.replyTo(id))) return;
    this.assertReplyTo(given);
    await this.configure(id, { replyTo: given }, by);
  }

  /** By its name, without regard to case. */
  async findOrganization(name: string): Promise<OrganizationView | undefined> {
    const holder = await this.runtime.store.holder(organizationName(cleanName(name, 'Name')));
    return holder && this.organization(holder.id as OrganizationId);
  }

  /** Refusals: `NameTaken`, `BadRequest`. */
  async createOrganization(input: {
    readonly name: string;
    readonly identifier?: string | null | undefined;
  }): Promise<OrganizationView> {
    const { actors, ids, clock } = this.runtime;
    const id = ids.uuid() as OrganizationId;
    const context: OrganizationContext = {
      ...NO_SETTINGS,
      name: cleanName(input.name, 'Name'),
      identifier: input.identifier ?? null,
      createdAt: clock.now(),
      applications: [],
    };
    await accepted(actors.create(ORGANIZATION, id, context), orElse('NameTaken'));
    return viewOf(id, context, this.runtime.clock.now());
  }

  /** Changes what is named; the rest stays. Refusals: `OrganizationNotFound`; `BadRequest` for a qualification that nobody can reach. */
  async configure(
    id: OrganizationId,
    settings: Partial<OrganizationSettings>,
    by?: string,
  ): Promise<OrganizationView> {
    await this.#read(id);
    if (settings.requiredQualification && !this.canQualify) throw new PortalRefusal('BadRequest', UNMET);
    await this.#send(id, { type: 'CONFIGURE', settings, by }, orElse('ServiceBusy'));
    return this.organization(id);
  }

  /**
   * Refusals: `OrganizationNotFound`, `NameTaken`, `LimitExceeded`, `BadRequest` for a role outside of Sys Admin.
   * @param secret one it has from the beginning
   */
  async createApplication(
    organization: OrganizationId,
    input: { readonly name: string; readonly role: ApplicationRole },
    secret?: string,
    by?: string,
  ): Promise<ApplicationView> {
    const { ids } = this.runtime;
    const { name: organizationOf, applications } = await this.#read(organization);
    const name = cleanName(input.name, 'Name');
    if (input.role !== 'Normal' && organizationOf !== SYSTEM_ORGANIZATION)
      throw badMember('Role', `Only applications of ${SYSTEM_ORGANIZATION} may have the role ${input.role}.`);
    const id = ids.uuid() as ApplicationId;
    const isTaken = applications.some((application) => foldedName(application.name) === foldedName(name));
    const addition = {
      type: 'ADD_APPLICATION',
      by,
      id,
      name,
      role: input.role,
      secret: secret === undefined ? null : { id: ids.uuid(), ...existingOf(secret) },
    } as const;
    await this.#send(organization, addition, orElse(isTaken ? 'NameTaken' : 'LimitExceeded'));
    const made = (await this.organization(organization)).applications.find((found) => found.id === id);
    return made ?? { id, name, role: input.role, keys: [] };
  }

  /**
   * The secret is shown this once. `key` = `<application>|<secret>`. Refusals: `OrganizationNotFound`,
   * `ApplicationNotFound`, `KeyLimitReached` for a third one, with the key to revoke; `BadRequest` for an expiry that is over.
   */
  async createSecret(
    organization: OrganizationId,
    application: ApplicationId,
    limits: KeyLimits = {},
    by?: Pick<Tenant, 'user' | 'application'>,
  ): Promise<{ readonly id: string; readonly key: string }> {
    const { ids, clock } = this.runtime;
    if (limits.expiresAt !== undefined && limits.expiresAt <= clock.now())
      throw badMember('ExpirationDate', 'The ExpirationDate is over.');
    const secret = ids.bytes(SECRET_BYTES).toString('hex');
    return this.#addSecret(organization, application, secret, {
      ...limits,
      retiresOldest: false,
      ...(by && { by: callerName(by), createdBy: principalOf(by) }),
    });
  }

  /** A secret that the settings name; a third one retires the oldest. Refusals: as `createSecret`. */
  addSecret(
    organization: OrganizationId,
    application: ApplicationId,
    secret: string,
  ): Promise<{ readonly id: string; readonly key: string }> {
    return this.#addSecret(organization, application, secret, { retiresOldest: true });
  }

  async #addSecret(
    organization: OrganizationId,
    application: ApplicationId,
    secret: string,
    options: KeyLimits & {
      readonly retiresOldest: boolean;
      readonly by?: string;
      readonly createdBy?: Principal;
    },
  ): Promise<{ readonly id: string; readonly key: string }> {
    const { ids } = this.runtime;
    const { applications } = await this.#read(organization);
    const found = applications.find(({ id }) => id === application);
    if (found === undefined) throw new PortalRefusal('ApplicationNotFound');
    const id = ids.uuid();
    const addition = {
      type: 'ADD_SECRET',
      applicationId: application,
      id,
      ...options,
      ...existingOf(secret),
    } as const;
    await this.#send(organization, addition, (refused) => {
      const context = refused.reason === 'not-accepted' ? refused.context : undefined;
      const now = context?.applications.find(({ id: one }) => one === application);
      return now === undefined ? orElse('ApplicationNotFound')(refused) : keyLimitReached(now.secrets);
    });
    return { id, key: `${found.name}|${secret}` };
  }

  /** True when the application has that secret. */
  async hasSecret(
    organization: OrganizationId,
    application: ApplicationId,
    secret: string,
  ): Promise<boolean> {
    const { applications } = await this.#read(organization);
    const digest = secretDigest(secret);
    return applications.some(
      ({ id, secrets }) => id === application && secrets.some(({ sha256 }) => sha256 === digest),
    );
  }

  /** Revokes the secret at once. Refusals: `OrganizationNotFound`, `ApplicationNotFound` for an unknown secret too. */
  async revokeSecret(
    organization: OrganizationId,
    application: ApplicationId,
    secretId: string,
    by?: string,
  ): Promise<void> {
    await this.#read(organization);
    const revocation = { type: 'REVOKE_SECRET', applicationId: application, id: secretId, by } as const;
    await this.#send(organization, revocation, orElse('ApplicationNotFound'));
  }

  /** Adds a line to the journal of the organization, for actions that change nothing stored. */
  async record(id: OrganizationId, note: string, by: string): Promise<void> {
    await this.#send(id, { type: 'RECORD', note, by }, orElse('ServiceBusy'));
  }

  async #send(
    id: OrganizationId,
    message: EventOf<typeof ORGANIZATION>,
    refusal: (refused: RefusedAnswer<typeof ORGANIZATION>) => PortalRefusal,
  ): Promise<void> {
    await accepted(this.runtime.actors.send(ORGANIZATION, id, message), refusal);
  }

  async #read(id: OrganizationId): Promise<OrganizationContext> {
    const parsed = parsePortalId('OrganizationId', id);
    const actor = parsed && (await this.runtime.actors.read(ORGANIZATION, parsed));
    if (!actor) throw new PortalRefusal('OrganizationNotFound');
    return actor.context;
  }
}

/** Names the key that was used least recently. */
function keyLimitReached(secrets: readonly ApplicationSecret[]): PortalRefusal {
  const [oldest] = [...secrets].sort(
    (one, other) => (one.lastUsedAt ?? one.createdAt) - (other.lastUsedAt ?? other.createdAt),
  );
  if (oldest === undefined) return new PortalRefusal('ApplicationNotFound');
  const { id, prefix } = oldest;
  const message = `The application has ${secrets.length} keys. Revoke ${prefix}... (${id}), the one that was used least recently.`;
  return new PortalRefusal('KeyLimitReached', message, { details: { keyId: id, prefix } });
}

/** @param code for a message that the state of the organization does not accept */
function orElse(code: 'NameTaken' | 'LimitExceeded' | 'ApplicationNotFound' | 'ServiceBusy') {
  return ({ reason }: Refused): PortalRefusal =>
    new PortalRefusal(reason === 'taken' ? 'NameTaken' : reason === 'not-accepted' ? code : 'ServiceBusy');
}

/** Stored form of a secret. */
function existingOf(secret: string): { readonly prefix: string; readonly sha256: string } {
  // Shows fewer characters of a short secret, which could be guessed otherwise.
  const shown = Math.min(SHOWN_OF_SECRET, Math.floor(secret.length / 4));
  return { prefix: secret.slice(0, shown), sha256: secretDigest(secret) };
}

/** Compares the expiry of a key with the time. */
function expiryOf(expiresAt: Millis | null, now: Millis): 'never' | 'later' | 'soon' | 'over' {
  if (expiresAt === null) return 'never';
  if (expiresAt <= now) return 'over';
  return expiresAt - now <= EXPIRY_WARNING_MS ? 'soon' : 'later';
}

function viewOf(id: OrganizationId, context: OrganizationContext, now: Millis) {
  const { name, identifier, createdAt, embedOrigins, refuseSignedEnvelopeFiles } = context;
  const { reminders = null, requireSecondFactor = false, requiredQualification = null } = context;
  const { refuseDeputies = false } = context;
  return {
    id,
    name,
    identifier,
    creationDate: createdAt,
    embedOrigins,
    refuseSignedEnvelopeFiles,
    reminders,
    requireSecondFactor,
    requiredQualification,
    refuseDeputies,
    applications: context.applications.map(({ id, name, role, secrets }) => ({
      id,
      name,
      role,
      keys: secrets.map((secret) => ({
        id: secret.id,
        prefix: secret.prefix,
        creationDate: secret.createdAt,
        lastUseDate: secret.lastUsedAt,
        scopes: secret.scopes ?? null,
        expirationDate: secret.expiresAt ?? null,
        expiry: expiryOf(secret.expiresAt ?? null, now),
        createdBy: secret.createdBy ?? null,
        folderIds: secret.folders ?? null,
      })),
    })),
  };
}

/** Without the bar that ends an application's name in a key, without control characters, spaces trimmed. */
function cleanName(given: string, member: string): string {
  const name = visibleText(given).trim();
  const fits = !isBlank(name) && name.length <= MAX_TENANT_NAME && !/[|\p{Cc}\p{Surrogate}]/u.test(name);
  if (fits) return name;
  throw badMember(
    member,
    `The ${member} must have 1 to ${MAX_TENANT_NAME} characters and no bar or control character.`,
  );
}

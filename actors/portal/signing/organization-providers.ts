/** Signing providers that organizations have added, with the secrets of their clients encrypted. */
import { isPublicAddress, literalAddress } from '@sealwright/signatures/http';
import { plainLine } from '../../../contracts/plain-text.ts';
import type { ProviderInput, ProviderView } from '../../../contracts/portal/signing-providers.ts';
import type { OrganizationId } from '../../../machines/ids.ts';
import { parsePortalId } from '../../../machines/ids.ts';
import type { StoredProvider } from '../../../machines/portal/accounts/organization.ts';
import { badField, checkTogether, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { CscPersons, ProviderFailure, type SigningProvider } from '../../shared/key-services/csc-person.ts';
import type { SecretBox } from '../../shared/secrets/secret-box.ts';
import { ORGANIZATION } from '../accounts/organizations.ts';
import { callerName, type Tenant } from '../api/callers.ts';

export class OrganizationProviders {
  constructor(
    private readonly needs: {
      readonly runtime: Pick<ServiceRuntime, 'actors' | 'clock' | 'ids'>;
      readonly secrets: SecretBox;
      /** Without a slash at its end. */
      readonly publicUrl: () => string;
      /** `Portal:WebhookAllowPrivate`. */
      readonly allowPrivate: boolean;
    },
  ) {}

  async list({ organization }: Pick<Tenant, 'organization'>): Promise<readonly ProviderView[]> {
    return (await this.#stored(organization.id)).map((one) => this.#view(organization.id, one));
  }

  /** Refusals: `BadRequest`, `LimitExceeded`. */
  async create(tenant: Tenant, input: ProviderInput): Promise<ProviderView> {
    const id = this.needs.runtime.ids.uuid();
    return this.#put(tenant, { id, input, known: undefined });
  }

  /** Refusals: `BadRequest`, `NotFound`. */
  async replace(tenant: Tenant, id: string, input: ProviderInput): Promise<ProviderView> {
    const known = await this.#one(tenant, id);
    return this.#put(tenant, { id: known.id, input, known });
  }

  /** Refusals: `NotFound`. */
  async remove(tenant: Tenant, id: string): Promise<void> {
    const by = callerName(tenant);
    const { actors } = this.needs.runtime;
    const message = { type: 'REMOVE_PROVIDER', id: id.toLowerCase(), by } as const;
    const sent = await actors.send(ORGANIZATION, tenant.organization.id, message);
    if (!sent.accepted) throw new PortalRefusal('NotFound');
  }

  /** @returns what would prevent signatures; null = nothing was found. Refusals: `NotFound` */
  async test(tenant: Tenant, id: string): Promise<string | null> {
    const stored = await this.#one(tenant, id);
    const settings = this.#opened(tenant.organization.id, stored);
    const provider = new CscPersons(settings, this.needs.runtime.clock);
    try {
      await provider.test(this.#returnAddress(settings.name));
      return null;
    } catch (error) {
      if (error instanceof ProviderFailure) return plainLine(error.message);
      throw error;
    } finally {
      provider.close();
    }
  }

  async offered(organization: OrganizationId): Promise<readonly Pick<SigningProvider, 'name' | 'title'>[]> {
    const all = await this.#stored(organization);
    return all.map(({ id, title, address, authorization }) => ({
      name: nameOf(organization, id),
      title: shownTitle({ origin: 'organization', title, address, authorization: authorization ?? address }),
    }));
  }

  /** By its name in addresses; undefined: there is none. */
  async find(name: string): Promise<SigningProvider | undefined> {
    const [given = '', id] = name.split('.');
    const organization = parsePortalId('OrganizationId', given);
    if (organization === undefined) return undefined;
    const stored = (await this.#stored(organization)).find((one) => one.id === id);
    return stored && this.#opened(organization, stored);
  }

  async #stored(organization: OrganizationId): Promise<readonly StoredProvider[]> {
    const actor = await this.needs.runtime.actors.read(ORGANIZATION, organization);
    return actor?.context.signingProviders ?? [];
  }

  async #one({ organization }: Tenant, wanted: string): Promise<StoredProvider> {
    const all = await this.#stored(organization.id);
    const found = all.find(({ id }) => id === wanted.toLowerCase());
    if (found === undefined) throw new PortalRefusal('NotFound');
    return found;
  }

  async #put(
    tenant: Tenant,
    {
      id,
      input,
      known,
    }: { readonly id: string; readonly input: ProviderInput; readonly known: StoredProvider | undefined },
  ): Promise<ProviderView> {
    const { actors } = this.needs.runtime;
    const { id: organization } = tenant.organization;
    const provider = { ...this.#checked(input), id };
    const clientSecret = this.#secretOf(provider, input.clientSecret, known, organization);
    const stored: StoredProvider = { ...provider, clientSecret };
    const isNew = known === undefined;
    const message = { type: 'PUT_PROVIDER', provider: stored, isNew, by: callerName(tenant) } as const;
    const sent = await actors.send(ORGANIZATION, organization, message);
    if (!sent.accepted) throw new PortalRefusal(isNew ? 'LimitExceeded' : 'NotFound');
    return this.#view(organization, stored);
  }

  #checked({ title, address, authorization, clientId }: ProviderInput) {
    const versioned = /\/v[12]\/?$/.test(address);
    const { allowPrivate } = this.needs;
    checkTogether([
      () => {
        if (title === '') throw badField('Title', 'is required');
      },
      () => {
        if (!versioned || !mayBeCalled(address, allowPrivate))
          throw badField('Address', 'must be a public https address that ends with /v1 or /v2');
      },
      () => {
        if (authorization && !mayBeCalled(authorization, allowPrivate))
          throw badField('Authorization', 'must be a public https address');
      },
      () => {
        if (clientId === '') throw badField('ClientId', 'is required');
      },
    ]);
    return { title, address, authorization: authorization || null, clientId };
  }

  /** A secret that is kept is for the same hosts only: another one would learn it. */
  #secretOf(
    provider: Omit<StoredProvider, 'clientSecret'>,
    given: string | null | undefined,
    known: StoredProvider | undefined,
    organization: OrganizationId,
  ): string {
    if (given) return this.needs.secrets.encrypt(given, placeOf(organization, provider.id));
    if (known !== undefined && hostsOf(known) === hostsOf(provider)) return known.clientSecret;
    throw badField('ClientSecret', 'is required');
  }

  #opened(organization: OrganizationId, stored: StoredProvider): SigningProvider {
    const { id, title, address, authorization, clientId, clientSecret } = stored;
    return {
      origin: 'organization',
      name: nameOf(organization, id),
      title,
      address,
      clientId,
      clientSecret: this.needs.secrets.decrypt(clientSecret, placeOf(organization, id)),
      policy: this.needs.allowPrivate ? 'any' : 'public',
      ...(authorization !== null && { authorization }),
    };
  }

  #view(organization: OrganizationId, { clientSecret: _, ...shown }: StoredProvider): ProviderView {
    return { ...shown, returnAddress: this.#returnAddress(nameOf(organization, shown.id)) };
  }

  #returnAddress(name: string): string {
    return `${this.needs.publicUrl()}/signing-provider/${name}/return`;
  }
}

/** A name that an organization gives may be that of another provider: people see the host to which they go, too. */
export function shownTitle({
  origin,
  title,
  address,
  authorization = address,
}: Pick<SigningProvider, 'origin' | 'title' | 'address' | 'authorization'>): string {
  return origin === 'operator' ? title : `${title} (${new URL(authorization).host})`;
}

/** Names of settings hold no dot. */
function nameOf(organization: OrganizationId, id: string): string {
  return `${organization}.${id}`;
}

function placeOf(organization: OrganizationId, id: string): string {
  return `signing-provider/${organization}/${id}/secret`;
}

function hostsOf({ address, authorization }: Pick<StoredProvider, 'address' | 'authorization'>): string {
  return [address, authorization].map((one) => (one === null ? '' : new URL(one).origin)).join(' ');
}

/**
 * True for an address that an organization may name. Names are resolved, and their addresses checked, when they are called.
 * @param allowPrivate `Portal:WebhookAllowPrivate`
 */
export function mayBeCalled(text: string, allowPrivate: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const { protocol, username, password, search, hash, port } = url;
  if (username + password + search + hash !== '') return false;
  const literal = literalAddress(url);
  if (allowPrivate) return protocol === 'https:' || (protocol === 'http:' && isHere(url));
  // Another port would let the test tell which ones are open.
  const isUsual = protocol === 'https:' && port === '';
  return isUsual && (literal === undefined || isPublicAddress(literal));
}

function isHere({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.[\d.]+$/.test(hostname);
}

/** Signing providers of the operator and of organizations, with their connections. */
import { LRUCache } from 'lru-cache';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { CscPersons, type SigningProvider } from '../../shared/key-services/csc-person.ts';
import type { Tenant } from '../api/callers.ts';
import type { OrganizationProviders } from './organization-providers.ts';

interface OpenProvider {
  readonly at: CscPersons;
  readonly settings: SigningProvider;
}

/** Providers of organizations whose connections are kept. */
const MAX_OPEN = 200;

export class OpenProviders {
  readonly #configured: ReadonlyMap<string, OpenProvider>;
  /** Of organizations, by what is stored. */
  readonly #own = new LRUCache<string, OpenProvider>({ max: MAX_OPEN, dispose: ({ at }) => at.close() });

  constructor(
    private readonly needs: {
      readonly clock: Pick<ServiceRuntime['clock'], 'elapsed' | 'after'>;
      /** `Portal:SigningProviders`. */
      readonly configured: readonly SigningProvider[];
      readonly own: Pick<OrganizationProviders, 'offered' | 'find'>;
    },
  ) {
    this.#configured = new Map(needs.configured.map((settings) => [settings.name, this.#opened(settings)]));
  }

  async offered({
    id,
    name: organization,
  }: Tenant['organization']): Promise<readonly Pick<SigningProvider, 'name' | 'title'>[]> {
    const configured = this.needs.configured
      .filter((one) => one.organization === undefined || one.organization === organization)
      .map(({ name, title }) => ({ name, title }));
    return [...configured, ...(await this.needs.own.offered(id))];
  }

  /** Empty: there is no such provider. */
  async titleOf(name: string): Promise<string> {
    return (await this.#find(name))?.settings.title ?? '';
  }

  /** Refusals: `NotFound`. */
  async get(name: string): Promise<OpenProvider> {
    const found = await this.#find(name);
    if (found === undefined) throw new PortalRefusal('NotFound');
    return found;
  }

  async #find(name: string): Promise<OpenProvider | undefined> {
    const configured = this.#configured.get(name);
    if (configured !== undefined) return configured;
    const settings = await this.needs.own.find(name);
    if (settings === undefined) return undefined;
    const key = JSON.stringify(settings);
    const known = this.#own.get(key);
    if (known !== undefined) return known;
    const opened = this.#opened(settings);
    this.#own.set(key, opened);
    return opened;
  }

  #opened(settings: SigningProvider): OpenProvider {
    return { settings, at: new CscPersons(settings, this.needs.clock) };
  }
}

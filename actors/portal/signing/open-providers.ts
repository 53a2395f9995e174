/** Signing providers of the operator and of organizations, with their connections. */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { CscPersons, type SigningProvider } from '../../shared/key-services/csc-person.ts';
import type { Tenant } from '../api/callers.ts';
import { type OrganizationProviders, shownTitle } from './organization-providers.ts';

export interface OpenProvider {
  readonly at: CscPersons;
  readonly settings: SigningProvider;
  /** Of addresses and client: a visit that began at others does not go on here. */
  readonly stamp: string;
}

/** Providers of organizations whose connections are kept. */
const MAX_OPEN = 200;
/** Time for requests under way to a provider that is not kept any more: one may have used up an authorization. */
const DRAIN_MS = 60_000;
const STAMP_LENGTH = 16;

export class OpenProviders {
  readonly #configured: ReadonlyMap<string, OpenProvider>;
  /** Of organizations, by what is stored. */
  readonly #own: LRUCache<string, OpenProvider>;

  constructor(
    private readonly needs: {
      readonly clock: Pick<ServiceRuntime['clock'], 'elapsed' | 'after'>;
      /** `Portal:SigningProviders`. */
      readonly configured: readonly SigningProvider[];
      readonly own: Pick<OrganizationProviders, 'offered' | 'find'>;
    },
  ) {
    const dispose = ({ at }: OpenProvider) => void needs.clock.after(DRAIN_MS, () => at.close());
    this.#own = new LRUCache<string, OpenProvider>({ max: MAX_OPEN, dispose });
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
    const found = await this.#find(name);
    return found === undefined ? '' : shownTitle(found.settings);
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
    const { address, authorization = null, clientId } = settings;
    const stamp = hash('sha256', JSON.stringify([address, authorization, clientId]), 'base64url');
    return {
      settings,
      at: new CscPersons(settings, this.needs.clock),
      stamp: stamp.slice(0, STAMP_LENGTH),
    };
  }
}

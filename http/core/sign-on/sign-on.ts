/** Sign-in at the identity providers of one service: from the link on its page to the person. Source: docs/decisions/0276-single-sign-on.md. */
import type { Clock, Ids, Log, StoreNodes } from '@sealwright/runtime';
import type { Batch } from '../../../actors/index.ts';
import type { Caller } from '../access/caller.ts';
import { OidcProvider, type ProviderOptions } from './oidc-provider.ts';
import { ASKED_TOLERANCE_MS, type ProviderPerson, SignInFailure } from './provider.ts';
import { type SamlOptions, SamlProvider } from './saml-provider.ts';
import { type SignInFlow, SignInFlows } from './sign-in-flows.ts';

/** A provider, and what its groups mean here. */
export interface SignOnProvider {
  readonly name: string;
  readonly protocol:
    | ({ readonly kind: 'Oidc' } & ProviderOptions)
    | ({ readonly kind: 'Saml' } & SamlOptions);
  readonly domains: readonly string[];
  readonly roles: readonly { readonly group: string; readonly role: string }[];
}

/** Query of a callback, as sent. */
export type CallbackQuery = { readonly [name: string]: unknown };

/** Sign-in of a service without providers. */
export function noSignOn<Provider extends SignOnProvider>(): SignOn<Provider> {
  return new SignOn<Provider>({ path: '', cookies: '', providers: [] }, Buffer.alloc(0), {
    clock: { now: () => 0, elapsed: () => 0 },
    ids: { bytes: (length) => Buffer.alloc(length) },
    log: { debug() {}, info() {}, warn() {}, error() {} },
    used: { use: async () => false },
  });
}

export class SignOn<Provider extends SignOnProvider = SignOnProvider> {
  readonly flows: SignInFlows;
  readonly #providers: ReadonlyMap<
    string,
    { readonly settings: Provider; readonly at: OidcProvider | SamlProvider }
  >;
  readonly #log: Log;
  readonly #used: Pick<Batch['access']['used'], 'use'>;
  /** Path of the sign-in of a provider, without its name. */
  readonly #path: string;

  /** @param cookies beginning of the names of its cookies; @param secret at least 32 bytes */
  constructor(
    { path, cookies, providers }: { path: string; cookies: string; providers: readonly Provider[] },
    secret: Buffer,
    parts: {
      readonly clock: Pick<Clock, 'now' | 'elapsed'>;
      readonly ids: Pick<Ids, 'bytes'>;
      readonly log: Log;
      readonly nodes?: Pick<StoreNodes, 'takePermit'> | undefined;
      readonly used: Pick<Batch['access']['used'], 'use'>;
    },
  ) {
    this.#path = path;
    this.#log = parts.log;
    this.#used = parts.used;
    this.flows = new SignInFlows(cookies, secret, parts);
    this.#providers = new Map(
      providers.map((settings) => {
        const { name, protocol } = settings;
        const at =
          protocol.kind === 'Saml' ? new SamlProvider(protocol, parts) : new OidcProvider(protocol, parts);
        return [name, { settings, at }];
      }),
    );
  }

  /** All providers, in the order of the settings. */
  get providers(): readonly Provider[] {
    return [...this.#providers.values()].map(({ settings }) => settings);
  }

  find(name: string): Provider | undefined {
    return this.#providers.get(name)?.settings;
  }

  /** The provider of the domain of an address. */
  ofAddress(email: string): Provider | undefined {
    const domain = email
      .slice(email.lastIndexOf('@') + 1)
      .trim()
      .toLowerCase();
    return this.providers.find(({ domains }) => domains.includes(domain));
  }

  /** Providers at which nobody can sign in now, with the reason. */
  troubles(): readonly { readonly name: string; readonly trouble: string | undefined }[] {
    return [...this.#providers.values()].map(({ at }) => ({ name: at.name, trouble: at.trouble }));
  }

  /** Reads the configurations of the providers in the background. */
  warmUp(): void {
    for (const { at } of this.#providers.values()) at.warmUp();
  }

  /** Address to which the browser goes, and its cookie. Throws `SignInFailure`. @param base address of this service, without a slash at its end */
  async begin(
    name: string,
    base: string,
    caller: Caller,
    {
      to = '',
      email,
      again = false,
    }: {
      to?: string;
      email?: string | undefined;
      /** The provider must ask the person anew, and say when it did. */
      again?: boolean;
    },
  ): Promise<{ readonly location: string; readonly cookie: string }> {
    const { flow, cookie } = this.flows.begin(name, to, caller, again);
    const at = this.#at(name);
    const location =
      at instanceof SamlProvider
        ? await at.begin(flow, this.#address(base, name, 'acs'))
        : await at.begin(flow, this.#address(base, name, 'callback'), email);
    return { location, cookie };
  }

  /**
   * Takes a response that the provider's page sends. Browsers send no cookies with it, so the answer is kept in one, with
   * which the browser goes on to the callback. Throws `SignInFailure`.
   * @returns the cookie
   */
  receive(name: string, base: string, caller: Caller, response: string): Promise<string> {
    return this.#logged(name, async () => {
      const { person, state, assertion } = await this.#saml(name).finish(
        response,
        this.#address(base, name, 'acs'),
      );
      const { idToken: _, emailVerified: __, ...kept } = person;
      const groups = person.groups && this.mappedGroups(name, person.groups);
      // An entity id is what a file says: it must not name people of another provider.
      const issuer = `saml:${name}:${person.issuer}`;
      const cookie = this.flows.answer(
        { provider: name, state, id: assertion, person: { ...kept, issuer, groups } },
        caller,
      );
      if (cookie === undefined) throw new SignInFailure('refused', 'The names of the person are too long.');
      return cookie;
    });
  }

  /** The person, and the path given to `begin`. Throws `SignInFailure`. @param cookies of the request */
  async finish(
    name: string,
    base: string,
    caller: Caller,
    { query, cookies }: { query: CallbackQuery; cookies: string },
  ): Promise<{ readonly person: ProviderPerson; readonly to: string }> {
    return this.#logged(name, async () => {
      const at = this.#at(name);
      if (at instanceof SamlProvider) {
        const answer = this.flows.readAnswer(name, cookies, caller);
        if (answer === undefined) throw new SignInFailure('refused', 'This browser brings no answer.');
        const person: ProviderPerson = {
          session: undefined,
          email: undefined,
          name: undefined,
          groups: undefined,
          ...answer.person,
          emailVerified: undefined,
          idToken: '',
        };
        const { state, id } = answer;
        if (state === undefined && !at.allowsUnsolicited)
          throw new SignInFailure('refused', 'No sign-in was begun here.');
        const { to, asked = 0 } = state === undefined ? { to: '' } : this.#flow(name, state, cookies, caller);
        if (!(await this.#used.use(`${this.#path}/${name}\0${state ?? id}`)))
          throw new SignInFailure('refused', 'The answer was used already.');
        // The request is not signed: whoever finds a session open at the provider can ask for less.
        if ((person.authenticatedAt ?? 0) < asked - ASKED_TOLERANCE_MS)
          throw new SignInFailure('unproven', 'The provider did not ask the person anew (AuthnInstant).');
        return { person, to };
      }
      const flow = this.#flow(name, query['state'], cookies, caller);
      // The provider takes each code once, too.
      if (!(await this.flows.useOnce(flow.state)))
        throw new SignInFailure('refused', 'The answer was used already.');
      const address = new URL(this.#address(base, name, 'callback'));
      for (const [key, value] of Object.entries(query))
        for (const one of [value].flat()) address.searchParams.append(key, String(one));
      return { person: await at.finish(flow, address), to: flow.to };
    });
  }

  /** Metadata of this service for a provider; undefined: it needs none. */
  async description(name: string, base: string): Promise<string | undefined> {
    const at = this.#at(name);
    return at instanceof SamlProvider ? at.description(this.#address(base, name, 'acs')) : undefined;
  }

  /** One group for each role that the groups give: a cookie has no room for all groups of some people. */
  mappedGroups(name: string, groups: readonly string[]): string[] {
    const roles = new Map(
      this.find(name)
        ?.roles.filter(({ group }) => groups.includes(group))
        .map(({ group, role }) => [role, group]),
    );
    return [...roles.values()];
  }

  /** Address that ends the session at the provider, too; undefined: there is none. @param back where the browser comes back */
  async logoutAddress(cookies: string, caller: Caller, back: string): Promise<string | undefined> {
    const { provider = '', idToken = '' } = this.flows.readOrigin(cookies, caller) ?? {};
    const found = this.#providers.get(provider);
    return idToken === '' || !(found?.at instanceof OidcProvider)
      ? undefined
      : found.at.logoutAddress(idToken, back);
  }

  /** Reads a logout token. Throws `SignInFailure`. */
  async loggedOut(name: string, token: string): ReturnType<OidcProvider['loggedOut']> {
    const at = this.#at(name);
    if (!(at instanceof OidcProvider))
      throw new SignInFailure('refused', 'The provider sends no logout tokens.');
    return at.loggedOut(token);
  }

  #flow(name: string, state: unknown, cookies: string, caller: Caller): SignInFlow {
    const flow = this.flows.find(name, state, cookies, caller);
    if (flow === undefined)
      throw new SignInFailure('refused', 'This browser has no open sign-in with this state.');
    return flow;
  }

  /** Runs a step; its failure is logged, unless the person has caused it. */
  async #logged<Result>(name: string, step: () => Promise<Result>): Promise<Result> {
    try {
      return await step();
    } catch (error) {
      if (error instanceof SignInFailure && error.reason !== 'denied')
        this.#log.warn('A sign-in at the identity provider failed.', {
          Provider: name,
          Reason: error.reason,
          Error: error.message,
        });
      throw error;
    }
  }

  #at(name: string): OidcProvider | SamlProvider {
    const found = this.#providers.get(name)?.at;
    if (found === undefined) throw new SignInFailure('refused', `There is no provider ${name}.`);
    return found;
  }

  #saml(name: string): SamlProvider {
    const at = this.#at(name);
    if (at instanceof SamlProvider) return at;
    throw new SignInFailure('refused', `${name} is not a SAML provider.`);
  }

  #address(base: string, name: string, step: 'callback' | 'acs'): string {
    return `${base}${this.#path}/${name}/${step}`;
  }
}

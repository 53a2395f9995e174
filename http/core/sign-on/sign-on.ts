/** Sign-in at the identity providers of one service: from the link on its page to the person. Source: docs/decisions/0276-single-sign-on.md. */
import type { Clock, Ids, Log } from '@sealwright/runtime';
import type { Caller } from '../access/caller.ts';
import {
  type FlowSecrets,
  OidcProvider,
  type ProviderOptions,
  type ProviderPerson,
  SignInFailure,
} from './oidc-provider.ts';
import { SignInFlows } from './sign-in-flows.ts';

/** A provider, and what its groups mean here. */
export interface SignOnProvider extends ProviderOptions {
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
  });
}

export class SignOn<Provider extends SignOnProvider = SignOnProvider> {
  readonly flows: SignInFlows;
  readonly #providers: ReadonlyMap<string, { readonly settings: Provider; readonly oidc: OidcProvider }>;
  readonly #log: Log;
  /** Path of the sign-in of a provider, without its name. */
  readonly #path: string;

  /** @param cookies beginning of the names of its cookies; @param secret at least 32 bytes */
  constructor(
    {
      path,
      cookies,
      providers,
    }: { readonly path: string; readonly cookies: string; readonly providers: readonly Provider[] },
    secret: Buffer,
    parts: {
      readonly clock: Pick<Clock, 'now' | 'elapsed'>;
      readonly ids: Pick<Ids, 'bytes'>;
      readonly log: Log;
    },
  ) {
    this.#path = path;
    this.#log = parts.log;
    this.flows = new SignInFlows(cookies, secret, parts);
    this.#providers = new Map(
      providers.map((settings) => [settings.name, { settings, oidc: new OidcProvider(settings, parts) }]),
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
    return [...this.#providers.values()].map(({ oidc }) => ({ name: oidc.name, trouble: oidc.trouble }));
  }

  /** Reads the configurations of the providers in the background. */
  warmUp(): void {
    for (const { oidc } of this.#providers.values()) oidc.warmUp();
  }

  /** Address to which the browser goes, and its cookie. Throws `SignInFailure`. @param base address of this service, without a slash at its end */
  async begin(
    name: string,
    base: string,
    caller: Caller,
    { to = '', email }: { readonly to?: string; readonly email?: string | undefined },
  ): Promise<{ readonly location: string; readonly cookie: string }> {
    const { flow, cookie } = this.flows.begin(name, to, caller);
    return { location: await this.#oidc(name).begin(flow, this.#callback(base, name), email), cookie };
  }

  /** The person, and the path given to `begin`. Throws `SignInFailure`. @param cookies of the request */
  async finish(
    name: string,
    base: string,
    caller: Caller,
    { query, cookies }: { readonly query: CallbackQuery; readonly cookies: string },
  ): Promise<{ readonly person: ProviderPerson; readonly to: string }> {
    const { state } = query;
    try {
      const flow = this.flows.take(name, typeof state === 'string' ? state : undefined, cookies, caller);
      if (flow === undefined)
        throw new SignInFailure('refused', 'This browser has no open sign-in with this state.');
      const secrets: FlowSecrets = flow;
      const answer = new URL(this.#callback(base, name));
      for (const [key, value] of Object.entries(query))
        for (const one of [value].flat()) answer.searchParams.append(key, String(one));
      return { person: await this.#oidc(name).finish(secrets, answer), to: flow.to };
    } catch (error) {
      if (error instanceof SignInFailure && error.reason !== 'denied')
        this.#log.warn('A sign-in at the identity provider failed.', {
          ...{ Provider: name, Reason: error.reason, Error: error.message },
        });
      throw error;
    }
  }

  /** Address that ends the session at the provider, too; undefined: there is none. @param back where the browser comes back */
  async logoutAddress(cookies: string, caller: Caller, back: string): Promise<string | undefined> {
    const { provider = '', idToken = '' } = this.flows.readOrigin(cookies, caller) ?? {};
    const found = this.#providers.get(provider);
    return idToken === '' ? undefined : found?.oidc.logoutAddress(idToken, back);
  }

  /** Reads a logout token. Throws `SignInFailure`. */
  loggedOut(name: string, token: string): ReturnType<OidcProvider['loggedOut']> {
    return this.#oidc(name).loggedOut(token);
  }

  #oidc(name: string): OidcProvider {
    const found = this.#providers.get(name)?.oidc;
    if (found === undefined) throw new SignInFailure('refused', `There is no provider ${name}.`);
    return found;
  }

  #callback(base: string, name: string): string {
    return `${base}${this.#path}/${name}/callback`;
  }
}

/** An OpenID provider in this process, and browsers that sign in there. Its answers can be changed on their way. */
import { createHmac } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** The package has no types. */
const PACKAGE: string = 'oidc-provider';
const { default: Provider } = (await import(PACKAGE)) as {
  readonly default: new (
    issuer: string,
    options: object,
  ) => { callback(): (request: http.IncomingMessage, response: http.ServerResponse) => void };
};

interface ClientMetadata {
  readonly client_id: string;
  readonly client_secret: string;
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris?: readonly string[];
  readonly backchannel_logout_uri?: string;
  readonly backchannel_logout_session_required?: boolean;
}

export interface TestUser {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[] | undefined;
  readonly [claim: string]: unknown;
}

type Changed = (claims: JWTPayload) => Promise<string> | string;

export interface TestProvider {
  readonly issuer: string;
  readonly users: Record<string, TestUser>;
  /** Requests to the token endpoint so far. */
  readonly tokens: number;
  /** Opens the provider, which lets requests wait until then. */
  open(...clients: readonly ClientMetadata[]): void;
  /** Makes ID tokens in place of the provider; undefined = its own. */
  change(make: Changed | undefined): void;
  /** A token with the key of the provider. */
  sign(claims: JWTPayload, header?: { readonly typ?: string }): Promise<string>;
  /** `sign` with the key of now, also after it is replaced. */
  signer(): (claims: JWTPayload) => Promise<string>;
  /** A token whose secret is the public key. */
  signWithPublicKey(claims: JWTPayload): Promise<string>;
  /** Requests are not answered any more, or again. */
  fail(status: number | undefined): void;
  /** New keys; the old ones are gone. */
  rotate(): Promise<void>;
}

/** Takes the fonts of another site out of the pages of the provider. */
function withoutFonts(response: http.ServerResponse): void {
  const end = response.end.bind(response) as (chunk?: unknown) => http.ServerResponse;
  response.end = ((chunk: unknown) => {
    if (!String(response.getHeader('content-type')).startsWith('text/html')) return end(chunk);
    const text = String(chunk).replace(/@import [^;]+;/g, '');
    response.setHeader('content-length', Buffer.byteLength(text));
    return end(text);
  }) as typeof response.end;
}

const PART = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

export function unsigned(claims: JWTPayload): string {
  return `${PART({ alg: 'none' })}.${PART(claims)}.`;
}

/** @param host `localhost` is another site than 127.0.0.1 for browsers */
export async function startProvider(
  t: Pick<ExecutionContext, 'teardown'>,
  host = '127.0.0.1',
): Promise<TestProvider> {
  const users: Record<string, TestUser> = {};
  let make: Changed | undefined;
  let failure: number | undefined;
  let tokens = 0;
  let number = 1;
  let keys = await generateKeyPair('RS256', { extractable: true });
  let handle: ((request: http.IncomingMessage, response: http.ServerResponse) => void) | undefined;
  let opened: () => void = () => {};
  const isOpen = new Promise<void>((resolve) => {
    opened = resolve;
  });
  const server = http.createServer((request, response) => {
    void isOpen.then(() => {
      if (failure !== undefined) {
        response.writeHead(failure, { Connection: 'close' }).end();
        return;
      }
      if (request.method === 'POST' && request.url === '/token') {
        tokens += 1;
        changeAnswer(response);
      }
      withoutFonts(response);
      handle?.(request, response);
    });
  });
  const changeAnswer = (response: http.ServerResponse) => {
    const end = response.end.bind(response) as (text: string) => http.ServerResponse;
    const changing = make;
    if (changing === undefined) return;
    response.end = ((chunk: unknown) => {
      const body = JSON.parse(String(chunk)) as { id_token?: string };
      const [, claims = ''] = body.id_token?.split('.') ?? [];
      if (body.id_token === undefined) return end(String(chunk));
      void Promise.resolve(changing(JSON.parse(Buffer.from(claims, 'base64url').toString()))).then(
        (changed) => {
          const text = JSON.stringify({ ...body, id_token: changed });
          response.setHeader('content-length', Buffer.byteLength(text));
          end(text);
        },
      );
      return response;
    }) as typeof response.end;
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}`;
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  let clients: readonly ClientMetadata[] = [];
  const build = async () => {
    const jwk = { ...(await exportJWK(keys.privateKey)), kid: `k${number}`, use: 'sig', alg: 'RS256' };
    const provider = new Provider(issuer, {
      jwks: { keys: [jwk] },
      cookies: { keys: ['cookies of the provider'] },
      clients: [...clients],
      scopes: ['openid', 'profile', 'email', 'groups'],
      claims: {
        openid: ['sub', 'groups', '_claim_names'],
        profile: ['name'],
        email: ['email', 'email_verified'],
      },
      conformIdTokenClaims: false,
      pkce: { required: () => false },
      fetch: (url: URL, { dispatcher: _, ...rest }: RequestInit & { dispatcher?: unknown }) =>
        globalThis.fetch(url, rest),
      features: {
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: { enabled: true },
        devInteractions: { enabled: true },
      },
      findAccount: (_: unknown, id: string) =>
        users[id] && { accountId: id, claims: () => ({ ...users[id], sub: id }) },
    });
    handle = provider.callback();
  };
  return {
    issuer,
    users,
    get tokens() {
      return tokens;
    },
    open(...given) {
      clients = given;
      void build().then(opened);
    },
    change(given) {
      make = given;
    },
    sign: (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: `k${number}`, ...header })
        .sign(keys.privateKey),
    signer() {
      const kid = `k${number}`;
      const { privateKey } = keys;
      return (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey);
    },
    async signWithPublicKey(claims) {
      const spki = await exportSPKI(keys.publicKey);
      const head = `${PART({ alg: 'HS256', kid: `k${number}` })}.${PART(claims)}`;
      return `${head}.${createHmac('sha256', spki).update(head).digest('base64url')}`;
    },
    fail(status) {
      failure = status;
    },
    async rotate() {
      number += 1;
      keys = await generateKeyPair('RS256', { extractable: true });
      await build();
    },
  };
}

/**
 * A browser with cookies by site, which follows redirects. After one of another site it sends no `SameSite=Strict` cookies,
 * and with a form of another site none at all.
 */
export class SiteBrowser {
  readonly #cookies = new Map<string, { readonly value: string; readonly isStrict: boolean }>();
  /** Forms of the provider that it has sent. */
  readonly prompts: string[] = [];

  /** Cookies of a host and port: those of services here are on other ports of one host. */
  header(url: URL, isForeign: boolean): string {
    return [...this.#cookies]
      .filter(([key, { isStrict }]) => key.startsWith(`${url.host} `) && !(isForeign && isStrict))
      .map(([key, { value }]) => `${key.slice(key.indexOf(' ') + 1)}=${value}`)
      .join('; ');
  }

  cookie(url: string, name: string): string | undefined {
    return this.#cookies.get(`${new URL(url).host} ${name}`)?.value;
  }

  plant(url: string, name: string, value: string, isStrict = false): void {
    this.#cookies.set(`${new URL(url).host} ${name}`, { value, isStrict });
  }

  async fetch(address: string, init: RequestInit = {}, isForeign = false): Promise<Response> {
    const url = new URL(address);
    const isForeignForm = isForeign && init.method === 'POST';
    const cookies = isForeignForm ? '' : this.header(url, isForeign);
    const headers = { Accept: 'text/html', ...init.headers, Cookie: cookies };
    const answer = await fetch(url, { ...init, redirect: 'manual', headers });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const key = `${url.host} ${name}`;
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) this.#cookies.delete(key);
      else this.#cookies.set(key, { value, isStrict: /samesite=strict/i.test(line) });
    }
    return answer;
  }

  post(address: string, fields: Readonly<Record<string, string>>): Promise<Response> {
    return this.fetch(address, { method: 'POST', body: new URLSearchParams(fields) });
  }

  /**
   * Follows the start of a sign-in to the provider, and signs in there.
   * @param change what the person at the browser makes of the address of the provider; @param own origin of the service
   * @returns the address of the callback with the answer, which is not fetched
   */
  async signInAtProvider(
    start: string,
    login: string,
    change: (asked: URL) => unknown = () => {},
    own = new URL(start).origin,
  ): Promise<string> {
    let answer = await this.fetch(start);
    let address = start;
    for (let step = 0; step < 15; step += 1) {
      const location = answer.headers.get('location');
      if (location !== null) {
        const next = new URL(location, address);
        if (address === start) change(next);
        address = next.href;
        if (address.startsWith(own)) return address;
        answer = await this.fetch(address);
        continue;
      }
      const text = await answer.text();
      const action = /<form[^>]* action="([^"]+)"/.exec(text)?.[1];
      if (action === undefined) throw new Error(`${address} answered ${answer.status}: ${text}`);
      const prompt = /name="prompt" value="([^"]+)"/.exec(text)?.[1] ?? '';
      this.prompts.push(prompt);
      address = new URL(action.replaceAll('&amp;', '&'), address).href;
      answer = await this.post(address, { prompt, login, password: 'x' });
    }
    throw new Error(`The provider did not lead back from ${address}.`);
  }

  /** Signs in, and opens the callback as a browser that comes from the provider. */
  async signIn(start: string, login: string, change?: (asked: URL) => unknown): Promise<Response> {
    return this.fetch(await this.signInAtProvider(start, login, change), {}, true);
  }
}

/** Address to which a page leads on by itself. */
export function onwardOf(page: string, address: string): string {
  const to = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page)?.[1];
  if (to === undefined) throw new Error(`The page does not lead on: ${page}`);
  return new URL(to.replaceAll('&amp;', '&'), address).href;
}

/** The browser of a participant who signs with a provider: cookies, redirects and pages that lead on. */

import type { Client } from '../../../actors/portal/service.ts';
import {
  type HeldCredential,
  PERSON_CLIENT,
  type PersonProvider,
} from '../../../actors/shared/key-services/person-provider.ts';
import { pki, type TestSigner } from '../../../pki/pki.ts';
import { ticketOf } from './certificate-client.ts';

/** Settings of a portal that trusts the certificates of the tests and has the provider. */
export function providerSettings(provider: Pick<PersonProvider, 'address'>) {
  return {
    'Signing:Trust:Roots:0': pki().rootFile,
    'Signing:Trust:Revocation': 'None',
    'Portal:SigningProviders:0:Name': 'acme-trust',
    'Portal:SigningProviders:0:Title': 'Acme Trust',
    'Portal:SigningProviders:0:Address': provider.address,
    'Portal:SigningProviders:0:ClientId': PERSON_CLIENT.id,
    'Portal:SigningProviders:0:ClientSecret': PERSON_CLIENT.secret,
  };
}

/** Settings of one more provider: the same, by version 1. */
export function firstVersion(provider: Pick<PersonProvider, 'address'>) {
  return {
    'Portal:SigningProviders:1:Name': 'first-trust',
    'Portal:SigningProviders:1:Title': 'First Trust',
    'Portal:SigningProviders:1:Address': provider.address.replace('/v2', '/v1'),
    'Portal:SigningProviders:1:ClientId': PERSON_CLIENT.id,
    'Portal:SigningProviders:1:ClientSecret': PERSON_CLIENT.secret,
  };
}

const ALGORITHMS = { rsa: '1.2.840.113549.1.1.1', ec: '1.2.840.10045.2.1' } as const;

export function held(
  own: TestSigner,
  more: Partial<HeldCredential> = {},
  algorithm: string = own.keyType === 'rsa' ? ALGORITHMS.rsa : ALGORITHMS.ec,
): HeldCredential {
  const certificates = [own.certificate, ...own.chain];
  return { key: own.key.keyObject, certificates, algorithms: [algorithm], ...more };
}

interface Shown {
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

export class Browser {
  readonly #cookies = new Map<string, string>();
  /** Addresses that were gone to. */
  readonly visited: string[] = [];

  /** Follows redirects and pages that lead on, up to a page that waits. @param until stops before an address with this text */
  async go(url: string, init: RequestInit = {}, until?: string): Promise<Shown> {
    for (let at = url, options = init; ; options = {}) {
      this.visited.push(at);
      const response = await fetch(at, {
        ...options,
        redirect: 'manual',
        headers: { cookie: this.#header(at), 'accept-language': 'en', ...options.headers },
      });
      this.#keep(response);
      const text = await response.text();
      const location = response.headers.get('location') ?? onwardOf(text);
      if (location === undefined) return { url: at, status: response.status, text };
      const next = new URL(location, at).href;
      if (until !== undefined && next.includes(until)) return { url: next, status: 0, text: '' };
      at = next;
    }
  }

  /** Presses the button of the provider on the signing page. */
  async start(
    portal: string,
    { key, ticket }: { readonly key: string; readonly ticket: string },
    more: object = {},
  ): Promise<{
    readonly status: number;
    readonly body: { readonly address: string; readonly code?: string };
  }> {
    const url = `${portal}/document/key/${key}/sign-at-provider`;
    const body = JSON.stringify({ ticket, provider: 'acme-trust', culture: 'en', ...more });
    const headers = { 'content-type': 'application/json', cookie: this.#header(url) };
    const response = await fetch(url, { method: 'POST', headers, body });
    this.#keep(response);
    return { status: response.status, body: (await response.json()) as { address: string } };
  }

  /** Sends the form of the page of certificates. */
  choose(page: Shown, credential: string, until?: string): Promise<Shown> {
    const visit = new URL(page.url).searchParams.get('visit') ?? '';
    const url = page.url.replace(/\?.*/, '');
    const body = new URLSearchParams({ visit, credential });
    return this.go(url, { method: 'POST', body }, until);
  }

  /** Sends what the person types on the page of secrets. */
  type(page: Shown, ...values: readonly string[]): Promise<Shown> {
    const visit = new URL(page.url).searchParams.get('visit') ?? '';
    const url = page.url.replace(/\?.*/, '');
    const body = new URLSearchParams({ visit });
    for (const [index, value] of values.entries()) body.set(`secret${index}`, value);
    return this.go(url, { method: 'POST', body });
  }

  /** Another browser with the same cookies. */
  copy(): Browser {
    const other = new Browser();
    for (const [name, value] of this.#cookies) other.#cookies.set(name, value);
    return other;
  }

  /** Cookies of a request to the portal. */
  get cookies(): string {
    return this.#header('');
  }

  #header(url: string): string {
    // Cookies are not sent to the provider, which has another port here and would have another host.
    return url.includes('/csc/') ? '' : [...this.#cookies].map((pair) => pair.join('=')).join('; ');
  }

  #keep(response: Response): void {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/Max-Age=0/.test(cookie)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }
}

function onwardOf(text: string): string | undefined {
  const [, to] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(text) ?? [];
  return to?.replaceAll('&amp;', '&');
}

/** A document that Ana signs with a certificate, and her page. */
export async function documentOf(
  client: Client,
  emails: readonly string[] = ['ana@example.org'],
  { identifier, ...more }: { readonly identifier?: string; readonly requireReading?: boolean } = {},
) {
  const id = await client.create(
    emails.map((email) => ({
      user: { name: email, email, identifier },
      allowElectronicSignature: true,
      step: 1,
    })),
    more,
  );
  return { id, ...(await ticketOf(client, id, emails[0] ?? '')) };
}

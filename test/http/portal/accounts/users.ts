/** Users of the portal's pages as programs: they follow links in mails, send forms and keep cookies. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PortalProgram, until } from '../../../actors/portal/service.ts';
import { ONE_REQUEST_PER_CONNECTION } from '../../../postgres/test-store.ts';

export const ADMINISTRATOR = { administrator: true, manager: false, operator: false };
export const SENDER = { administrator: false, manager: false, operator: true };

/** A browser without scripts: it has one cookie, and fills in the hidden fields of the forms it was shown. */
export class UserBrowser {
  readonly url: string;
  cookie = '';
  /** Of the last page. */
  token = '';

  constructor(
    url: string,
    /** Of every request. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    this.url = url;
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = {
      Cookie: this.cookie,
      Accept: 'text/html',
      ...ONE_REQUEST_PER_CONNECTION,
      ...this.headers,
      ...init.headers,
    };
    const answer = await fetch(`${this.url}${path}`, { redirect: 'manual', ...init, headers });
    const set = answer.headers.get('set-cookie');
    if (set !== null) this.cookie = set.split(';')[0] ?? '';
    return answer;
  }

  /** Text of a page; rejects unless it is shown. */
  async page(path: string): Promise<string> {
    const answer = await this.fetch(path);
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text}`);
    this.token = /name="formToken" value="([^"]+)"/.exec(text)?.[1] ?? '';
    return text;
  }

  post(path: string, fields: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
    const body = new URLSearchParams({ formToken: this.token, ...fields });
    return this.fetch(path, { method: 'POST', body, headers });
  }

  /** Sends a form of a page of the user, with the token of the session. */
  async submit(path: string, fields: Readonly<Record<string, string>> = {}): Promise<Response> {
    if (this.token === '') await this.page('/account');
    return this.post(path, fields);
  }

  askForLink(email: string): Promise<Response> {
    return this.fetch('/sign-in', { method: 'POST', body: new URLSearchParams({ email }) });
  }

  /** Presses the button on the page of a link. */
  async follow(link: string): Promise<Response> {
    const { pathname, search, searchParams } = new URL(link);
    const text = await this.page(`${pathname}${search}`);
    const organization = /name="organization" value="([^"]+)"/.exec(text)?.[1] ?? 'none';
    const answer = await this.post('/sign-in/link', {
      ticket: searchParams.get('ticket') ?? '',
      organization,
    });
    this.token = '';
    return answer;
  }
}

/** Links that were mailed to an address, oldest first. */
export function mailedLinks({ service }: Pick<PortalProgram, 'service'>, email: string): readonly string[] {
  const folder = join(service.root, 'mail');
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.eml'));
  } catch {
    return [];
  }
  return names
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .filter(
      (text) => text.toLowerCase().includes(`<${email}>`.toLowerCase()) || text.includes(`To: ${email}`),
    )
    .flatMap((text) => /http:\S+\/sign-in\/link\?ticket=[\w-]+/.exec(text)?.[0] ?? []);
}

/** Registers a user by API; resolves with the id. */
export async function register(
  { acme }: Pick<PortalProgram, 'acme'>,
  email: string,
  accessProfile: object = ADMINISTRATOR,
  name = 'Zoë <Müller>',
): Promise<string> {
  const { id } = await acme.post<{ id: string }>('/api/organizations/users', { name, email, accessProfile });
  return id;
}

/** Asks for a link and waits for it. */
export async function mailedLink(
  program: Pick<PortalProgram, 'service' | 'url'>,
  email: string,
): Promise<string> {
  const before = mailedLinks(program, email).length;
  const answer = await new UserBrowser(program.url).askForLink(email);
  if (answer.status !== 200) throw new Error(`no link: ${answer.status} ${await answer.text()}`);
  return until(async () => mailedLinks(program, email)[before]);
}

/** A browser in which a user is signed in. */
export async function signedIn(
  program: Pick<PortalProgram, 'service' | 'url'>,
  email: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<UserBrowser> {
  const browser = new UserBrowser(program.url, headers);
  const answer = await browser.follow(await mailedLink(program, email));
  if (answer.status !== 302) throw new Error(`not signed in: ${answer.status} ${await answer.text()}`);
  return browser;
}

/** Calls of the scripts of the pages. */
export class Caller {
  constructor(readonly browser: UserBrowser) {}

  async call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; code: string; answer: never }> {
    if (this.browser.token === '') await this.browser.page('/account/documents');
    const headers = {
      'X-Form-Token': this.browser.token,
      Accept: 'application/json',
      'Content-Type': 'application/json',
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await this.browser.fetch(path, { method, headers, ...sent });
    const text = await answer.text();
    const read = /json/.test(answer.headers.get('content-type') ?? '') ? JSON.parse(text) : text;
    return { status: answer.status, code: String(Object(read).code ?? ''), answer: read as never };
  }

  async total(query = ''): Promise<number> {
    const { answer } = await this.call('GET', `/api/documents?Limit=1${query}`);
    return (answer as { totalCount: number }).totalCount;
  }

  async ids(query = ''): Promise<readonly string[]> {
    const { answer } = await this.call('GET', `/api/documents?Limit=100${query}`);
    return (answer as { items: { id: string }[] }).items.map(({ id }) => id);
  }
}

export async function person(program: PortalProgram, name: string, access: object = SENDER) {
  const email = `${name}@example.org`;
  const id = await register(program, email, access, name);
  return { id, caller: new Caller(await signedIn(program, email)) };
}

/** The real program with a portal, and clients of it: over HTTP alone, as organizations, monitors and administrators. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import { Client as ApiClient } from '../../../clients/typescript/client.ts';
import type { PortalOperations } from '../../../clients/typescript/portal.d.ts';
import { assertAnswersDescribed, bookOf, checkAnswersOf } from '../../http/answers.ts';
import { NODES, ON_POSTGRES, ONE_REQUEST_PER_CONNECTION, storeSettings } from '../../postgres/test-store.ts';
import { pauseAfter } from '../../project/waiting.ts';
import { keptForBuild, Service, type ServiceOptions, temporaryRoot } from '../../service/service.ts';

const run = promisify(execFile);
const DIST = fileURLToPath(new URL('../../../', import.meta.url));
const ADMINISTRATOR_KEY = 'administrator-key';
const SECRET = 'ab'.repeat(32);

/** Settings of a portal with an application of organization `Acme`, and one that monitors. */
const ACME = {
  'Portal:Enabled': true,
  'Portal:Bootstrap:Organization': 'Acme',
  'Portal:Bootstrap:Application': 'Acme App',
  'Portal:Bootstrap:Secret': SECRET,
  'Portal:Bootstrap:MonitorApplication': 'Watcher',
  'Portal:Bootstrap:MonitorSecret': SECRET,
};

/** One application, and what it may ask. */
export class Client {
  readonly url: string;
  readonly key: string;
  /** The client of `clients/`. */
  readonly api: ApiClient<PortalOperations>;

  constructor(url: string, key: string) {
    this.url = url;
    this.key = key;
    this.api = new ApiClient({ url, key, retries: 0 });
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      ...init,
      headers: { 'X-Api-Key': this.key, ...ONE_REQUEST_PER_CONNECTION, ...init.headers },
    });
  }

  /** @param headers beyond those of JSON */
  send(
    path: string,
    body: unknown,
    method: string = 'POST',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return this.fetch(path, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  /** The answer's JSON, or undefined where it is empty; rejects unless it is 200. */
  async get<Body>(path: string): Promise<Body> {
    return read(path, await this.fetch(path));
  }

  async post<Body>(path: string, body: unknown, method: string = 'POST'): Promise<Body> {
    return read(path, await this.send(path, body, method));
  }

  /** Uploads a file and makes a document of it; gives the document's id. */
  async create(
    flowActions: readonly object[],
    more: { readonly [member: string]: unknown } = {},
    file: { readonly name: string; readonly content: Uint8Array; readonly type: string } = SAMPLE,
  ): Promise<string> {
    const upload = await this.upload(file);
    const files = [{ ...upload, displayName: file.name }];
    const [made] = await this.post<{ documentId: string }[]>('/api/documents', {
      files,
      flowActions,
      ...more,
    });
    return made?.documentId ?? '';
  }

  async upload(
    file: { readonly name: string; readonly content: Uint8Array; readonly type: string } = SAMPLE,
  ): Promise<{ id: string; name: string; contentType: string; location: string }> {
    const form = new FormData();
    form.set('content', new Blob([new Uint8Array(file.content)], { type: file.type }), file.name);
    return this.api.call('POST /api/uploads', { body: form, headers: ONE_REQUEST_PER_CONNECTION });
  }
}

async function read<Body>(path: string, response: Response): Promise<Body> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Body;
}

/** A page to sign. */
export const SAMPLE = { name: 'Vertrag ä.pdf', content: samplePdf(), type: 'application/pdf' };

function samplePdf(): Buffer {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << >> >>',
    '<< /Length 0 >>\nstream\n\nendstream',
  ];
  let text = '%PDF-1.7\n';
  const offsets = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const xref = text.length;
  const lines = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  text += `xref\n0 5\n0000000000 65535 f \n${lines}trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n${xref}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

export interface PortalProgram {
  readonly service: Service;
  readonly url: string;
  /** Of organization `Acme`. */
  readonly acme: Client;
  readonly monitor: Client;
  readonly administrator: Client;
  /** A client of another organization, made by the administrator. */
  organization(name: string): Promise<Client & { readonly organizationId: string }>;
}

/** Starts the program; every answer of its portal is held against the description. */
export async function startProgram(
  t: Pick<ExecutionContext, 'teardown'>,
  options: Partial<ServiceOptions> = {},
): Promise<PortalProgram> {
  const root = options.root ?? (await temporaryRoot(t as ExecutionContext));
  const administratorKey = await administrator(root);
  const service = await Service.start(t, {
    root,
    ...(options.faults !== undefined && { faults: options.faults }),
    ...(options.env !== undefined && { env: options.env }),
    settings: { ...ACME, ...options.settings },
  });
  const url = service.portalUrl;
  checkAnswersOf(t, url, bookOf('portal-with-pages'));
  const admin = new Client(url, administratorKey);
  return {
    service,
    url,
    acme: new Client(url, `Acme App|${SECRET}`),
    monitor: new Client(url, `Watcher|${SECRET}`),
    administrator: admin,
    async organization(name) {
      const { id } = await admin.post<{ id: string }>('/api/admin/organizations', { name });
      const path = `/api/admin/organizations/${id}/applications`;
      const application = await admin.post<{ id: string }>(path, { name: `${name} App` });
      const { key } = await admin.post<{ key: string }>(`${path}/${application.id}/keys`, {});
      return Object.assign(new Client(url, key), { organizationId: id });
    },
  };
}

let shared: Promise<PortalProgram> | undefined;
let sharing = 0;

/**
 * The program of this test process, with an organization of the test's own as `acme`. For tests that change no
 * settings, sign no users in (addresses and attempts are of the whole program) and look into no folder.
 */
export async function sharedProgram(t: Pick<ExecutionContext, 'teardown'>): Promise<PortalProgram> {
  // Their stores and balancers end with the test that has started them.
  if (ON_POSTGRES || NODES > 1) return startProgram(t);
  shared ??= startForAll();
  const program = await shared;
  t.teardown(assertAnswersDescribed);
  sharing += 1;
  // Organizations of one program have different names.
  const own = `of test ${sharing}`;
  const organization = (name: string) => program.organization(`${name} ${own}`);
  return { ...program, acme: await organization('Acme'), organization };
}

/** It and its root end with the process (`test/project/children.ts`), which does not wait for it. */
async function startForAll(): Promise<PortalProgram> {
  const root = mkdtempSync(join(tmpdir(), 'sealwright-shared-'));
  const program = await startProgram({ teardown() {} }, { root });
  program.service.unref();
  return program;
}

/**
 * Gives each test a root as `prepare` leaves it, and what that returns. On LMDB it prepares once, and the roots are copies;
 * it must end its programs.
 */
export function rootsLike<State extends object>(
  prepare: (t: ExecutionContext, root: string) => Promise<State>,
): (t: ExecutionContext) => Promise<State & { readonly root: string }> {
  let first: Promise<State & { readonly root: string }> | undefined;
  const prepareFirst = async (t: ExecutionContext) => {
    const root = mkdtempSync(join(tmpdir(), 'sealwright-prepared-'));
    process.once('exit', () => rmSync(root, { recursive: true, force: true }));
    return { ...(await prepare(t, root)), root };
  };
  return async (t) => {
    const root = await temporaryRoot(t);
    if (ON_POSTGRES) return { ...(await prepare(t, root)), root };
    first ??= prepareFirst(t);
    const { root: original, ...state } = await first;
    cpSync(original, root, { recursive: true });
    return { ...(state as State), root };
  };
}

/** Key of an administrator of the store in `root`. A new root on LMDB is a copy of one that is made once for a build. */
async function administrator(root: string): Promise<string> {
  const kept = join(root, ADMINISTRATOR_KEY);
  if (!existsSync(kept)) {
    if (ON_POSTGRES || existsSync(join(root, 'db'))) await makeAdministrator(root);
    else cpSync(await keptForBuild('root', prepareRoot), root, { recursive: true });
  }
  return readFileSync(kept, 'utf8');
}

/** A root with an administrator, and what the first start with the usual settings makes. */
async function prepareRoot(root: string): Promise<void> {
  await makeAdministrator(root);
  const service = await Service.startOne({ teardown() {} }, { root, settings: ACME });
  await service.stop();
}

/** Keys of administrators are made on the command line, before the service has the store. */
async function makeAdministrator(root: string): Promise<void> {
  const words = ['keys', 'create', 'Sys Admin', 'admin', '--role', 'Administrator', '--json'];
  const settings = Object.entries({ 'Storage:Root': root, ...storeSettings(root) });
  const { stdout } = await run(process.execPath, [
    join(DIST, 'main.js'),
    ...words,
    ...settings.map(([key, value]) => `--${key}=${value}`),
  ]);
  writeFileSync(join(root, ADMINISTRATOR_KEY), (JSON.parse(stdout) as { key: string }).key);
}

/** Asks again and again until there is an answer. */
export async function until<Answer>(ask: () => Promise<Answer | undefined>): Promise<Answer> {
  const began = performance.now();
  for (let waited = 0; waited < 100_000; waited = performance.now() - began) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(pauseAfter(waited));
  }
  throw new Error('waited for minutes in vain');
}

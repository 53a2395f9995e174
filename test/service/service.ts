/**
 * The real program in a process of its own, for tests that drive it from outside: over HTTP and the file system,
 * with SIGKILL as the way it dies.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { bringFiles } from '../actors/shared/objects/bucket-of-suites.ts';
import { assertAnswersDescribed, checkAnswersOf } from '../http/answers.ts';
import { startBalancer } from '../postgres/balancer.ts';
import { BUCKET, NODES, ONE_REQUEST_PER_CONNECTION, storeSettings } from '../postgres/test-store.ts';
import { SHARDS } from '../project/shards.ts';
import { pauseAfter } from '../project/waiting.ts';

const PORTAL_URL = /Portal\s+(http:\/\/127\.0\.0\.1:\d+)/;

/** Nodes beside the first one, of all services of this test file: a killed first one leaves the others running. */
let started = 0;

/** The compiled program beside the compiled tests. */
const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));
const DIST = dirname(MAIN);

export interface ServiceOptions {
  /** Folder of the store and the files; made by `temporaryRoot`. */
  readonly root: string;
  /** `Section:Key` → value. */
  readonly settings?: { readonly [key: string]: string | number | boolean };
  /** Fault points to arm, as `name=kill:n`. */
  readonly faults?: string;
  /** Further environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Path of `main.js`. @default this version of the program */
  readonly main?: string;
  /** True: the first start makes its development key, which takes a third of a second. @default it finds one */
  readonly makesKey?: boolean;
}

/** A job as the API shows it. */
export interface Job {
  readonly id: string;
  readonly fileName: string;
  readonly originalPath: string;
  readonly status: string;
  readonly format: string;
  readonly source: string;
  readonly errorMessage: string | null;
  readonly errorCode: string | null;
  readonly outputFileName: string | null;
  readonly inputSha256: string | null;
  readonly outputSha256: string | null;
  readonly history: readonly { readonly id: number; readonly status: string; readonly message: string }[];
}

/** A fresh folder, removed when the test ends. */
export async function temporaryRoot(t: { teardown(task: () => Promise<void>): void }): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'sealwright-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  return root;
}

/** Copies the development key of this build into a root without keys, as if an earlier start had made it. */
async function bringDevelopmentKey(root: string): Promise<void> {
  const keys = join(root, 'keys');
  if (existsSync(keys)) return;
  const made = await keptForBuild('keys', async (folder) => {
    const { makeDevelopmentCertificates } = await import('@sealwright/signatures');
    const { certificate, caCertificate, key } = await makeDevelopmentCertificates({
      label: 'sealwright',
      now: Date.now(),
      random: randomBytes,
    });
    const pems = {
      signer: `${certificate.trim()}\n${caCertificate.trim()}\n${key.trim()}`,
      ca: caCertificate.trim(),
    };
    for (const [name, text] of Object.entries(pems))
      await writeFile(join(folder, `development-${name}.pem`), text, { mode: 0o600 });
  });
  try {
    cpSync(made, keys, { recursive: true });
  } catch (error) {
    // A disk that takes no key is what the start is to report.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    rmSync(keys, { recursive: true, force: true });
  }
}

const kept = new Map<string, Promise<string>>();

/** A folder beside the build that is made once for it, by the first process that needs it. @param make fills the folder */
export function keptForBuild(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  let folder = kept.get(name);
  if (folder === undefined) {
    folder = madeForBuild(name, make);
    kept.set(name, folder);
  }
  return folder;
}

async function madeForBuild(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const build = readFileSync(join(DIST, '.built'), 'utf8').slice(0, 32);
  const folder = join(DIST, 'prepared', `${name}-${build}`);
  if (existsSync(folder)) return folder;
  const made = `${folder}.${process.pid}`;
  mkdirSync(made, { recursive: true, mode: 0o700 });
  await make(made);
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(folder)) throw error;
    rmSync(made, { recursive: true });
  }
  return folder;
}

/** A folder for a further node, which shares no files with the first but what it takes in and what it mails into files. */
async function diskOfNode(t: Pick<ExecutionContext, 'teardown'>, first: string): Promise<string> {
  const root = await temporaryRoot({ teardown: (task) => t.teardown(task) });
  await cp(join(first, 'keys'), join(root, 'keys'), { recursive: true });
  await mkdir(join(first, 'mail'), { recursive: true, mode: 0o750 });
  await symlink(join(first, 'mail'), join(root, 'mail'));
  return root;
}

export class Service {
  readonly root: string;
  readonly url: string;
  readonly #process: ChildProcess;
  /** The other nodes of the service, behind the same address. */
  readonly #others: readonly Service[];
  readonly #portalUrl: string | undefined;
  readonly #output: { text: string };
  readonly #ended: Promise<number | string>;

  private constructor({
    root,
    url,
    child,
    output,
    ended,
    behind,
  }: {
    readonly root: string;
    readonly url: string;
    readonly child: ChildProcess;
    readonly output: { text: string };
    readonly ended: Promise<number | string>;
    readonly behind: { readonly others: readonly Service[]; readonly portalUrl: string | undefined };
  }) {
    this.#others = behind.others;
    this.#portalUrl = behind.portalUrl;
    this.root = root;
    this.url = url;
    this.#process = child;
    this.#output = output;
    this.#ended = ended;
  }

  /**
   * Starts the service: one program, or several nodes behind a balancer where `SEALWRIGHT_NODES` says so. Fault points
   * are those of the first, which gets all requests as long as it lives if there are any.
   */
  static async start(t: Pick<ExecutionContext, 'teardown'>, options: ServiceOptions): Promise<Service> {
    if (NODES === 1) return Service.startOne(t, options);
    const all: Service[] = [];
    const portOf = (url: string) => Number(new URL(url).port);
    const { faults, ...rest } = options;
    const reached = () => {
      const [armed] = all;
      return faults !== undefined && armed?.isRunning === true ? [armed] : all;
    };
    const batch = await startBalancer(() => reached().map(({ url }) => portOf(url)));
    const portal = await startBalancer(() => reached().map((one) => portOf(one.portalUrl)));
    t.teardown(async () => {
      await batch.close();
      await portal.close();
    });
    const portalUrl = `http://127.0.0.1:${portal.port}`;
    // Links lead to the balancer, whichever node makes them.
    const settings = { 'Portal:PublicUrl': portalUrl, ...rest.settings };
    const first = await Service.startOne(t, { ...options, settings });
    const others = await Promise.all(
      Array.from({ length: NODES - 1 }, async () => {
        started += 1;
        const name = { 'Runtime:NodeName': `node-${started}` };
        if (BUCKET === undefined) return Service.startOne(t, { ...rest, settings: { ...settings, ...name } });
        const root = await diskOfNode(t, rest.root);
        return Service.startOne(t, {
          ...rest,
          root,
          settings: { ...storeSettings(rest.root), ...settings, ...name },
        });
      }),
    );
    all.push(first, ...others);
    const url = `http://127.0.0.1:${batch.port}`;
    checkAnswersOf(t, url);
    return new Service({
      root: first.root,
      url,
      child: first.#process,
      output: first.#output,
      ended: first.#ended,
      behind: {
        others,
        portalUrl: first.#hasPortal ? portalUrl : undefined,
      },
    });
  }

  /**
   * Starts one program on a free port and waits until it says where it listens. It does not outlive the test.
   * Rejects, with what it printed, when it ends before.
   */
  static async startOne(
    t: Pick<ExecutionContext, 'teardown'>,
    { root, settings = {}, faults, env = {}, main = MAIN, makesKey = false }: ServiceOptions,
  ): Promise<Service> {
    if (!makesKey) await bringDevelopmentKey(root);
    const all = {
      'Storage:Root': root,
      'Batch:Url': 'http://127.0.0.1:0',
      'Portal:Enabled': false,
      'Portal:Url': 'http://127.0.0.1:0',
      'RateLimiting:Enabled': false,
      'Runtime:Shards': SHARDS,
      // A test with a server of its own uses the default schema there, also where the suites run on PostgreSQL.
      ...('Runtime:Postgres:Url' in settings ? {} : storeSettings(root)),
      'WatchedFolder:StabilityPollIntervalMs': 50,
      'WatchedFolder:StabilityRequiredSamples': 2,
      ...settings,
    };
    const args = Object.entries(all).map(([key, value]) => `--${key}=${value}`);
    const child = spawn(process.execPath, [main, 'serve', ...args], {
      env: {
        ...process.env,
        SEALWRIGHT_FAULTS: faults ?? '',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.teardown(() => {
      child.kill('SIGKILL');
      assertAnswersDescribed();
    });
    const output = { text: '' };
    const ended = new Promise<number | string>((resolve) => {
      child.on('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
    });
    const listening = new Promise<string>((resolve) => {
      const look = (chunk: Buffer) => {
        output.text += chunk.toString();
        const url = /Batch API\s+(http:\/\/127\.0\.0\.1:\d+)/.exec(output.text)?.[1];
        if (url) resolve(url);
      };
      child.stdout?.on('data', look);
      child.stderr?.on('data', look);
    });
    const first = await Promise.race([
      listening,
      ended.then((code) => new Error(`ended with ${code}:\n${output.text}`)),
    ]);
    if (first instanceof Error) throw first;
    checkAnswersOf(t, first);
    return new Service({
      root,
      url: first,
      child,
      output,
      ended,
      behind: { others: [], portalUrl: undefined },
    });
  }

  /** Place where the portal listens; throws where the settings did not ask for one (`Portal:Enabled`). */
  get portalUrl(): string {
    const url = this.#portalUrl ?? PORTAL_URL.exec(this.#output.text)?.[1];
    if (url === undefined) throw new Error(`There is no portal:\n${this.#output.text}`);
    return url;
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  get #hasPortal(): boolean {
    return PORTAL_URL.test(this.#output.text);
  }

  /** Everything printed so far. */
  get printed(): string {
    return [this.#output.text, ...this.#others.map(({ printed }) => printed)].join('\n');
  }

  /** Says whether it runs, and what it printed last, for the error of a request. */
  condition(): string {
    const states = [this, ...this.#others].map((node) => {
      const { exitCode, signalCode } = node.#process;
      return node.isRunning ? 'runs' : `has ended with ${exitCode ?? signalCode}`;
    });
    return `the service ${states.join(', ')} and printed:\n${this.printed.slice(-4000)}`;
  }

  /** Folders of all nodes. */
  get roots(): readonly string[] {
    return [...new Set([this.root, ...this.#others.map(({ root }) => root)])];
  }

  /** Folder with `output/` and `error/`: `root`, or a copy of what is in the bucket now. */
  async files(): Promise<string> {
    return BUCKET === undefined ? this.root : bringFiles(BUCKET, this.root);
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Resolves with exit code or signal once the process is gone; rejects, with what it printed, after 100 s. */
  get ended(): Promise<number | string> {
    return new Promise((resolve, reject) => {
      const patience = setTimeout(
        () =>
          reject(new Error(`waited 100 s for the service to end; it printed:\n${this.printed.slice(-4000)}`)),
        100_000,
      );
      void this.#ended.then((how) => {
        clearTimeout(patience);
        resolve(how);
      });
    });
  }

  /** Resolves once the process is gone, however long it runs: for supervisors, whose test bounds the time. */
  get gone(): Promise<number | string> {
    return this.#ended;
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await Promise.all([this.#ended, ...this.#others.map((other) => other.kill())]);
  }

  /** Lets the process of the test end while the program runs. */
  unref(): void {
    this.#process.unref();
    for (const stream of [this.#process.stdout, this.#process.stderr]) (stream as Socket | null)?.unref();
  }

  /** Suspends the program, or lets it go on. */
  suspend(): void {
    this.#process.kill('SIGSTOP');
  }

  resume(): void {
    this.#process.kill('SIGCONT');
  }

  /** SIGTERM; resolves with the exit code. */
  async stop(): Promise<number | string> {
    this.#process.kill('SIGTERM');
    const codes = await Promise.all([this.#ended, ...this.#others.map((other) => other.stop())]);
    return codes.find((code) => code !== 0) ?? 0;
  }

  /** The API key it made for itself. */
  async key(): Promise<string> {
    return (await readFile(join(this.root, 'keys', 'api-key'), 'utf8')).trim();
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { 'X-API-Key': await this.key(), ...ONE_REQUEST_PER_CONNECTION, ...init.headers };
    try {
      return await fetch(`${this.url}${path}`, { ...init, headers });
    } catch (error) {
      // Otherwise nobody knows which node was cut off, and why.
      if (error instanceof TypeError && this.#others.length > 0) error.message += `: ${this.condition()}`;
      throw error;
    }
  }

  async json<Body>(path: string, init: RequestInit = {}): Promise<Body> {
    const response = await this.fetch(path, init);
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Body;
  }

  async upload(
    fileName: string,
    content: Uint8Array | string,
    query = '',
  ): Promise<{ jobId: string; originalPath: string; status: string }> {
    const form = new FormData();
    form.set('file', new Blob([content as string]), fileName);
    const response = await this.fetch(`/api/files${query}`, { method: 'POST', body: form });
    if (response.status !== 202)
      throw new Error(`the upload was answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as { jobId: string; originalPath: string; status: string };
  }

  job(id: string): Promise<Job> {
    return this.json<Job>(`/api/jobs/${id}`);
  }

  /** Every job, oldest first. */
  async jobs(query = ''): Promise<readonly Job[]> {
    const all: Job[] = [];
    for (let page = 1; ; page += 1) {
      const { items } = await this.json<{ items: Job[] }>(`/api/jobs?page=${page}&pageSize=200${query}`);
      all.push(...items);
      if (items.length < 200) return all.reverse();
    }
  }

  async count(status: string): Promise<number> {
    return (await this.json<{ totalCount: number }>(`/api/jobs?pageSize=1&status=${status}`)).totalCount;
  }

  /** The job once it has ended; rejects after `seconds`. */
  async finished(id: string, seconds = 90): Promise<Job> {
    return this.until(
      `job ${id} to end`,
      async () => {
        const job = await this.job(id);
        return isTerminal(job.status) ? job : undefined;
      },
      seconds,
    );
  }

  /** Resolves once no job is queued or in flight. */
  async idle(seconds = 90): Promise<void> {
    await this.until(
      'the queue to be empty',
      async () => {
        const { totalCount } = await this.json<{ totalCount: number }>(
          '/api/jobs?pageSize=1&status=Queued,Processing,Verifying',
        );
        return totalCount === 0 ? true : undefined;
      },
      seconds,
    );
  }

  /** Asks again and again until there is an answer; says what it waited for when there is none in time. */
  async until<Answer>(what: string, ask: () => Promise<Answer | undefined>, seconds = 90): Promise<Answer> {
    const began = performance.now();
    for (;;) {
      const answer = await ask();
      if (answer !== undefined) return answer;
      const waited = performance.now() - began;
      if (waited > seconds * 1000)
        throw new Error(
          `waited ${seconds} s for ${what}; the service printed:\n${this.printed.slice(-4000)}`,
        );
      await sleep(pauseAfter(waited));
    }
  }
}

export function isTerminal(status: string): boolean {
  return status === 'Completed' || status === 'Failed' || status === 'Canceled';
}

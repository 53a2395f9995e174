/**
 * The real program in a process of its own, for tests that drive it from outside: over HTTP and the file system,
 * with SIGKILL as the way it dies.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { SHARDS } from '../house/shards.ts';
import { assertAnswersDescribed, checkAnswersOf } from '../http/answers.ts';

/** The compiled program beside the compiled tests. */
const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));

export interface ServiceOptions {
  /** Folder of the store and the files; made by `temporaryRoot`. */
  readonly root: string;
  /** `Section:Key` → value. */
  readonly settings?: { readonly [key: string]: string | number | boolean };
  /** Fault points to arm, as `name=kill:n`. */
  readonly faults?: string;
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

export class Service {
  readonly root: string;
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #output: { text: string };
  /** Resolves with exit code or signal once the process is gone. */
  readonly ended: Promise<number | string>;

  private constructor(
    root: string,
    url: string,
    child: ChildProcess,
    output: { text: string },
    ended: Promise<number | string>,
  ) {
    this.root = root;
    this.url = url;
    this.#process = child;
    this.#output = output;
    this.ended = ended;
  }

  /**
   * Starts the program on a free port and waits until it says where it listens. It does not outlive the test.
   * Rejects, with what it printed, when it ends before.
   */
  static async start(
    t: Pick<ExecutionContext, 'teardown'>,
    { root, settings = {}, faults }: ServiceOptions,
  ): Promise<Service> {
    const all = {
      'Storage:Root': root,
      'Batch:Url': 'http://127.0.0.1:0',
      'Portal:Enabled': false,
      'Portal:Url': 'http://127.0.0.1:0',
      'RateLimiting:Enabled': false,
      'Runtime:Shards': SHARDS,
      'WatchedFolder:StabilityPollIntervalMs': 50,
      'WatchedFolder:StabilityRequiredSamples': 2,
      ...settings,
    };
    const args = Object.entries(all).map(([key, value]) => `--${key}=${value}`);
    const child = spawn(process.execPath, [MAIN, 'serve', ...args], {
      env: { ...process.env, SEALWRIGHT_FAULTS: faults ?? '' },
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
    checkAnswersOf(first);
    return new Service(root, first, child, output, ended);
  }

  /** Where the portal listens; throws where the settings did not ask for one (`Portal:Enabled`). */
  get portalUrl(): string {
    const url = /Portal\s+(http:\/\/127\.0\.0\.1:\d+)/.exec(this.#output.text)?.[1];
    if (url === undefined) throw new Error(`There is no portal:\n${this.#output.text}`);
    return url;
  }

  /** Everything printed so far. */
  get printed(): string {
    return this.#output.text;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.ended;
  }

  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | string> {
    this.#process.kill('SIGTERM');
    return this.ended;
  }

  /** The API key it made for itself. */
  async key(): Promise<string> {
    return (await readFile(join(this.root, 'keys', 'api-key'), 'utf8')).trim();
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      ...init,
      headers: { 'X-API-Key': await this.key(), ...init.headers },
    });
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
  async finished(id: string, seconds = 30): Promise<Job> {
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
  async idle(seconds = 60): Promise<void> {
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
  async until<Answer>(what: string, ask: () => Promise<Answer | undefined>, seconds = 30): Promise<Answer> {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      const answer = await ask();
      if (answer !== undefined) return answer;
      if (Date.now() > end)
        throw new Error(
          `waited ${seconds} s for ${what}; the service printed:\n${this.printed.slice(-4000)}`,
        );
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

export function isTerminal(status: string): boolean {
  return status === 'Completed' || status === 'Failed' || status === 'Canceled';
}

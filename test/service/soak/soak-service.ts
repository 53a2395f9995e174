/**
 * The service under soak: its folders and profiles, the portal beside it, and its runs. It is killed and stopped many
 * times; a run is the time between two starts.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pki } from '../../pki/pki.ts';
import { ScriptedPortal } from '../../remote/scripted-portal.ts';
import { Service } from '../service.ts';
import { localProfile, profile, type Settings } from '../signing/profiles.ts';
import type { Dice } from './dice.ts';

/** Input folder → profile of the same name, and what files in it are called. */
export const FOLDERS = {
  pades: '.pdf',
  xades: '.xml',
  cades: '.bin',
  sealed: '.txt',
} as const;
export type FolderName = keyof typeof FOLDERS;
export const FOLDER_NAMES = Object.keys(FOLDERS) as readonly FolderName[];

/** Profile of uploads that a person signs on the portal. */
export const REMOTE = 'portal';

/** All metrics of a run at rest, and the time they cover. */
export interface Reading {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly series: ReadonlyMap<string, number>;
}

interface Cleanup {
  teardown(task: () => unknown): void;
}

export class SoakService {
  readonly portal: ScriptedPortal;
  readonly root: string;
  readonly readings: Reading[] = [];
  readonly counts = { starts: 0, kills: 0, stops: 0, runAgain: 0 };
  /** Most memory any life was seen with, bytes. */
  mostMemory = 0;
  readonly #settings: Settings;
  readonly #cleanup: Cleanup;
  #service: Service | undefined;
  #startedAt = 0;

  private constructor(root: string, portal: ScriptedPortal, settings: Settings, cleanup: Cleanup) {
    this.root = root;
    this.portal = portal;
    this.#settings = settings;
    this.#cleanup = cleanup;
  }

  static async make(root: string, cleanup: Cleanup): Promise<SoakService> {
    const portal = await new ScriptedPortal().listen(cleanup as Parameters<ScriptedPortal['listen']>[0]);
    const signer = pki().signer('p-256');
    const profiles: Settings[] = [];
    const formats = { pades: 'Pades', xades: 'Xades', cades: 'Cades', sealed: 'Cades' } as const;
    const folders: Settings = {};
    for (const [index, name] of FOLDER_NAMES.entries()) {
      const path = join(root, 'in', name);
      await mkdir(path, { recursive: true });
      const more = { Format: formats[name], Encrypt: name === 'sealed' };
      profiles.push(await localProfile(root, index, { name, signer, members: more }));
      Object.assign(folders, {
        [`Storage:Inputs:${index}:Name`]: name,
        [`Storage:Inputs:${index}:Path`]: path,
        [`Storage:Inputs:${index}:Profile`]: name,
        [`Storage:Inputs:${index}:Recursive`]: name === 'cades',
      });
    }
    const remote = profile(FOLDER_NAMES.length, {
      Name: REMOTE,
      Format: 'Pades',
      Method: 'RemoteSigner',
      Encrypt: false,
      'RemoteSigner:Name': 'Ann Example',
      'RemoteSigner:Email': 'ann@example.org',
      'RemoteSigner:Identifier': '12345678909',
    });
    const settings = Object.assign({}, ...profiles, remote, folders, {
      'RemoteSigner:Endpoint': portal.url,
      'RemoteSigner:ApiKey': portal.apiKey,
      'RemoteSigner:PollIntervalSeconds': 1,
      'Signing:Trust:Roots:0': pki().rootFile,
      'Signing:Trust:Revocation': 'None',
      'Pipeline:MaxConcurrency': 8,
      'Encryption:Enabled': true,
      'Encryption:Password': 'nobody will guess this one',
      'Encryption:Salt': Buffer.alloc(32, 9).toString('base64'),
      'Encryption:Iterations': 10_000,
      'Hosting:ShutdownTimeoutSeconds': 30,
      'Logging:File:WriteToConsole': false,
    }) as Settings;
    return new SoakService(root, portal, settings, cleanup);
  }

  get service(): Service {
    if (this.#service === undefined) throw new Error('the service is not running');
    return this.#service;
  }

  async start(): Promise<void> {
    this.counts.starts += 1;
    this.#startedAt = Date.now();
    this.#service = await Service.start(this.#cleanup, { root: this.root, settings: this.#settings });
  }

  async kill(): Promise<void> {
    this.counts.kills += 1;
    await this.service.kill();
  }

  /** Throws when it does not end in order. */
  async stop(): Promise<void> {
    this.counts.stops += 1;
    const code = await this.service.stop();
    if (code !== 0)
      throw new Error(`a planned stop ended with ${code}:\n${this.service.printed.slice(-2000)}`);
  }

  /** Resumes, has the people on the portal decide, and waits until nothing is left to do. */
  async rest(chance: Dice, seconds: number): Promise<void> {
    const { service } = this;
    await service.json('/api/pipeline/resume', { method: 'POST' });
    await this.#runAgain();
    await service.until(
      'all jobs to end',
      async () => {
        this.decide(chance);
        const { totalCount } = await service.json<{ totalCount: number }>(
          '/api/jobs?pageSize=1&status=Queued,Processing,Verifying,AwaitingSigner',
        );
        return totalCount === 0 ? true : undefined;
      },
      seconds,
    );
    await this.#read();
  }

  /** Runs again what was set aside: kills that follow each other quickly look like work that ends the process. */
  async #runAgain(): Promise<void> {
    const { service } = this;
    for (const kind of ['job', 'job-webhook']) {
      const { items } = await service.json<{
        items: { id: string; trouble: { lastError: string | null } | null }[];
      }>(`/api/actors?kind=${kind}&stuck=true&limit=200`);
      for (const { id, trouble } of items) {
        if (!trouble?.lastError?.startsWith('effect.set-aside')) continue;
        await service.json(`/api/actors/${kind}/${id}/restart`, {
          method: 'POST',
          body: JSON.stringify({ reason: 'soak' }),
          headers: { 'content-type': 'application/json' },
        });
        this.counts.runAgain += 1;
      }
    }
  }

  /** People sign, refuse, or let it lie: each document that waits is decided once. */
  decide(chance: Dice): void {
    for (const document of this.portal.documents.values()) {
      if (document.status !== 'Pending') continue;
      if (chance.percent(85)) this.portal.conclude(document);
      else {
        document.status = chance.percent(50) ? 'Refused' : 'Expired';
        document.reason = 'so decided';
      }
    }
  }

  async #read(): Promise<void> {
    const text = await (await this.service.fetch('/api/metrics')).text();
    const series = new Map<string, number>();
    for (const line of text.split('\n')) {
      const at = line.lastIndexOf(' ');
      if (line !== '' && !line.startsWith('#')) series.set(line.slice(0, at), Number(line.slice(at + 1)));
    }
    this.mostMemory = Math.max(this.mostMemory, series.get('process_resident_memory_bytes') ?? 0);
    this.readings.push({ from: this.#startedAt, to: Date.now(), series });
  }
}

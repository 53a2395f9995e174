/**
 * Records the effects in progress in a file that outlives the process.
 *
 * Each group of effects is written to the file before it runs, without a flush: written data survives the end of the
 * process. After one crash everything runs as usual. After a second crash in a row, the effects that were in progress
 * at both run one at a time, before all others; an effect during which the process crashes again is quarantined: it
 * does not run until an operator releases it.
 */
import { closeSync, constants, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ActorAddress, EffectKey, StoredEffect } from './ports.ts';

/** An effect as the file records it. */
export interface MarkedEffect {
  readonly key: EffectKey;
  readonly actor: ActorAddress;
  readonly do: string;
}

interface Contents {
  /** Crashes in a row with effects in progress. */
  readonly deaths: number;
  readonly running: readonly MarkedEffect[];
  readonly suspects: readonly MarkedEffect[];
  /** True while one suspect runs alone. */
  readonly alone: boolean;
  readonly setAside: readonly MarkedEffect[];
}

/** Bytes of earlier records that may stay behind the newest one. */
const MAX_LEFT_BYTES = 64 * 1024;

const EMPTY: Contents = { deaths: 0, running: [], suspects: [], alone: false, setAside: [] };

export class CrashJournal {
  readonly #file: number;
  /** The text of each effect in progress. */
  readonly #running = new Map<EffectKey, string>();
  #deaths: number;
  #suspects: readonly MarkedEffect[];
  #alone = false;
  #setAside: readonly MarkedEffect[];
  #writing: NodeJS.Immediate | undefined;
  #isClosed = false;
  #hasFailed = false;
  readonly #failed: (error: unknown) => void;
  /** Length of the file, bytes. */
  #length = Number.POSITIVE_INFINITY;
  /** The quarantined effect: the last process crashed while it ran alone. */
  readonly newlySetAside: MarkedEffect | undefined;

  /**
   * @param path path of the file; its folder is created
   * @param failed called once when the file cannot be written; effects still run
   */
  constructor(path: string, failed: (error: unknown) => void) {
    this.#failed = failed;
    mkdirSync(dirname(path), { recursive: true });
    const last = read(path);
    // Not in append mode, which ignores positions, and without truncating the file.
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o640);
    this.#deaths = last.running.length === 0 ? 0 : last.deaths + 1;
    const [only] = last.running;
    this.newlySetAside = last.alone && last.running.length === 1 ? only : undefined;
    this.#setAside = this.newlySetAside ? [...last.setAside, this.newlySetAside] : last.setAside;
    this.#suspects = suspectsAfter(last, this.newlySetAside);
    this.#write();
  }

  /** Effects to run one at a time before all others. */
  get suspects(): readonly MarkedEffect[] {
    return this.#deaths >= 2 || this.newlySetAside !== undefined ? this.#suspects : [];
  }

  get setAside(): readonly MarkedEffect[] {
    return this.#setAside;
  }

  isSetAside(key: EffectKey): boolean {
    return this.#setAside.some((one) => one.key === key);
  }

  /** Records a group of effects before it runs. */
  begin(effects: readonly StoredEffect[]): void {
    if (effects.length === 0) return;
    for (const { key, actor, effect } of effects)
      this.#running.set(key, JSON.stringify({ key, actor, do: effect.do } satisfies MarkedEffect));
    this.#write();
  }

  /** The record is written with those of the next group, or in the next turn of the event loop. */
  end(key: EffectKey): void {
    this.#running.delete(key);
    this.#acquit(key);
    this.#writing ??= setImmediate(() => this.#write());
  }

  /** Records one suspect that runs alone. */
  beginAlone(effect: StoredEffect): void {
    this.#alone = true;
    this.begin([effect]);
  }

  /** The suspects have run, or no longer exist. */
  endTrial(): void {
    this.#alone = false;
    this.#suspects = [];
    this.#deaths = 0;
    this.#write();
  }

  /** Releases the quarantined effects of an actor. @returns their keys */
  release({ kind, id }: ActorAddress): readonly EffectKey[] {
    const released = this.#setAside.filter(({ actor }) => actor.kind === kind && actor.id === id);
    this.#setAside = this.#setAside.filter((one) => !released.includes(one));
    this.#write();
    return released.map(({ key }) => key);
  }

  /** Records an orderly stop: the remaining effects are not suspects. */
  close(): void {
    if (this.#isClosed) return;
    this.#running.clear();
    this.#suspects = [];
    this.#alone = false;
    this.#deaths = 0;
    this.#write();
    this.#isClosed = true;
    closeSync(this.#file);
  }

  #acquit(key: EffectKey): void {
    if (this.#suspects.length === 0) return;
    this.#suspects = this.#suspects.filter((one) => one.key !== key);
    if (this.#suspects.length === 0) this.#deaths = 0;
  }

  #write(): void {
    if (this.#writing !== undefined) clearImmediate(this.#writing);
    this.#writing = undefined;
    if (this.#isClosed) return;
    const others: Omit<Contents, 'running'> = {
      deaths: this.#deaths,
      suspects: this.#suspects,
      alone: this.#alone,
      setAside: this.#setAside,
    };
    const running = [...this.#running.values()].join();
    const bytes = Buffer.from(`${JSON.stringify(others).slice(0, -1)},"running":[${running}]}\n`);
    try {
      // What is left of a longer record follows the end of the line, and is not read.
      writeSync(this.#file, bytes, 0, bytes.length, 0);
      if (bytes.length + MAX_LEFT_BYTES < this.#length) {
        ftruncateSync(this.#file, bytes.length);
        this.#length = bytes.length;
      }
      this.#length = Math.max(this.#length, bytes.length);
    } catch (error) {
      if (!this.#hasFailed) this.#failed(error);
      this.#hasFailed = true;
    }
  }
}

/**
 * Returns the effects in progress at this crash that were also in progress at the previous one; all of them if there
 * are none.
 */
function suspectsAfter(last: Contents, setAside: MarkedEffect | undefined): readonly MarkedEffect[] {
  if (setAside !== undefined) return last.suspects.filter(({ key }) => key !== setAside.key);
  if (last.running.length === 0) return [];
  const before = new Set(last.suspects.map(({ key }) => key));
  const both = last.running.filter(({ key }) => before.has(key));
  return both.length === 0 ? last.running : both;
}

/** A missing or unreadable file means an orderly stop. */
function read(path: string): Contents {
  try {
    const [line = ''] = readFileSync(path, 'utf8').split('\n', 1);
    return { ...EMPTY, ...(JSON.parse(line) as Partial<Contents>) };
  } catch {
    return EMPTY;
  }
}

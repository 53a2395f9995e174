/**
 * Records the effects in progress in a file that outlives the process.
 *
 * Each group of effects is written to the file before it runs, without a flush: written data survives the end of the
 * process. After one crash everything runs as usual. After a second crash in a row, the effects that were in progress
 * at both are isolated: they run one at a time, beside all others. If the process crashes during one of them, that one
 * runs first and alone after the next start; if it crashes again, the effect is quarantined: it does not run until an
 * operator releases it.
 *
 * An effect that is set aside stays stored, is listed among the failed ones, and runs again after the next start, which
 * may be of a program without the fault, or when an operator asks.
 */
import { closeSync, constants, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ActorAddress, EffectKey, StoredEffect } from '../model/ports.ts';

/** Pause, milliseconds: ten years. The next start shortens it; see `latestDue`. */
export const SET_ASIDE_MS = 3650 * 24 * 3_600_000;

/** Wraps the error after which an effect is set aside. */
export class SetAside extends Error {
  override readonly cause: unknown;
  constructor(cause: unknown) {
    super('The effect is set aside.');
    this.cause = cause;
  }
}

/** An effect as the file records it. */
export interface MarkedEffect {
  readonly key: EffectKey;
  readonly actor: ActorAddress;
  readonly do: string;
}

/** Contents of the file. Earlier versions of the program wrote the same members. */
interface Contents {
  /** Crashes in a row with effects in progress. */
  readonly deaths: number;
  readonly running: readonly MarkedEffect[];
  /** Effects in progress at the last crash, or isolated ones, that have not ended since. */
  readonly suspects: readonly MarkedEffect[];
  /** True while one effect runs and no other. */
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
  /** Crashes in a row with effects in progress. */
  #crashes: number;
  /** Effects in progress at the last crash, or isolated ones, that have not ended since. */
  #unfinished: readonly MarkedEffect[];
  #isExclusive = false;
  #setAside: readonly MarkedEffect[];
  #writing: NodeJS.Immediate | undefined;
  #isClosed = false;
  #hasFailed = false;
  readonly #failed: (error: unknown) => void;
  /** Length of the file, bytes. */
  #length = Number.POSITIVE_INFINITY;
  /** The quarantined effect: the last process crashed while it ran alone. */
  readonly newlySetAside: MarkedEffect | undefined;
  /** The effect to run before all others, and alone: the last process crashed while it was isolated. */
  readonly exclusive: MarkedEffect | undefined;

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
    this.#crashes = last.running.length === 0 ? 0 : last.deaths + 1;
    const [only] = last.running;
    this.newlySetAside = last.alone && last.running.length === 1 ? only : undefined;
    this.#setAside = this.newlySetAside ? [...last.setAside, this.newlySetAside] : last.setAside;
    const again = last.running.filter(({ key }) => last.suspects.some((one) => one.key === key));
    // Several, where one took longer than others wait for it: the one that began last.
    if (this.newlySetAside === undefined && last.deaths >= 2) this.exclusive = again.at(-1);
    const ran = this.newlySetAside ?? this.exclusive;
    if (ran !== undefined) this.#unfinished = last.suspects.filter(({ key }) => key !== ran.key);
    else this.#unfinished = again.length > 0 ? again : last.running;
    if (this.exclusive !== undefined) this.#unfinished = [this.exclusive, ...this.#unfinished];
    this.#write();
  }

  /** Effects that run one at a time. */
  get isolated(): readonly MarkedEffect[] {
    return this.#crashes >= 2 ? this.#unfinished : [];
  }

  isIsolated(key: EffectKey): boolean {
    return this.isolated.some((one) => one.key === key);
  }

  isRunning(key: EffectKey): boolean {
    return this.#running.has(key);
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
    this.#forgive(this.#unfinished.filter((one) => one.key === key));
    this.#writing ??= setImmediate(() => this.#write());
  }

  /** Records that one effect runs and no other. */
  beginExclusive(effect: StoredEffect): void {
    this.#isExclusive = true;
    this.begin([effect]);
  }

  /**
   * Records that others run from now on. If the effect has ended, the crashes had another cause: counting starts anew.
   */
  endExclusive(): void {
    this.#isExclusive = false;
    if (this.exclusive !== undefined && !this.isIsolated(this.exclusive.key)) this.#forgive(this.#unfinished);
    this.#write();
  }

  /** Records that effects no longer exist. */
  forget(keys: ReadonlySet<EffectKey>): void {
    this.#forgive(this.#unfinished.filter(({ key }) => keys.has(key)));
    this.#write();
  }

  /** Releases the quarantined effects of an actor. @returns their keys */
  release({ kind, id }: ActorAddress): readonly EffectKey[] {
    const released = this.#setAside.filter(({ actor }) => actor.kind === kind && actor.id === id);
    this.#setAside = this.#setAside.filter((one) => !released.includes(one));
    this.#write();
    return released.map(({ key }) => key);
  }

  /** Records an orderly stop: the remaining effects caused no crash. */
  close(): void {
    if (this.#isClosed) return;
    this.#running.clear();
    this.#unfinished = [];
    this.#isExclusive = false;
    this.#crashes = 0;
    this.#write();
    this.#isClosed = true;
    closeSync(this.#file);
  }

  #forgive(effects: readonly MarkedEffect[]): void {
    if (effects.length === 0) return;
    this.#unfinished = this.#unfinished.filter((one) => !effects.includes(one));
    if (this.#unfinished.length === 0) this.#crashes = 0;
  }

  #write(): void {
    if (this.#writing !== undefined) clearImmediate(this.#writing);
    this.#writing = undefined;
    if (this.#isClosed) return;
    const others: Omit<Contents, 'running'> = {
      deaths: this.#crashes,
      suspects: this.#unfinished,
      alone: this.#isExclusive,
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

/** A missing or unreadable file means an orderly stop. */
function read(path: string): Contents {
  try {
    const [line = ''] = readFileSync(path, 'utf8').split('\n', 1);
    return { ...EMPTY, ...(JSON.parse(line) as Partial<Contents>) };
  } catch {
    return EMPTY;
  }
}

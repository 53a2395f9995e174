/** What a benchmark is: a question, what bounds the answer, and a run that tells figures. The frame does the rest. */
import type { Clock } from '../../runtime/index.ts';

export const PROFILES = ['engine', 'batch', 'portal', 'runtime', 'http'] as const;
export type Profile = (typeof PROFILES)[number];

export interface Bench {
  /** As it is called in the catalogue. */
  readonly name: string;
  /** What the figures answer, in a sentence. */
  readonly question: string;
  /** What the figures are held against, in words; each is measured in the same run. */
  readonly limits: readonly string[];
  /** Tells its figures as it gets them. Rejects when an output does not verify, or when nothing can be measured. */
  run(context: BenchContext): Promise<void>;
}

/** What a benchmark is given, in a process of its own. */
export interface BenchContext {
  readonly settings: BenchSettings;
  readonly clock: Clock;
  /** A fresh folder, gone when the process ends. @param below @default `settings.folder` */
  room(below?: string): string;
  /** @param label what is done now @param done steps of `of` that are behind us */
  progress(label: string, done: number, of: number): void;
  limit(limit: Limit): void;
  /** Its limit, if it names one, is told before it. */
  figure(figure: Figure): void;
  /** So many outputs were looked at and found good. @param by who looked, such as `pdfsig` */
  verified(by: string, outputs: number): void;
  /** Another process that was started for the run, and has ended, used so much. */
  spent(spent: Spent): void;
}

export interface BenchSettings {
  /** Seconds each figure is measured for, after a warm-up. Above 0. @default 1, with `quick` 0.2 */
  readonly seconds: number;
  /** Few cases and small numbers: shows that everything runs, not what it costs. */
  readonly quick: boolean;
  /** Only the cases that have all words of one of these; all when empty. */
  readonly only: readonly string[];
  /** On the disk that is measured. @default the folder the program was started in */
  readonly folder: string;
  /** Documents that are stored before lists and details are asked for. */
  readonly documents: number;
  /** Files that go through the pipeline or lie in a folder. */
  readonly files: number;
  /** Spoils one output before it is verified, for seeing that such a run fails. */
  readonly damage: boolean;
}

/** `/s`: operations a second; `/CPU s`: operations in a second of processor time; `×`: how many times as much. */
export type Unit = '/s' | '/CPU s' | 'MiB/s' | 'MiB/CPU s' | '×' | '%' | 's' | 'ms' | 'µs' | 'MiB' | 'count';

export interface Limit {
  readonly name: string;
  readonly value: number;
  readonly unit: Unit;
}

export interface Figure {
  /** Unique in its benchmark; two runs are compared by it. */
  readonly name: string;
  readonly value: number;
  readonly unit: Unit;
  readonly better: 'more' | 'less';
  /** Name of the limit it is a share of; both have the same unit. */
  readonly limit?: string;
  readonly aim?: Aim;
  readonly latency?: Latency;
  /** Of one operation. */
  readonly cpu?: Cpu;
}

/**
 * What is wanted of a figure, its share of the limit, or its slowest percent; `source` says who wants it. A share is the
 * greater the better, also of figures that should be small: twice the time of the limit is a share of a half.
 */
export type Aim = { readonly source: string } & (
  | { readonly of: 'value' | 'share' | 'p50' | 'p99'; readonly atLeast: number }
  | { readonly of: 'value' | 'p50' | 'p99'; readonly atMost: number }
);

/** Milliseconds. */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly longest: number;
  /** Operations a second that were due, where they came at a fixed rate; then each counts from when it was due. */
  readonly rate?: number;
  /** Operations that were told to come again later; `count` and times are of the others. */
  readonly refused?: number;
}

/** Milliseconds of processor time. */
export interface Cpu {
  readonly user: number;
  readonly system: number;
}

export interface Spent extends Cpu {
  /** Largest resident size, MiB. */
  readonly peak: number;
}

/** An output that is no good; the run fails with exit code 1. */
export class Unverified extends Error {
  readonly code = 'bench.unverified';
}

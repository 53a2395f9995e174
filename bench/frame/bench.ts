/** Definition of a benchmark: a question, limits, and a run that reports figures. */
import type { Clock } from '@sealwright/runtime';

export const PROFILES = ['engine', 'batch', 'portal', 'pages', 'runtime', 'http'] as const;
export type Profile = (typeof PROFILES)[number];

export interface Bench {
  /** Name in the catalogue. */
  readonly name: string;
  /** Question that the figures answer, in one sentence. */
  readonly question: string;
  /** Limits that the figures are compared with, in words; each is measured in the same run. */
  readonly limits: readonly string[];
  /**
   * Reports figures as they are measured. Rejects when an output does not verify, or when measuring is impossible.
   */
  run(context: BenchContext): Promise<void>;
}

/** Context of a benchmark in its process. */
export interface BenchContext {
  readonly settings: BenchSettings;
  readonly clock: Clock;
  /** Creates a folder that is removed when the process ends. @param below @default `settings.folder` */
  temporaryFolder(below?: string): string;
  /** Reports progress. @param label current activity @param done completed steps of `of` */
  progress(label: string, done: number, of: number): void;
  limit(name: string, value: number, unit: Unit): void;
  /**
   * Reports a figure; its limit, if it names one, must be reported before.
   * @param details `better` is by default `more` for rates, otherwise `less`
   */
  figure(name: string, value: number, unit: Unit, details?: FigureDetails): void;
  /** Reports verified outputs. @param by verifier, such as `pdfsig` */
  verified(by: string, outputs: number): void;
  /** Reports the resource use of a process that was started for the run and has ended. */
  spent(spent: Spent): void;
}

export interface BenchSettings {
  /** Seconds each figure is measured for, after a warm-up. Above 0. @default 1, with `quick` 0.2 */
  readonly seconds: number;
  /** Few cases and small numbers: a smoke test without meaningful figures. */
  readonly quick: boolean;
  /** Selects cases that have all words of one of these filters; all when empty. */
  readonly only: readonly string[];
  /** Folder on the measured disk. @default the folder the program was started in */
  readonly folder: string;
  /** Number of stored documents before lists and details are requested. */
  readonly documents: number;
  /** Number of files in the pipeline or in a folder. */
  readonly files: number;
  /** Damages one output before verification, to test that such a run fails. */
  readonly damage: boolean;
}

/** `/s`: operations per second; `/CPU s`: operations per second of processor time; `×`: factor. */
export type Unit =
  | '/s'
  | '/CPU s'
  | 'MiB/s'
  | 'MiB/CPU s'
  | '×'
  | '%'
  | 's'
  | 'ms'
  | 'µs'
  | 'MiB'
  | 'KiB'
  | 'count';

export interface Limit {
  readonly name: string;
  readonly value: number;
  readonly unit: Unit;
}

export interface Figure {
  /** Name, unique in its benchmark; runs are compared by it. */
  readonly name: string;
  readonly value: number;
  readonly unit: Unit;
  readonly better: 'more' | 'less';
  /** Name of the limit for the share; both have the same unit. */
  readonly limit?: string;
  readonly aim?: Aim;
  readonly latency?: Latency;
  /** Processor time of one operation. */
  readonly cpu?: Cpu;
}

export type FigureDetails = Partial<Omit<Figure, 'name' | 'value' | 'unit'>>;

/**
 * Target of a figure, of its share of the limit, or of its 99th percentile; `source` names the requirement. Greater
 * shares are better, also for figures that should be small: twice the time of the limit is a share of one half.
 */
export type Aim = { readonly source: string } & (
  | { readonly of: 'value' | 'share' | 'p50' | 'p99'; readonly atLeast: number }
  | { readonly of: 'value' | 'p50' | 'p99'; readonly atMost: number }
);

/** Latency in milliseconds. */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly longest: number;
  /** Operations due per second at a fixed rate; each is measured from its due time. */
  readonly rate?: number;
  /** Operations refused with a request to retry; `count` and times are of the others. */
  readonly refused?: number;
}

/** Processor time in milliseconds. */
export interface Cpu {
  readonly user: number;
  readonly system: number;
}

export interface Spent extends Cpu {
  /** Largest resident size, MiB. */
  readonly peak: number;
}

/** An invalid output; the run fails with exit code 1. */
export class Unverified extends Error {
  readonly code = 'bench.unverified';
}

/** Request to the process. */
export interface Order {
  readonly name: string;
  readonly settings: BenchSettings;
}

/** Messages from the process in order; `ended` is the last. */
export type BenchMessage =
  | { readonly type: 'begun'; readonly question: string; readonly against: readonly string[] }
  | { readonly type: 'progress'; readonly label: string; readonly done: number; readonly of: number }
  | { readonly type: 'limit'; readonly limit: Limit }
  | { readonly type: 'figure'; readonly figure: Figure }
  | { readonly type: 'verified'; readonly by: string; readonly outputs: number }
  | { readonly type: 'spent'; readonly spent: Spent }
  | { readonly type: 'ended'; readonly spent: Spent; readonly failure?: Failure };

export interface Failure {
  /** `bench.unverified` for an invalid output. */
  readonly code: string;
  readonly message: string;
}

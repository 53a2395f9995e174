/** Result of a run: printed, stored as JSON, and compared with others. */
import { z } from 'zod';
import type { Aim, BenchSettings, Failure, Figure, Limit, Spent } from './bench.ts';
import type { BenchEnvironment } from './machine.ts';

const FORMAT = 'sealwright-bench/1';

export interface Report extends BenchEnvironment {
  readonly format: typeof FORMAT;
  /** Settings without the folder, since results are published. */
  readonly settings: Omit<BenchSettings, 'folder'>;
  readonly benches: readonly BenchReport[];
}

export interface BenchReport {
  readonly name: string;
  readonly profile: string;
  readonly question: string;
  /** Limits of the figures, in words. */
  readonly against: readonly string[];
  readonly failure?: Failure;
  /** Wall-clock seconds of the whole run. */
  readonly seconds: number;
  /** Load average of the machine over the minute before, and over the last minute of the run, which is part of it. */
  readonly load: { readonly before: number; readonly after: number };
  /** Resource use of all processes of the run, preparation included. */
  readonly spent: Spent;
  readonly limits: readonly Limit[];
  readonly figures: readonly JudgedFigure[];
  /** Number of verified outputs, by verifier. */
  readonly verified: { readonly [by: string]: number };
}

export interface JudgedFigure extends Figure {
  /** Share of the limit; 1 equals the limit, whether more or less is better. */
  readonly share?: number;
  /** True when the target is met; absent without a target or limit. */
  readonly met?: boolean;
}

export function reportOf(
  circumstances: BenchEnvironment,
  { folder: _, ...settings }: BenchSettings,
  benches: readonly BenchReport[],
): Report {
  return { format: FORMAT, ...circumstances, settings, benches };
}

/**
 * Compares a figure with its limit and its target.
 * @param quick omits the target: figures of a quick run are not meaningful
 */
export function judged(figure: Figure, limits: readonly Limit[], quick = false): JudgedFigure {
  const limit = limits.find(({ name }) => name === figure.limit);
  const share = limit && (figure.better === 'more' ? figure.value / limit.value : limit.value / figure.value);
  const finite = share !== undefined && Number.isFinite(share) ? share : undefined;
  const met = quick ? undefined : figure.aim && isMet(figure.aim, figure, finite);
  return { ...figure, ...(finite !== undefined && { share: finite }), ...(met !== undefined && { met }) };
}

function isMet(aim: Aim, figure: Figure, share: number | undefined): boolean | undefined {
  const reached = { value: figure.value, share, p50: figure.latency?.p50, p99: figure.latency?.p99 }[aim.of];
  if (reached === undefined) return undefined;
  return 'atLeast' in aim ? reached >= aim.atLeast : reached <= aim.atMost;
}

/** Schema of the compared parts of a report; other members pass. */
const compared = z.looseObject({
  format: z.literal(FORMAT),
  date: z.string(),
  commit: z.string(),
  node: z.string(),
  machine: z.looseObject({ cpu: z.string(), threads: z.number() }),
  settings: z.looseObject({ seconds: z.number(), quick: z.boolean() }),
  benches: z.array(
    z.looseObject({
      name: z.string(),
      limits: z.array(z.looseObject({ name: z.string(), value: z.number(), unit: z.string() })),
      figures: z.array(
        z.looseObject({
          name: z.string(),
          value: z.number(),
          unit: z.string(),
          better: z.enum(['more', 'less']),
          limit: z.string().optional(),
          share: z.number().optional(),
          latency: z.looseObject({ p99: z.number(), rate: z.number().optional() }).optional(),
        }),
      ),
    }),
  ),
});
export type ComparedReport = z.infer<typeof compared>;

/** Parses a stored report; undefined when it is not a result of this program. */
export function parseReport(text: string): ComparedReport | undefined {
  try {
    return compared.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

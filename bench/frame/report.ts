/** The result of a run, as it is printed, kept as JSON and compared with another. */
import { z } from 'zod';
import type { Aim, BenchSettings, Figure, Limit, Spent } from './bench.ts';
import type { Circumstances } from './machine.ts';
import type { Failure } from './wire.ts';

const FORMAT = 'sealwright-bench/1';

export interface Report extends Circumstances {
  readonly format: typeof FORMAT;
  /** Without the folder: results are shown to others, and a path says nothing to them. */
  readonly settings: Omit<BenchSettings, 'folder'>;
  readonly benches: readonly BenchReport[];
}

export interface BenchReport {
  readonly name: string;
  readonly profile: string;
  readonly question: string;
  /** What the figures are held against, in words. */
  readonly against: readonly string[];
  readonly failure?: Failure;
  /** Of the clock, everything included. */
  readonly seconds: number;
  /** By all processes that are ours, the preparations included. */
  readonly spent: Spent;
  readonly limits: readonly Limit[];
  readonly figures: readonly JudgedFigure[];
  /** Outputs found good, by who looked. */
  readonly verified: { readonly [by: string]: number };
}

export interface JudgedFigure extends Figure {
  /** Of the limit; 1 is as good as the limit itself, whether more or less is better. */
  readonly share?: number;
  /** Whether the aim is met; absent where there is none, or nothing to judge it by. */
  readonly met?: boolean;
}

export function reportOf(
  circumstances: Circumstances,
  { folder: _, ...settings }: BenchSettings,
  benches: readonly BenchReport[],
): Report {
  return { format: FORMAT, ...circumstances, settings, benches };
}

/**
 * Holds a figure against its limit and its aim.
 * @param quick then nothing is said of the aim: the figure is not worth it
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

/** As much of a report as comparing needs; the rest is let through. */
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

/** Reads what was kept; undefined when it is no result of this program. */
export function parseReport(text: string): ComparedReport | undefined {
  try {
    return compared.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

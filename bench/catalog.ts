/** Catalogue of the benchmarks. */
import type { Bench, Profile } from './frame/bench.ts';

interface Entry {
  readonly profile: Profile;
  /** Runs only with `--store postgres`. @default lmdb */
  readonly store?: 'postgres';
  load(): Promise<{ readonly bench: Bench }>;
}

export const CATALOG = {
  engine: { profile: 'engine', load: () => import('./engine.ts') },
  scaling: { profile: 'engine', load: () => import('./engine-scaling.ts') },
  large: { profile: 'engine', load: () => import('./large.ts') },
  pipeline: { profile: 'batch', load: () => import('./pipeline.ts') },
  'key-service': { profile: 'batch', load: () => import('./key-service.ts') },
  costs: { profile: 'runtime', load: () => import('./costs.ts') },
  step: { profile: 'runtime', load: () => import('./step.ts') },
  postgres: { profile: 'runtime', store: 'postgres', load: () => import('./postgres.ts') },
  lists: { profile: 'runtime', load: () => import('./lists.ts') },
  shards: { profile: 'runtime', load: () => import('./shards.ts') },
  inspection: { profile: 'runtime', load: () => import('./inspection.ts') },
  'live-pages': { profile: 'http', load: () => import('./live-pages.ts') },
  http: { profile: 'http', load: () => import('./requests.ts') },
  overload: { profile: 'http', load: () => import('./overload.ts') },
  portal: { profile: 'portal', load: () => import('./portal.ts') },
  'first-page': { profile: 'pages', load: () => import('./first-page.ts') },
} as const satisfies { readonly [name: string]: Entry };

export type BenchName = keyof typeof CATALOG;

export const BENCH_NAMES = Object.keys(CATALOG) as readonly BenchName[];

export function isBenchName(name: string): name is BenchName {
  return Object.hasOwn(CATALOG, name);
}

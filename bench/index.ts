/** Exports of the benchmarks for the command line. */

export type { Screen } from '../logging/progress.ts';
export { BENCH_NAMES, type BenchName, CATALOG, isBenchName } from './catalog.ts';
export { type BenchSettings, PROFILES } from './frame/bench.ts';
export { parseReport, reportOf } from './frame/bench-report.ts';
export { compareReports, comparisonText } from './frame/compare.ts';
export { circumstances } from './frame/machine.ts';
export { benchText, circumstancesText } from './frame/report-text.ts';
export { runBench } from './run.ts';

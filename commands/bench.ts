/**
 * `sealwright bench`: measures the program beside the limits of this machine, or compares two
 * kept results.
 *
 * Source: docs/operations.md.
 */
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeFailure } from '@sealwright/runtime/core';
import {
  BENCH_NAMES,
  type BenchName,
  type BenchSettings,
  benchText,
  CATALOG,
  circumstances,
  circumstancesText,
  compareReports,
  comparisonText,
  isBenchName,
  PROFILES,
  parseReport,
  reportOf,
  runBench,
} from '../bench/index.ts';
import { escapeControls } from '../logging.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { CommandContext, Terminal } from './terminal.ts';

export interface BenchOptions {
  readonly profile: readonly string[];
  /** Store whose benchmarks run: those of PostgreSQL need a server. @default lmdb */
  readonly store?: 'lmdb' | 'postgres';
  readonly seconds?: number;
  readonly quick: boolean;
  readonly only: readonly string[];
  readonly folder: string;
  readonly documents?: number;
  readonly files?: number;
  readonly json?: string;
  /** Two files. */
  readonly compare?: readonly string[];
  readonly damage: boolean;
}

/** Default measurements: complete and quick. */
const DEFAULT_SECONDS = { seconds: 1, documents: 100_000, files: 5_000 } as const;
const QUICK = { seconds: 0.2, documents: 500, files: 100 } as const;

type BenchContext = Pick<CommandContext, 'terminal' | 'live' | 'clock'>;

/** @param names benchmarks; all of the profiles when empty, all there are when there are no profiles either */
export async function benchCommand(
  names: readonly string[],
  options: BenchOptions,
  context: BenchContext,
): Promise<ExitCode> {
  const { terminal } = context;
  if (options.compare !== undefined) return compare(options.compare, terminal);
  const profile = names.find((name) => !isBenchName(name) && isProfile(name));
  if (profile !== undefined) {
    refuse(terminal, `${profile} is a profile, not a benchmark: --profile ${profile}`);
    return EXIT.refused;
  }
  const unknown = [
    ...names.filter((name) => !isBenchName(name)),
    ...options.profile.filter((name) => !isProfile(name)),
  ];
  if (unknown.length > 0) {
    const available = PROFILES.map((profile) => `  ${profile.padEnd(8)} ${benchesOf([profile]).join(', ')}`);
    refuse(
      terminal,
      `there is no benchmark or profile ${unknown.join(', ')}. Profiles and their benchmarks:\n${available.join('\n')}`,
    );
    return EXIT.refused;
  }
  const settings = settingsOf(options);
  try {
    accessSync(settings.folder, constants.W_OK);
    // Before an hour of measuring, not after it.
    if (options.json !== undefined) writeFileSync(options.json, '', { flag: 'a' });
  } catch (error) {
    refuse(terminal, describeFailure(error).message);
    return EXIT.unavailable;
  }
  return measure(chosen(names, options.profile, options.store), settings, options.json, context);
}

function isProfile(name: string): boolean {
  return PROFILES.some((profile) => profile === name);
}

function chosen(
  names: readonly string[],
  profiles: readonly string[],
  store: BenchOptions['store'],
): readonly BenchName[] {
  const ofProfiles = benchesOf(profiles);
  const available = BENCH_NAMES.filter((name) => names.includes(name) || storeOf(name) === (store ?? 'lmdb'));
  const selected = available.filter((name) => names.includes(name) || ofProfiles.includes(name));
  return selected.length > 0 ? selected : available;
}

function storeOf(name: BenchName): 'lmdb' | 'postgres' {
  return 'store' in CATALOG[name] ? 'postgres' : 'lmdb';
}

function benchesOf(profiles: readonly string[]): readonly BenchName[] {
  return BENCH_NAMES.filter((name) => profiles.includes(CATALOG[name].profile));
}

function settingsOf({ quick, only, folder, damage, ...options }: BenchOptions): BenchSettings {
  const { seconds, documents, files } = quick ? QUICK : DEFAULT_SECONDS;
  return {
    quick,
    only,
    damage,
    folder: resolve(folder),
    seconds: options.seconds ?? seconds,
    documents: options.documents ?? documents,
    files: options.files ?? files,
  };
}

async function measure(
  names: readonly BenchName[],
  settings: BenchSettings,
  json: string | undefined,
  { terminal, live, clock }: BenchContext,
): Promise<ExitCode> {
  const around = circumstances(clock.now());
  terminal.out(circumstancesText(around));
  const screen = { out: terminal.out, err: terminal.err, live };
  const benches = [];
  for (const name of names) {
    const report = await runBench(name, settings, { screen, clock });
    benches.push(report);
    terminal.out(escapeLines(benchText(report)));
    if (json !== undefined)
      writeFileSync(json, `${JSON.stringify(reportOf(around, settings, benches), null, 2)}\n`);
  }
  const failed = benches.filter(({ failure }) => failure !== undefined).map(({ name }) => name);
  if (failed.length > 0) refuse(terminal, `failed: ${failed.join(', ')}.`);
  return failed.length > 0 ? EXIT.failed : EXIT.good;
}

function compare(files: readonly string[], terminal: Terminal): ExitCode {
  const [one, other, ...more] = files;
  if (one === undefined || other === undefined || more.length > 0) {
    refuse(terminal, '--compare takes two files.');
    return EXIT.refused;
  }
  const reports = [];
  for (const file of [one, other]) {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      refuse(terminal, describeFailure(error).message);
      return EXIT.unavailable;
    }
    const report = parseReport(text);
    if (report === undefined) {
      refuse(terminal, `${file} was not written by this command (--json).`);
      return EXIT.refused;
    }
    reports.push(report);
  }
  const [before, after] = reports;
  if (before && after)
    terminal.out(escapeLines(comparisonText(compareReports(before, after), before, after)));
  return EXIT.good;
}

function refuse(terminal: Terminal, text: string): void {
  terminal.err(`sealwright bench: ${escapeLines(text)}\n`);
}

/** Escapes control characters except line ends: names in a table may come from a foreign file. */
function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}

/** `sealwright bench` as the command line has it. */
import { Option } from 'commander';
import type { BenchOptions } from '../bench.ts';
import { collect, parseCount, parseSeconds } from '../option-values.ts';
import type { CommandLine } from './command-line.ts';

const BENCH_HELP = `
Each figure is printed beside its limit, measured in the same run; docs/benchmarks.md explains both.
Exit codes: 0 success, 1 an output does not verify or a benchmark failed, 2 usage, 3 a file or folder is not available.`;

export function addBench(line: CommandLine): void {
  line.program
    .command('bench')
    .description('measure the program, and the limits of this machine beside it')
    .argument('[bench...]', 'benchmarks; an unknown name lists all (default: all, or those of the profiles)')
    .option(
      '--profile <profile>',
      'benchmarks of engine, batch, portal, runtime or http; may be repeated',
      collect,
      [],
    )
    .addOption(
      new Option('--store <store>', 'postgres measures the server of SEALWRIGHT_POSTGRES_URL').choices([
        'lmdb',
        'postgres',
      ]),
    )
    .option('--seconds <number>', 'seconds for each measurement, after a warm-up (default: 1)', parseSeconds)
    .option('--quick', 'few cases with small numbers, 0.2 s each: checks that the benchmarks run', false)
    .option('--only <words>', 'cases with all these words, such as "Pades B"; may be repeated', collect, [])
    .option('--folder <folder>', 'folder on the disk to measure', '.')
    .option('--documents <number>', 'stored documents while lists are measured (default: 100000)', parseCount)
    .option('--files <number>', 'files in an input folder (default: 5000)', parseCount)
    .option('--json <file>', 'write the result to this file')
    .option('--compare <files...>', 'compare two written results instead, the earlier one first')
    .option('--damage', 'damage one output, to prove that the run then fails', false)
    .addHelpText('after', BENCH_HELP)
    .action(
      line.action(async (names: string[], options: BenchOptions) => {
        const { benchCommand } = await import('../bench.ts');
        return benchCommand(names, options, line);
      }),
    );
}

/**
 * Runs the benchmarks, each in a process of its own, and keeps what they print.
 *
 *   npm run bench                     all of them
 *   npm run bench -- pipeline http    some of them
 *   npm run bench -- --save pipeline  and write bench/results/pipeline.txt
 *   npm run bench -- engine -- --only "Pades B"   what follows the second -- goes to the benchmark itself
 *
 * Ratios hold within one run; figures of two runs on a shared machine do not compare.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** Each with the question it answers. */
const BENCHES = {
  engine: 'files signed and validated a second on one core, by format, level and size, beside openssl',
  large: 'time and memory of very large files, beside sha256sum',
  step: 'durable steps a second of the runtime, beside plain LMDB',
  http: 'requests a second, beside a bare server',
  'crowded-folder': 'a folder with 100,000 files: queued, started over, rescanned',
  watch: 'how soon 10,000 dropped files are seen',
  portal: 'flows a second over HTTP, and lists and details over very many documents',
  pipeline: 'signed files a second from a watched folder, beside the bare loop',
} as const;

type Bench = keyof typeof BENCHES;

const words = process.argv.slice(2);
const border = words.indexOf('--');
/** For the benchmarks themselves. */
const own = border < 0 ? [] : words.slice(border + 1);

const { values, positionals } = parseArgs({
  args: border < 0 ? words : words.slice(0, border),
  allowPositionals: true,
  options: { save: { type: 'boolean', default: false } },
});
const unknown = positionals.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  console.error(`No benchmark is called ${unknown.join(', ')}. There are:`);
  for (const [name, question] of Object.entries(BENCHES)) console.error(`  ${name.padEnd(9)} ${question}`);
  process.exit(2);
}

const head = circumstances();
console.log(head);
let failed = 0;
for (const name of (positionals.length > 0 ? positionals : Object.keys(BENCHES)) as Bench[]) {
  console.log(`\n## ${name}: ${BENCHES[name]}\n`);
  const { exit, printed } = await runBench(name);
  if (exit !== 0) failed += 1;
  else if (values.save) {
    mkdirSync('bench/results', { recursive: true });
    writeFileSync(`bench/results/${name}.txt`, `${head}\n\n${printed}`);
  }
}
process.exit(failed === 0 ? 0 : 1);

function runBench(name: Bench): Promise<{ readonly exit: number; readonly printed: string }> {
  return new Promise((resolve) => {
    const script = fileURLToPath(new URL(`./${name}.js`, import.meta.url));
    const child = spawn(process.execPath, [script, ...own], { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      process.stdout.write(chunk);
    });
    child.on('exit', (code) => resolve({ exit: code ?? 1, printed }));
  });
}

/** What a figure is worth nothing without. */
function circumstances(): string {
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD']).stdout?.toString().trim() || 'unknown';
  const [cpu] = cpus();
  return [
    `date    ${new Date().toISOString()}`,
    `commit  ${commit}`,
    `node    ${process.version}`,
    `machine ${cpus().length} × ${cpu?.model ?? 'unknown'}, ${process.platform} ${process.arch}`,
  ].join('\n');
}

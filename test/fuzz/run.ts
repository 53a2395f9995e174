/**
 * Fuzzes the engine: mutated files into every reader, signing and validation.
 *
 *   node dist/test/fuzz/run.js [--cases 200000] [--seed 1] [--target pdf --target xml …] [--no-guided]
 *                              [--budget 3000] [--out <folder>]
 *   node dist/test/fuzz/run.js --replay <file> --target <name>
 *
 * Failures: an error other than CryptoError, a case over its budget (milliseconds of processor time) or its memory
 * limit, a hang, a forgery that passes, and memory growth over the run. The input of each failure is written to the
 * folder with a description, up to three of a kind. Exit code 1 with failures. Keys and seeds are new in every run: a
 * failure is repeated from its file.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isTargetName, TARGETS } from './all-targets.ts';
import { createFuzzEnvironment } from './environment.ts';
import { runFuzzer } from './fuzzer.ts';
import type { Failure, Progress } from './messages.ts';

const { values } = parseArgs({
  allowNegative: true,
  options: {
    cases: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
    target: { type: 'string', multiple: true, default: Object.keys(TARGETS) },
    guided: { type: 'boolean', default: true },
    budget: { type: 'string', default: '3000' },
    out: { type: 'string', default: join(tmpdir(), 'sealwright-fuzz-failures') },
    replay: { type: 'string' },
  },
});
const unknown = values.target.filter((name) => !isTargetName(name));
if (unknown.length > 0) {
  console.error(`No target is called ${unknown.join(', ')}. There are: ${Object.keys(TARGETS).join(', ')}.`);
  process.exit(2);
}

if (values.replay !== undefined) await replay(values.replay, values.target[0] ?? '');
// Threads that hang inside native code end only with the process.
else process.exit(await run());

async function replay(path: string, name: string): Promise<void> {
  if (!isTargetName(name)) return;
  const environment = createFuzzEnvironment();
  const target = await TARGETS[name].make(environment);
  const from = performance.now();
  try {
    console.log(await target.run(readFileSync(path)));
  } catch (error) {
    console.log(error);
  }
  console.log(`${Math.round(performance.now() - from)} ms`);
  environment.close();
}

async function run(): Promise<number> {
  const cases = Number(values.cases);
  const started = performance.now();
  let printedAt = started;
  const line = ({ done, outcomes, parts, kept, rss }: Progress): string => {
    const seconds = (performance.now() - started) / 1000;
    const left = Math.round(((cases - done) * seconds) / done);
    return `${done}/${cases}  ${Math.round(done / seconds)}/s  ${left} s left  outcomes ${outcomes}  parts ${parts}  kept ${kept}  rss ${rss >> 20} MiB  failures ${found}`;
  };
  let found = 0;
  const kinds = new Map<string, number>();
  const onFailure = (failure: Failure): void => {
    found++;
    const kind = kindOf(failure);
    const times = (kinds.get(kind) ?? 0) + 1;
    kinds.set(kind, times);
    if (times === 1) console.log(`\n${failure.target} ${failure.kind}: ${failure.detail}\n`);
    if (times <= 3) write(failure);
  };
  const settings = {
    targets: values.target,
    cases,
    seed: Number(values.seed),
    guided: values.guided,
    budget: Number(values.budget),
  };
  const result = await runFuzzer(
    settings,
    (progress) => {
      if (performance.now() - printedAt < 5000 && progress.done < cases) return;
      printedAt = performance.now();
      console.log(line(progress));
    },
    onFailure,
  );
  console.table(result.byTarget);
  for (const [kind, times] of kinds) console.log(`${times} × ${kind.split('\n', 1)[0]}`);
  if (found > 0) console.log(`Inputs are in ${values.out}.`);
  return found === 0 ? 0 : 1;
}

/** Groups failures with the same cause. */
function kindOf({ target, kind, detail }: Failure): string {
  const place = detail
    .split('\n')
    .slice(0, 4)
    .join('\n')
    .replace(/\d{2,}/g, '0');
  return kind === 'slow' || kind === 'memory' ? `${target} ${kind}` : `${target} ${kind} ${place}`;
}

function write({ target, kind, detail, input }: Failure): void {
  mkdirSync(values.out, { recursive: true });
  const name = `${target}-${kind}-${createHash('sha256').update(input).digest('hex').slice(0, 12)}`;
  writeFileSync(join(values.out, `${name}.bin`), input);
  writeFileSync(join(values.out, `${name}.txt`), `${detail}\n`);
}

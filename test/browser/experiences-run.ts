/**
 * Does what users of this kind of software ask for, as a person and an application would, and prints acts and seconds of each:
 * `node dist/test/browser/experiences-run.js [number ...]`. With `SEALWRIGHT_WATCH=1` the browser has a window and is slow, where
 * there is a display. Exit 1: one of them failed.
 */
import { closeBrowser } from './browser.ts';
import { OF_APPLICATIONS } from './experiences/of-applications.ts';
import { OF_OPERATORS } from './experiences/of-operators.ts';
import { OF_SIGNERS } from './experiences/of-signers.ts';
import { type Experience, Stage } from './experiences/stage.ts';

interface Result {
  readonly experience: Experience;
  readonly acts: number;
  readonly seconds: number;
  readonly fault: string | undefined;
}

async function done(experience: Experience): Promise<Result> {
  console.log(`${experience.number}. ${experience.title}`);
  const stage = new Stage((line) => console.log(line));
  const began = performance.now();
  let seconds = 0;
  let fault: string | undefined;
  try {
    await experience.run(stage);
    seconds = (performance.now() - began) / 1000;
    await stage.close();
  } catch (error) {
    fault = (error as Error).message;
    console.log(`    FAILED: ${fault}`);
    seconds ||= (performance.now() - began) / 1000;
    await stage.close().catch(() => undefined);
  }
  return { experience, acts: stage.acts, seconds, fault };
}

const wanted = new Set(process.argv.slice(2).map(Number));
const all = [...OF_APPLICATIONS, ...OF_SIGNERS, ...OF_OPERATORS].sort(
  (one, other) => one.number - other.number,
);
const results: Result[] = [];
for (const experience of all)
  if (wanted.size === 0 || wanted.has(experience.number)) results.push(await done(experience));
await closeBrowser();
console.log('\n No  acts  seconds  result');
for (const { experience, acts, seconds, fault } of results) {
  const result = fault === undefined ? 'passed' : `FAILED: ${fault.split('\n')[0]}`;
  console.log(
    `${String(experience.number).padStart(3)} ${String(acts).padStart(5)} ${seconds.toFixed(1).padStart(8)}  ${experience.title}: ${result}`,
  );
  if (experience.leftOut !== undefined) console.log(`${' '.repeat(20)}not here: ${experience.leftOut}`);
}
process.exit(results.some(({ fault }) => fault !== undefined) ? 1 : 0);

/** Process of one side of the benchmark `postgres`: measures when its parent asks for it. */
import { commitSide, plainSide, runtimeSide, type SideOptions, type StepSide } from './sides.ts';

/** Requests of the parent. */
export type ToSide =
  | { readonly type: 'measure'; readonly seconds: number; readonly inFlight: number }
  | { readonly type: 'close' };

/** Answers to the parent. */
export type FromSide =
  | { readonly type: 'ready' }
  | {
      readonly type: 'measured';
      readonly steps: number;
      readonly seconds: number;
      /** Processor time of this process, milliseconds. */
      readonly cpu: number;
      /** Milliseconds. */
      readonly p50: number;
    };

const SIDES: { readonly [name: string]: (options: SideOptions) => Promise<StepSide> } = {
  runtime: runtimeSide,
  commit: commitSide,
  plain: plainSide,
};

async function measure(side: StepSide, seconds: number, inFlight: number): Promise<FromSide> {
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const end = startedAt + seconds * 1000;
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() < end) {
        const from = performance.now();
        await side.step();
        times.push(performance.now() - from);
      }
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  times.sort((left, right) => left - right);
  return {
    type: 'measured',
    steps: times.length,
    seconds: (performance.now() - startedAt) / 1000,
    cpu: (user + system) / 1000,
    p50: times[times.length >> 1] ?? 0,
  };
}

const [name = '', options = '{}'] = process.argv.slice(2);
const open = SIDES[name];
if (open === undefined) throw new Error(`There is no side "${name}".`);
const side = await open(JSON.parse(options) as SideOptions);
const answer = (message: FromSide): void => void process.send?.(message);
process.on('message', (message: ToSide) => {
  if (message.type === 'close') {
    void side.close().then(() => process.exit(0));
    return;
  }
  void measure(side, message.seconds, message.inFlight).then(answer);
});
answer({ type: 'ready' });

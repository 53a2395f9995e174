/**
 * pg-boss doing what a step of an actor does: a job is stored, leased and settled. A side of the benchmark `postgres`
 * (`bench/postgres/side-process.ts`), which starts it when it is installed: npm ci --prefix bench/peers
 */
import PgBoss from 'pg-boss';

const { url } = JSON.parse(process.argv[3] ?? '{}');
const QUEUE = 'steps';
const boss = new PgBoss({
  connectionString: url,
  schema: 'pgboss_bench',
  max: 10,
  supervise: false,
  schedule: false,
});
boss.on('error', () => {});
await boss.start();
await boss.createQueue(QUEUE);
let n = 0;

async function step() {
  n += 1;
  await boss.send(QUEUE, { path: `/data/input/invoice-${n}.pdf`, fileName: `invoice-${n}.pdf` });
  const [job] = await boss.fetch(QUEUE);
  // Another request of this process may have leased the job.
  if (job !== undefined) await boss.complete(QUEUE, job.id);
}

async function measure(seconds, inFlight) {
  const begun = performance.now();
  const cpu = process.cpuUsage();
  const times = [];
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() < begun + seconds * 1000) {
        const from = performance.now();
        await step();
        times.push(performance.now() - from);
      }
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  times.sort((left, right) => left - right);
  const took = (performance.now() - begun) / 1000;
  const p50 = times[times.length >> 1] ?? 0;
  return { type: 'measured', steps: times.length, seconds: took, cpu: (user + system) / 1000, p50 };
}

process.on('message', async (message) => {
  if (message.type === 'close') {
    await boss.stop({ graceful: false });
    process.exit(0);
  }
  process.send(await measure(message.seconds, message.inFlight));
});
process.send({ type: 'ready' });

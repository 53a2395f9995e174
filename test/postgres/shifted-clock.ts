/**
 * Shifts the wall clock of a process and of all its threads, as a wrong clock of its machine does:
 * `NODE_OPTIONS=--import=<this file>` with SEALWRIGHT_TEST_CLOCK_MS milliseconds. Elapsed time (`performance.now`,
 * `process.hrtime`, timers) stays right, as on such a machine.
 */
import { threadId } from 'node:worker_threads';

const shift = Number(process.env['SEALWRIGHT_TEST_CLOCK_MS']);
const RealDate = Date;
const now = () => RealDate.now() + shift;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
// The test looks for it: an option that a thread ignores would prove nothing.
process.stderr.write(`The clock of thread ${threadId} is ${shift} ms off.\n`);

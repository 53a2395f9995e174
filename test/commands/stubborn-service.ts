/**
 * `runService` around a service that misbehaves in one manner, with a clock that runs fast.
 *
 * node stubborn-service.js never-stops | stops-late | throws-later | rejects-later | loses-its-store | fails-to-stop
 */

import { type Clock, systemClock } from '@sealwright/runtime';
import { runService } from '../../commands/serve.ts';
import { createDescriptorSink, createLogging } from '../../logging.ts';
import type { Serve } from '../../service/running-service.ts';
import { accepted } from '../settings/load.ts';

const manner = process.argv[2];
const never = new Promise<never>(() => {});
// Keeps the process alive as a listening socket would.
const alive = setInterval(() => {}, 60_000);

let elapsed = 0;
const clock: Clock = {
  ...systemClock,
  // Every look at the time finds ten seconds gone.
  elapsed: () => (elapsed += 10_000),
  after: (delay, task) =>
    manner === 'stops-late' ? systemClock.after(0, task) : systemClock.after(delay, task),
};

const serve: Serve = async () => {
  if (manner === 'throws-later') {
    setImmediate(() => {
      throw new Error('thrown where nobody catches');
    });
  }
  if (manner === 'rejects-later') {
    setImmediate(() => void Promise.reject(new Error('rejected where nobody waits')));
  }
  return {
    facts: {
      batchUrl: undefined,
      portal: undefined,
      store: { engine: 'none', location: '/nowhere' },
      output: '/nowhere',
      apiKey: { from: 'nowhere' },
      certificate: { subject: 'CN=x', path: '/nowhere', development: false },
      profiles: [],
      paused: false,
      warnings: [],
    },
    loginLink: () => undefined,
    administratorLink: async () => undefined,
    draining: new Promise(() => {}),
    lost: manner === 'loses-its-store' ? Promise.resolve('the writing thread ended') : never,
    stop: async () => {
      if (manner === 'fails-to-stop') throw new Error('the store would not close');
      await never;
    },
  };
};

const stdout = createDescriptorSink(1);
process.exitCode = await runService({
  serve,
  settings: accepted({}),
  warnings: [],
  log: createLogging({ clock, sinks: [stdout] }),
  clock,
  terminal: {
    out: (text) => stdout.write(text, 'Error'),
    err: (text) => process.stderr.write(text),
    colors: false,
  },
  options: { version: '0', faults: undefined },
});
clearInterval(alive);
process.exit();

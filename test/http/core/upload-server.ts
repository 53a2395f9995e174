/** A server in a separate process, so that its memory can be measured. Started by `lifecycle.test.ts`. */

import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import { createBatchServer } from '../../../http/index.ts';
import { openTestService } from '../batch/test-service.ts';
import { BASE_SETTINGS, recorder } from '../harness.ts';

const service = await openTestService();
const server = createBatchServer({
  service,
  settings: { ...BASE_SETTINGS, maxUploadBytes: 600_000_000 },
  clock: systemClock,
  ids: systemIds,
  log: recorder([]),
});

process.on('message', async (message) => {
  if (message === 'close') {
    await server.close();
    process.disconnect();
    return;
  }
  // `maxRSS` is in KiB and never falls.
  process.send?.({ peak: process.resourceUsage().maxRSS * 1024 });
});

const { url } = await server.listen();
process.send?.({ port: Number(new URL(url).port), folder: service.folder });

/**
 * Short HTTP fuzzing run; `SEALWRIGHT_FUZZ_REQUESTS=200000 npm test -- dist/test/fuzz/http.test.js` runs longer than CI.
 */
import test from 'ava';
import { type Client, startProgram } from '../actors/portal/service.ts';
import { roundsOf } from '../project/rounds.ts';
import { fuzzHttp } from './http/session.ts';

const REQUESTS = Number(process.env['SEALWRIGHT_FUZZ_REQUESTS'] ?? roundsOf(1_000, 20_000));
const SEED = Number(process.env['SEALWRIGHT_FUZZ_SEED'] ?? '1');

test('every operation answers any request as described, without internal errors and with its health kept', async (t) => {
  // Far more than a busy machine takes; an answer that does not come is a failure of its own.
  t.timeout(120_000 + REQUESTS * 50);
  const settings = { 'RateLimiting:Enabled': false, 'Portal:WebhookAllowPrivate': true };
  const { service, acme, monitor, administrator } = await startProgram(t, { settings });
  const portalKeys = [acme, administrator, monitor].map(({ key }) => ['X-Api-Key', key] as const);
  const result = await fuzzHttp({
    learned: await someDocuments(acme),
    batch: { url: service.url, keys: [['X-API-Key', await service.key()]] },
    portal: { url: acme.url, keys: portalKeys },
    seed: SEED,
    requests: REQUESTS,
    atOnce: 4,
  });
  t.log(`${REQUESTS} requests, ${result.reached.size} of ${result.operations} operations with success`);
  t.log(result.statuses, `slowest health check ${Math.round(result.slowestHealth)} ms`);
  t.deepEqual(result.failures, []);
  t.true(result.reached.size > result.operations / 4, 'hardly anything got past the door');
});

/** Creates uploads and documents that wait for a participant; returns the responses. */
async function someDocuments(client: Client): Promise<readonly string[]> {
  const user = { name: 'Ann', email: 'ann@example.com', identifier: '12345678909' };
  const answers: unknown[] = [];
  for (const type of ['Signer', 'Approver']) {
    for (let count = 0; count < 4; count += 1) {
      answers.push(await client.upload());
      const id = await client.create([{ type, user, allowElectronicSignature: type === 'Signer' }]);
      answers.push(await client.get(`/api/documents/${id}`));
      answers.push(await client.post(`/api/documents/${id}/action-url`, { emailAddress: user.email }));
    }
  }
  return answers.map((answer) => JSON.stringify(answer));
}

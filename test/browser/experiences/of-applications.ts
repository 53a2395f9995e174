/** Experiences of people who integrate the API. */

import { Client, startProgram, until } from '../../actors/portal/service.ts';
import { startReceiver } from '../../actors/portal/webhooks/receiver.ts';
import { freePort } from '../../commands/free-port.ts';
import { freshFolder, run, start } from '../../commands/program.ts';
import { temporaryRoot } from '../../service/service.ts';
import { OVERLOAD } from './overload.ts';
import type { Experience } from './stage.ts';

const ANA = { name: 'Ana', email: 'ana@experiences.test' };
const FLOW = [{ user: ANA, allowElectronicSignature: true }];
const QUIET = { disableNotifications: true };

async function sign(client: Client, id: string): Promise<void> {
  const { flowActions } = await client.get<{ flowActions: { id: string }[] }>(`/api/documents/${id}`);
  await client.post(`/api/documents/${id}/electronic-signature`, { flowActionId: flowActions[0]?.id });
}

function concluded(client: Client, id: string): Promise<true> {
  return until(async () => {
    const { status } = await client.get<{ status: string }>(`/api/documents/${id}`);
    return status === 'Concluded' ? true : undefined;
  });
}

const first: Experience = {
  number: 1,
  title: 'First signed document in 60 seconds',
  leftOut: 'the clean checkout: the newcomer of a release',
  async run(stage) {
    const cwd = freshFolder();
    const began = performance.now();
    const words = [
      `--Batch:Url=http://127.0.0.1:${await freePort()}`,
      `--Portal:Url=http://127.0.0.1:${await freePort()}`,
    ];
    const program = await stage.act('start, with no settings', async () => {
      const started = start(cwd, ['serve', ...words]);
      stage.teardown(() => started.child.kill('SIGKILL'));
      await started.says(/\[INF\] Ready/);
      return started;
    });
    stage.expect(/TEST|development/i.test(program.out()), 'the certificate is not labelled');
    const tried = await stage.act('sealwright try', () => run(cwd, ['try']));
    stage.expect(tried.code === 0, tried.out + tried.err);
    const file = 'data/sample-contract-signed.pdf';
    const verified = await stage.act('sealwright verify', () => run(cwd, ['verify', file]));
    stage.expect(verified.code === 0, verified.out + verified.err);
    const seconds = (performance.now() - began) / 1000;
    stage.expect(seconds < 60, `it took ${seconds} s`);
  },
};

/** Documents that are signed while the service is killed. */
const DOCUMENTS = 12;

const neverStuck: Experience = {
  number: 2,
  title: 'Never stuck',
  leftOut:
    '10,000 documents and 200 kills: test/http/portal/kills, service/soak; expired certificates: actors/portal/signing',
  async run(stage) {
    const root = await temporaryRoot(stage);
    let program = await startProgram(stage, { root });
    const ids: string[] = [];
    for (let number = 0; number < DOCUMENTS; number += 1) ids.push(await program.acme.create(FLOW, QUIET));
    for (let round = 0; round < 3; round += 1) {
      const part = ids.slice(round * 4, round * 4 + 4);
      await stage.act('sign four documents, and kill the service', async () => {
        const signing = part.map((id) => sign(program.acme, id).catch(() => undefined));
        await Promise.race(signing);
        await program.service.kill();
        await Promise.all(signing);
      });
      program = await stage.act('start again', () => startProgram(stage, { root }));
      const began = performance.now();
      for (const id of part) {
        const { flowActions } = await program.acme.get<{ flowActions: { status: string }[] }>(
          `/api/documents/${id}`,
        );
        // What was not accepted is signed again, as its caller would.
        if (flowActions[0]?.status === 'Pending') await sign(program.acme, id).catch(() => undefined);
        await concluded(program.acme, id);
      }
      const seconds = (performance.now() - began) / 1000;
      stage.expect(seconds <= 10, `they were concluded after ${seconds} s`);
    }
    for (const id of ids) {
      const { signers } = await program.acme.get<{ signers: object[] }>(
        `/api/documents/${id}/signatures-details`,
      );
      stage.expect(signers.length === 1, `${id} has ${signers.length} signatures`);
    }
  },
};

const webhooks: Experience = {
  number: 3,
  title: 'Webhooks you can bank on',
  leftOut: 'twenty kills, retries after ten minutes, the official verifiers: actors/portal/webhooks',
  async run(stage) {
    const root = await temporaryRoot(stage);
    // No mail arrives: nothing listens there.
    const settings = {
      'Portal:Smtp:Host': '127.0.0.1',
      'Portal:Smtp:Port': 1,
      'Portal:Smtp:From': 'a@b.test',
    };
    let program = await startProgram(stage, { root, settings });
    const tried = new Set<string>();
    const receiver = await startReceiver(stage, ({ headers }, response) => {
      const id = String(headers['webhook-id']);
      const isFirst = !tried.has(id);
      tried.add(id);
      response.writeHead(isFirst && tried.size % 2 === 0 ? 500 : 204).end();
    });
    const owned = await program.organization('Receiver');
    await owned.post(`/api/organizations/${owned.organizationId}/webhooks`, {
      url: receiver.url,
      secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    });
    const made = await stage.act('make and sign six documents', async () => {
      const all: string[] = [];
      for (let number = 0; number < 6; number += 1) {
        const id = await owned.create(FLOW);
        await sign(owned, id);
        all.push(id);
      }
      return all;
    });
    await stage.act('kill the service, and start it again', async () => {
      await program.service.kill();
      program = await startProgram(stage, { root, settings });
    });
    const again = new Client(program.url, owned.key);
    for (const id of made) await concluded(again, id);
    const taken = () => {
      const byDocument = new Map<string, number[]>();
      for (const { headers, body } of receiver.calls) {
        const sequence = Number(headers['webhook-sequence']);
        const document = made.find((id) => body.includes(id)) ?? '';
        const known = byDocument.get(document) ?? [];
        if (!known.includes(sequence)) byDocument.set(document, [...known, sequence]);
        if (headers['webhook-signature'] === undefined) throw new Error('A call is not signed.');
      }
      return byDocument;
    };
    await stage.act('wait for the calls', () =>
      until(async () => (made.every((id) => (taken().get(id)?.length ?? 0) >= 3) ? true : undefined)),
    );
    for (const [id, sequences] of taken())
      stage.expect(
        sequences.every((one, at) => one === at + 1),
        `${id} has the sequence ${sequences}`,
      );
  },
};

const retrySafe: Experience = {
  number: 8,
  title: 'Retry-safe API',
  async run(stage) {
    const { acme, url } = await startProgram(stage);
    const upload = await acme.upload();
    const body = { files: [{ ...upload, displayName: 'Lease' }], flowActions: FLOW, ...QUIET };
    const answers = await stage.act('1,000 equal requests with one key, 50 at once', async () => {
      const texts: string[] = [];
      const one = async () => {
        const answer = await acme.send('/api/documents', body, 'POST', { 'idempotency-key': 'experience-8' });
        const text = await answer.text();
        // Those beside the first one are told to come again.
        if (answer.status === 200) texts.push(text);
        else if (answer.status !== 409 && answer.status !== 429 && answer.status !== 503)
          throw new Error(`${answer.status}: ${text}`);
      };
      for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 50 }, one));
      return texts;
    });
    stage.expect(new Set(answers).size === 1, `${new Set(answers).size} different answers`);
    const { totalCount } = await acme.get<{ totalCount: number }>('/api/documents');
    stage.expect(totalCount === 1, `${totalCount} documents were made`);
    stage.note(`${answers.length} of 1,000 requests were answered 200, all alike`);
    const wrong: readonly (readonly [string, RequestInit])[] = [
      ['/api/nowhere', {}],
      ['/api/documents', { method: 'PATCH' }],
      ['/api/documents', { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } }],
      ['/api/documents', { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } }],
      ['/api/documents/00000000-0000-4000-8000-000000000000', {}],
    ];
    for (const [path, init] of wrong) {
      const answer = await stage.act(`${init.method ?? 'GET'} ${path}, wrongly`, () =>
        acme.fetch(path, init),
      );
      const { code, message } = (await answer.json()) as { code?: string; message?: string };
      // The form of 404 has no code: docs/portal-values.md.
      const isTold = message !== undefined && (code !== undefined || answer.status === 404);
      stage.expect(answer.status >= 400 && isTold, `${path}: ${answer.status}`);
    }
    stage.expect((await fetch(`${url}/api/documents`)).status === 401, 'no key is no refusal');
  },
};

const description: Experience = {
  number: 9,
  title: 'The OpenAPI document is the truth',
  leftOut:
    'two generators: scripts/clients/check-generators.mjs. Every answer of each experience is held against the description',
  async run(stage) {
    const { service } = await startProgram(stage);
    for (const url of [service.url, service.portalUrl]) {
      const answer = await (url === service.url
        ? service.fetch('/openapi/v1.json')
        : fetch(`${url}/openapi/v1.json`));
      const { paths } = (await answer.json()) as { paths: object };
      stage.note(`${Object.keys(paths).length} paths at ${new URL(url).port}`);
      // The stage fails where the page asks another host, or says an error.
      const page = await stage.page(url);
      await stage.act('open the reference', () => page.goto(`${url}/scalar/v1`));
      await page.getByRole('heading').first().waitFor();
    }
  },
};

export const OF_APPLICATIONS: readonly Experience[] = [
  first,
  neverStuck,
  webhooks,
  retrySafe,
  description,
  OVERLOAD,
];

/** Benchmark of the main thread's busy time for a body of each route's size limit, and of the response size. */
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { systemIds } from '@sealwright/runtime';
import type { PortalService } from '../actors/portal/api.ts';
import type { AnyRoute } from '../http/core/router.ts';
import { createPortalServer } from '../http/index.ts';
import { bodyLimit } from '../http/portal/conventions.ts';
import { portalRoutes } from '../http/portal/server.ts';
import { PortalRefusal } from '../machines/portal/portal-refusals.ts';
import type { Bench, BenchContext } from './frame/bench.ts';
import { QUIET } from './frame/quiet.ts';
import type { Post, Posted } from './http/post-worker.ts';

const KEY = '20-CHARACTERS-ABCDEF';
const UPLOAD_BYTES = 106_954_752;
const MILLISECONDS_AIM = 100;
const ANSWER_AIM = 64 * 1024;

/** Bodies of a given length, each costly in another way. */
const SHAPES: { readonly [name: string]: (bytes: number) => string } = {
  'empty marks': (bytes) => filled('{"ticket":"x","files":[{}],"signaturePositions":[', '{},', bytes),
  'unknown members': (bytes) => {
    let text = '{"ticket":"x"';
    for (let at = 0; text.length < bytes - 20 && at < 19_000; at += 1) text += `,"a${at}":1`;
    return `${text}}`.padEnd(bytes);
  },
  'one text': (bytes) => `{"ticket":"x","typedName":"${'é'.repeat(Math.max(0, (bytes - 40) / 2))}"}`,
};

function filled(start: string, item: string, bytes: number): string {
  return `${start}${item.repeat(Math.floor((bytes - start.length - 4) / item.length))}{}]}`;
}

export const bench: Bench = {
  name: 'hostile-bodies',
  question: 'How long is the main thread busy with a body of each limit, and how large is the answer?',
  limits: ['100 ms of the main thread and 64 KiB of answer for clients without a key'],
  async run(context) {
    context.limit('main thread', MILLISECONDS_AIM, 'ms');
    context.limit('answer', ANSWER_AIM / 1024 ** 2, 'MiB');
    const service = strangersPortal();
    const server = createPortalServer({ ...CONTEXT, service, clock: context.clock });
    const { url } = await server.listen();
    const client = new Worker(new URL('./http/post-worker.js', import.meta.url));
    try {
      await measure(context, Number(new URL(url).port), client, service);
    } finally {
      await client.terminate();
      await server.close();
    }
  },
};

const CONTEXT = {
  ids: systemIds,
  log: QUIET,
  settings: {
    ...{ host: '127.0.0.1', port: 0, allowedHosts: ['*'], requireHttps: false },
    ...{ forwarded: undefined, production: true, shutdownTimeout: 1000 },
  },
};

/** Portal without tickets and with one key: later processing is not measured. */
function strangersPortal(): PortalService {
  const refuse = () => Promise.reject(new PortalRefusal('InvalidTicket'));
  const known: { readonly [name: string]: unknown } = {
    maxBytes: UPLOAD_BYTES,
    identify: (key: string) =>
      Promise.resolve(
        key === 'a|b' ? { organization: { id: 'o', name: 'o' }, application: { role: 'Normal' } } : undefined,
      ),
  };
  const part = new Proxy({}, { get: (_, name) => known[String(name)] ?? refuse });
  return new Proxy({}, { get: () => part }) as PortalService;
}

async function measure(
  { figure, verified, progress }: BenchContext,
  port: number,
  client: Worker,
  service: PortalService,
): Promise<void> {
  const isOpen = ({ auth }: AnyRoute) => auth === 'anonymous' || auth === 'known-or-ticket';
  const routes = portalRoutes(service, 'bench').filter(({ bodyPolicy }) => bodyPolicy === 'json');
  const measured = routes.filter((route) => isOpen(route) || route.path === '/api/documents');
  let done = 0;
  for (const route of measured) {
    const path = route.path.replace('{key}', KEY);
    const worst = { milliseconds: 0, bytes: 0 };
    for (const shape of Object.values(SHAPES)) {
      const headers = { 'Content-Type': 'application/json', ...(!isOpen(route) && { 'X-Api-Key': 'a|b' }) };
      const post: Post = { port, path, headers, body: shape(bodyLimit(route)) };
      // The first round of each kind includes compilation.
      for (let round = 0; round < 3; round += 1) {
        const { status, bytes, milliseconds } = await busyWith(client, post);
        if (status < 400 || status >= 500) throw new Error(`${path} answered ${status}.`);
        if (round > 0) worst.milliseconds = Math.max(worst.milliseconds, milliseconds);
        worst.bytes = Math.max(worst.bytes, bytes);
      }
    }
    done += 1;
    progress(path, done, measured.length);
    const name = `${isOpen(route) ? 'no key' : 'with a key'}, ${route.path}`;
    figure(`${name}: main thread`, worst.milliseconds, 'ms');
    figure(`${name}: answer`, worst.bytes / 1024 ** 2, 'MiB');
  }
  verified('status of each answer', measured.length * Object.keys(SHAPES).length);
}

/** Measures the milliseconds in which this thread's event loop was busy until the response. */
async function busyWith(client: Worker, post: Post): Promise<Posted & { readonly milliseconds: number }> {
  client.postMessage(post);
  const before = performance.eventLoopUtilization();
  const [posted] = (await once(client, 'message')) as [Posted];
  const { active } = performance.eventLoopUtilization(before);
  return { ...posted, milliseconds: active };
}

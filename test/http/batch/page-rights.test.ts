/**
 * The operator pages as each role: what they offer is what the role may do, and all of it. The expected sets follow from
 * the decisions of `contracts/batch/access.ts`; the data of the pages is that of the examples of the API.
 */
import test from 'ava';
import { type ComponentType, createElement, type VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import {
  type AccessScope,
  accessOf,
  isOperation,
  mayCall,
  OPERATOR_ROLES,
  type OperationName,
  ROLE_SCOPES,
  refusedTo,
} from '../../../contracts/batch/access.ts';
import { memorySessionKeys, openSessionKeyRing } from '../../../http/core/access/session-keys.ts';
import { createSessions } from '../../../http/core/access/sessions.ts';
import { withPartsInPlace } from '../../../http/core/openapi/shared-parts.ts';
import { AccessKeysView } from '../../../web/pages/batch/access-keys.tsx';
import { ActorView } from '../../../web/pages/batch/actor-page.tsx';
import { ActorsView, DocumentsView } from '../../../web/pages/batch/actors.tsx';
import { CertificatesView } from '../../../web/pages/batch/certificates.tsx';
import { MailsView, WebhooksView } from '../../../web/pages/batch/deliveries.tsx';
import { FailuresView } from '../../../web/pages/batch/failures.tsx';
import { InputView } from '../../../web/pages/batch/input.tsx';
import { JobListView } from '../../../web/pages/batch/job-list.tsx';
import { JobView } from '../../../web/pages/batch/job-page.tsx';
import { OPERATOR_PAGES } from '../../../web/pages/batch/operator.tsx';
import { OverviewView } from '../../../web/pages/batch/overview.tsx';
import { forReader } from '../../../web/pages/batch/rights.tsx';
import { RuntimeView } from '../../../web/pages/batch/runtime.tsx';
import { SystemView } from '../../../web/pages/batch/system.tsx';

import { ask } from '../ask.ts';
import { batchDocument, batchTable } from '../descriptions.ts';
import { KEY, recorder, startServer } from '../harness.ts';

const HOUR = 3_600_000;

/** Operations that programs alone use: pages offer the one on the right in their place, or a command. */
const OF_PROGRAMS: { readonly [name in OperationName]?: OperationName | 'none' } = {
  'POST /api/files': 'none',
  'DELETE /api/jobs': 'none',
  'POST /api/jobs/retry': 'POST /api/operations',
  'POST /api/jobs/cancel': 'POST /api/operations',
  // In the dialog that follows the operation.
  'POST /api/operations/{id}/cancel': 'POST /api/operations',
};

interface Described {
  readonly responses: {
    readonly [status: string]: { readonly content?: { readonly [type: string]: { example?: unknown } } };
  };
}

/** The example of an answer. */
function answer(path: string, status = '200'): never {
  const { get } = withPartsInPlace(batchDocument()).paths[path] as unknown as { readonly get: Described };
  const found = get.responses[status]?.content?.['application/json']?.example;
  if (found === undefined) throw new Error(`GET ${path} has no example`);
  return found as never;
}

const jobs: { readonly items: readonly { readonly id: string }[] } = answer('/api/jobs');
const failed = (list: { readonly items: readonly object[] }) => ({
  ...list,
  items: list.items.map((item) => ({ ...item, status: 'Failed' })),
});

/** Each page once its script has loaded the data. A new page fails the test until it stands here. */
const LOADED: { readonly [path: string]: () => readonly [view: unknown, props: object] } = {
  '/': () => [
    OverviewView,
    {
      data: {
        state: answer('/api/pipeline/state'),
        statistics: answer('/api/statistics'),
        queued: 1,
        awaiting: 1,
        last: jobs,
        series: answer('/api/statistics/series'),
        failures: answer('/api/failures'),
        ready: answer('/api/ready'),
        others: [],
      },
    },
  ],
  '/jobs': () => [JobListView, { data: jobs }],
  '/jobs/{id}': () => [
    JobView,
    { data: { job: answer('/api/jobs/{id}'), profile: undefined, children: jobs, remedy: null, alike: 0 } },
  ],
  '/input': () => {
    const { folders } = answer('/api/folders') as { readonly folders: readonly object[] };
    return [InputView, { data: folders.map((folder) => ({ ...folder, waiting: 1, failed: 1 })) }];
  },
  '/failures': () => [FailuresView, { data: answer('/api/failures') }],
  '/actors': () => [ActorsView, { data: { kinds: [], states: [] } }],
  '/documents': () => [DocumentsView, { data: { kinds: [], states: [] } }],
  '/actors/{kind}/{id}': () => [
    ActorView,
    { data: { actor: answer('/api/actors/{kind}/{id}'), chart: answer('/api/actor-kinds/{kind}') } },
  ],
  '/runtime': () => [RuntimeView, { data: answer('/api/runtime') }],
  '/webhooks': () => {
    const list: { readonly items: readonly { readonly id: string }[] } = answer('/api/webhooks/portal');
    const deliveries = answer('/api/webhooks/portal/{organizationId}/deliveries');
    const portal = { queues: [], organizations: list.items, deliveries };
    return [WebhooksView, { data: { list: answer('/api/webhooks/deliveries'), portal } }];
  },
  '/certificates': () => [
    CertificatesView,
    { data: { ...(answer('/api/profiles') as object), checks: [], keys: undefined, now: 0 } },
  ],
  '/keys': () => [AccessKeysView, { data: answer('/api/keys') }],
  '/mails': () => [
    MailsView,
    { data: failed(answer('/api/mails') as { readonly items: readonly object[] }) },
  ],
  '/system': () => [
    SystemView,
    {
      info: [],
      data: {
        state: answer('/api/pipeline/state'),
        checks: [],
        queued: 1,
        ...(answer('/api/profiles') as object),
      },
    },
  ],
};

function loaded(path: string, scopes: readonly AccessScope[] | undefined): string {
  const make = LOADED[path];
  if (make === undefined) throw new Error(`${path}: how does it look when its data is loaded?`);
  const [view, props] = make();
  const page = createElement(view as ComponentType<object>, props) as VNode;
  return renderToString(forReader(refusedTo(scopes), page));
}

/** Address → its operation. */
const READS = batchTable()
  .filter(({ method, path }) => method === 'GET' && path.startsWith('/api/'))
  .map((route) => ({ name: `GET ${route.path}`, path: pattern(route.path) }));

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** Operations that the buttons, forms and links of a page call. */
function offered(html: string): ReadonlySet<string> {
  const found = [...html.matchAll(/data-sends="([^"]+)"/g)].map(([, name = '']) => name);
  for (const [form] of html.matchAll(/<form\b[^>]*>/g)) {
    const of = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(form)?.[1];
    if (of('data-path') !== undefined) found.push(`${of('data-method')} ${of('data-path')}`);
    else if (of('method') === 'post') found.push(`POST ${of('action')}`);
  }
  for (const [, href = ''] of html.matchAll(/ href="([^"?#]*)/g))
    for (const { name, path } of READS) if (path.test(href)) found.push(name);
  // What the page itself reads.
  if (/ href="\/keys"/.test(html)) found.push('GET /api/keys');
  return new Set(found);
}

test('each role finds on the pages the buttons of what it may do, and no other', async (t) => {
  const sessionKeys = memorySessionKeys();
  const server = await startServer(t, {}, systemClock, { sessionKeys });
  const parts = { clock: systemClock, ids: systemIds, log: recorder([]) };
  const sessions = createSessions({
    ring: openSessionKeyRing(sessionKeys, parts),
    ended: server.service.access.ended,
    lifetime: HOUR,
    apiKey: KEY,
    ...parts,
  });
  const paths = [...OPERATOR_PAGES.map(({ path }) => path), '/validate', '/scalar/v1'];
  const pagesOf = async (headers: Record<string, string>, scopes: readonly AccessScope[] | undefined) => {
    const found = new Map<string, ReadonlySet<string>>();
    for (const path of paths) {
      const { status, text } = await ask(server.port, 'GET', {
        path: path.replace(/\{\w+\}/g, 'x'),
        headers,
      });
      t.is(status, 200, path);
      const isDrawn = OPERATOR_PAGES.some((page) => page.path === path);
      found.set(path, offered(isDrawn ? text + loaded(path, scopes) : text));
    }
    return found;
  };
  const all = await pagesOf({ 'X-API-Key': KEY }, undefined);
  const onPages = new Set([...all].flatMap(([path, names]) => (path === '/scalar/v1' ? [] : [...names])));
  for (const route of batchTable()) {
    const name = `${route.method} ${route.path}`;
    if (route.auth === 'anonymous' || accessOf(route) === undefined || !isOperation(name)) continue;
    if (name === 'GET /api/metrics') continue; // served where metrics are kept
    t.true(all.get('/scalar/v1')?.has(name), `${name} is tried on the reference page`);
    const program = OF_PROGRAMS[name];
    if (route.method !== 'GET') t.is(onPages.has(name), program === undefined, `${name} on a page`);
    if (program !== undefined && program !== 'none') t.true(onPages.has(program), name);
  }
  for (const role of OPERATOR_ROLES) {
    const person = { role, key: 'k', since: systemClock.now() };
    const scopes = ROLE_SCOPES[role];
    const session = () => ({
      Cookie: `batch-auth=${sessions.issue('ana@example.com', undefined, person)}`,
    });
    const pages = await pagesOf(session(), scopes);
    const called = new Set<string>();
    for (const [path, names] of pages) {
      const may = [...(all.get(path) ?? [])].filter((name) => !isOperation(name) || mayCall(scopes, name));
      t.deepEqual([...names].sort(), may.sort(), `${path} as ${role}`);
      for (const name of names) called.add(name);
    }
    for (const name of called) {
      const [method = '', path = ''] = name.split(' ');
      if (path === '/api/metrics' || !path.startsWith('/api/')) continue;
      const headers = { ...session(), 'Content-Type': 'application/json' };
      const found = await ask(server.port, method, { path: path.replace(/\{\w+\}/g, 'x'), headers });
      t.not(found.status, 403, `${name} as ${role}`);
    }
  }
});

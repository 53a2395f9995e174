/**
 * The operator pages' routes.
 *
 * Source: docs/batch-values.md §10; §5, `Dashboard:PollIntervalSeconds`.
 */

import { z } from 'zod';
import { actorParams } from '../../contracts/batch/actors.ts';
import { jobParams } from '../../contracts/batch/jobs.ts';
import { framedPage, type LinkGroup } from '../../web/pages/batch/layout.tsx';
import { OPERATOR_PAGES, type OperatorPath } from '../../web/pages/batch/operator.tsx';
import type { SystemInfo } from '../../web/pages/batch/system.tsx';
import { assetRoutes } from '../core/page-assets.ts';
import { page } from '../core/reply.ts';
import type { AnyRoute } from '../core/router.ts';
import { handle } from './handle.ts';

export interface PageSettings {
  readonly version: string;
  /** `Dashboard:PollIntervalSeconds`. */
  readonly pollSeconds: number;
  readonly systemInfo: SystemInfo;
}

/** Navigation of every page; `mails`: true with a portal, which sends e-mails. */
export function pageGroups(mails: boolean): readonly LinkGroup[] {
  const webhooks = { href: '/webhooks', text: 'Webhooks', icon: 'webhook' } as const;
  return [
    {
      name: 'Work',
      links: [
        { href: '/', text: 'Overview', icon: 'layout-dashboard' },
        { href: '/jobs', text: 'Jobs', icon: 'file-stack' },
        { href: '/failures', text: 'Failures', icon: 'triangle-alert' },
        { href: '/input', text: 'Input', icon: 'folder-input' },
        { href: '/validate', text: 'Validate', icon: 'shield-check' },
        ...(mails ? [] : [webhooks]),
      ],
    },
    ...(mails
      ? [
          {
            name: 'Portal',
            links: [
              { href: '/documents', text: 'Documents', icon: 'file-signature' },
              { href: '/mails', text: 'E-mails', icon: 'mail' },
              webhooks,
            ],
          } as const,
        ]
      : []),
    {
      name: 'System',
      links: [
        { href: '/actors', text: 'Actors', icon: 'workflow' },
        { href: '/runtime', text: 'Runtime', icon: 'server' },
        { href: '/certificates', text: 'Certificates', icon: 'badge-check' },
        { href: '/system', text: 'System', icon: 'sliders-horizontal' },
        { href: '/scalar/v1', text: 'API', icon: 'code' },
      ],
    },
  ];
}

interface OperatorPage {
  readonly path: OperatorPath;
  /** Name in `web/client/batch/pages/`. */
  readonly script: string;
  /** Stylesheets besides that of all pages. */
  readonly styles?: readonly string[];
  readonly title: string;
  readonly summary: string;
  readonly description: string;
}

const NO_PARAMS = z.object({}).transform(() => ({ id: '' }));
const ACTOR_PARAMS = actorParams.transform(({ id }) => ({ id }));

function paramsOf(path: string) {
  if (!path.includes('{id}')) return NO_PARAMS;
  return path.includes('{kind}') ? ACTOR_PARAMS : jobParams;
}

const INSPECTION_PAGES: readonly OperatorPage[] = [
  {
    path: '/failures',
    script: 'failure-list',
    title: 'Failures',
    summary: 'The failed jobs by cause, with what to do.',
    description: 'Shows the data of `GET /api/failures`, and retries all jobs of a group.',
  },
  {
    path: '/actors',
    script: 'actor-list',
    title: 'Actors',
    summary: 'The kinds of actors, and the actors of one kind.',
    description: 'Shows the data of `GET /api/actors`; the query has the filters.',
  },
  {
    path: '/actors/{kind}/{id}',
    script: 'actor-page',
    title: 'Actor',
    summary: 'One actor, a picture of its state machine, and what it waits for.',
    description: 'Shows the data of `GET /api/actors/{kind}/{id}`, with a diagram of the state machine.',
  },
  {
    path: '/runtime',
    script: 'runtime-page',
    title: 'Runtime',
    summary: 'Threads, pool, store and memory.',
    description: 'Shows the data of `GET /api/runtime`.',
  },
  {
    path: '/webhooks',
    script: 'webhook-list',
    title: 'Webhooks',
    summary: 'Calls of webhooks, their attempts, and sending them again.',
    description: 'Shows the data of `GET /api/webhooks/deliveries`, and sends deliveries again.',
  },
  {
    path: '/certificates',
    script: 'certificate-list',
    title: 'Certificates',
    summary:
      'The certificates that profiles sign with, the keys of applications, and how long they are valid.',
    description:
      'The certificates of `GET /api/profiles` with the findings of `GET /api/ready`, and the keys of `GET /api/portal/keys`.',
  },
  {
    path: '/components',
    script: 'components',
    styles: ['components-page.css'],
    title: 'Components',
    summary: 'Every component of the pages in every state.',
    description: 'For those who build pages. It shows nothing of the service.',
  },
];

const DOCUMENTS_PAGE: OperatorPage = {
  path: '/documents',
  script: 'actor-list',
  title: 'Documents',
  summary: 'The states of the documents of the portal, without their content.',
  description: 'The actors of kind `document`; no title, person or content.',
};

const MAILS: OperatorPage = {
  path: '/mails',
  script: 'mail-list',
  title: 'E-mails',
  summary: 'The e-mails of the portal, and what became of each.',
  description: 'Absent when the portal is not served. Without a relay each mail can be read.',
};

export function pageRoutes(
  { version, pollSeconds, systemInfo }: PageSettings,
  mails: boolean,
): readonly AnyRoute[] {
  const groups = pageGroups(mails);
  const pages: readonly OperatorPage[] = [
    {
      path: '/',
      script: 'overview',
      title: 'Overview',
      summary: 'The state of the service at a glance.',
      description: 'Refreshes itself every `Dashboard:PollIntervalSeconds`.',
    },
    {
      path: '/jobs',
      script: 'job-list',
      title: 'Jobs',
      summary: 'The jobs, with filters.',
      description: 'The filters are those of `GET /api/jobs`.',
    },
    {
      path: '/jobs/{id}',
      script: 'job-page',
      title: 'Job',
      summary: 'One job, its history, and what can be done with it.',
      description: 'Stops refreshing once the job has ended.',
    },
    {
      path: '/input',
      script: 'input-page',
      title: 'Input',
      summary: 'The input folders and their watchers.',
      description: 'One card for each folder, with a rescan of it or of all.',
    },
    ...INSPECTION_PAGES,
    ...(mails ? [DOCUMENTS_PAGE, MAILS] : []),
    {
      path: '/system',
      script: 'system-page',
      title: 'System',
      summary: 'The pipeline, readiness, profiles, and the program itself.',
      description:
        'Shows the data of `check-config` and `GET /api/profiles`, and pauses and resumes the pipeline with a reason.',
    },
  ];
  return [
    ...pages.map(({ path, script, styles = [], title, summary, description }) =>
      handle(
        {
          method: 'GET',
          path,
          group: 'Pages',
          summary: `A page for people: ${summary[0]?.toLowerCase() ?? ''}${summary.slice(1)}`,
          description,
          auth: 'page',
          params: paramsOf(path),
          reply: 'page',
          refusals: [],
        },
        ({ params }) => {
          const html = framedPage({
            title,
            path: path.split('{', 1)[0] ?? path,
            groups,
            version,
            styles: ['pages.css', ...styles],
            script: `${script}.js`,
            pollSeconds,
            main: OPERATOR_PAGES[path](params.id, systemInfo),
            ...(path === '/system' && { data: systemInfo }),
          });
          return page(200, html);
        },
      ),
    ),
    ...assetRoutes(),
  ];
}

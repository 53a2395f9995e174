/**
 * The operator pages' routes.
 *
 * Source: docs/batch-values.md §10; §5, `Dashboard:PollIntervalSeconds`.
 */

import { z } from 'zod';
import { actorParams } from '../../contracts/batch/actors.ts';
import { jobParams } from '../../contracts/batch/jobs.ts';
import { JOB_FORMATS, JOB_STATES } from '../../contracts/batch/words.ts';
import { DELIVERY_STATUSES } from '../../contracts/deliveries.ts';
import { MAIL_STATUSES } from '../../contracts/portal/mails.ts';
import type { Html } from '../../contracts/texts/html.ts';
import { componentsPage } from '../../web/pages/batch/components-page.tsx';
import { framedPage, type PageLink } from '../../web/pages/batch/layout.ts';
import {
  INPUT,
  jobListPage,
  jobPage,
  mailListPage,
  OVERVIEW,
  type SystemInfo,
  systemPage,
} from '../../web/pages/batch/operator.ts';
import {
  ACTOR,
  ACTORS,
  CERTIFICATES,
  DOCUMENTS,
  FAILURES,
  RUNTIME,
  webhooksPage,
} from '../../web/pages/batch/runtime-pages.ts';
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
export function pageLinks(mails: boolean): readonly PageLink[] {
  return [
    { href: '/', text: 'Overview' },
    { href: '/jobs', text: 'Jobs' },
    { href: '/input', text: 'Input' },
    { href: '/validate', text: 'Validate' },
    { href: '/failures', text: 'Failures' },
    { href: '/actors', text: 'Actors' },
    ...(mails
      ? [
          { href: '/documents', text: 'Documents' },
          { href: '/mails', text: 'E-mails' },
        ]
      : []),
    { href: '/webhooks', text: 'Webhooks' },
    { href: '/certificates', text: 'Certificates' },
    { href: '/runtime', text: 'Runtime' },
    { href: '/system', text: 'System' },
    { href: '/scalar/v1', text: 'API' },
  ];
}

interface OperatorPage {
  readonly path: string;
  /** Name in `web/client/batch/pages/`. */
  readonly script: string;
  /** Stylesheets besides that of all pages. */
  readonly styles?: readonly string[];
  readonly title: string;
  readonly summary: string;
  readonly description: string;
  main(id: string): Html;
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
    main: () => FAILURES,
  },
  {
    path: '/actors',
    script: 'actor-list',
    title: 'Actors',
    summary: 'The kinds of actors, and the actors of one kind.',
    description: 'Shows the data of `GET /api/actors`; the query has the filters.',
    main: () => ACTORS,
  },
  {
    path: '/actors/{kind}/{id}',
    script: 'actor-page',
    title: 'Actor',
    summary: 'One actor, a picture of its state machine, and what it waits for.',
    description: 'Shows the data of `GET /api/actors/{kind}/{id}`, with a diagram of the state machine.',
    main: () => ACTOR,
  },
  {
    path: '/runtime',
    script: 'runtime-page',
    title: 'Runtime',
    summary: 'Threads, pool, store and memory.',
    description: 'Shows the data of `GET /api/runtime`.',
    main: () => RUNTIME,
  },
  {
    path: '/webhooks',
    script: 'webhook-list',
    title: 'Webhooks',
    summary: 'Calls of webhooks, their attempts, and sending them again.',
    description: 'Shows the data of `GET /api/webhooks/deliveries`, and sends deliveries again.',
    main: () => webhooksPage(DELIVERY_STATUSES),
  },
  {
    path: '/certificates',
    script: 'certificate-list',
    title: 'Certificates',
    summary:
      'The certificates that profiles sign with, the keys of applications, and how long they are valid.',
    description:
      'The certificates of `GET /api/profiles` with the findings of `GET /api/ready`, and the keys of `GET /api/portal/keys`.',
    main: () => CERTIFICATES,
  },
  {
    path: '/components',
    script: 'components',
    styles: ['components-page.css'],
    title: 'Components',
    summary: 'Every component of the pages in every state.',
    description: 'For those who build pages. It shows nothing of the service.',
    main: componentsPage,
  },
];

const DOCUMENTS_PAGE: OperatorPage = {
  path: '/documents',
  script: 'actor-list',
  title: 'Documents',
  summary: 'The states of the documents of the portal, without their content.',
  description: 'The actors of kind `document`; no title, person or content.',
  main: () => DOCUMENTS,
};

const MAILS: OperatorPage = {
  path: '/mails',
  script: 'mail-list',
  title: 'E-mails',
  summary: 'The e-mails of the portal, and what became of each.',
  description: 'Absent when the portal is not served. Without a relay each mail can be read.',
  main: () => mailListPage(MAIL_STATUSES),
};

export function pageRoutes(
  { version, pollSeconds, systemInfo }: PageSettings,
  mails: boolean,
): readonly AnyRoute[] {
  const links = pageLinks(mails);
  const pages: readonly OperatorPage[] = [
    {
      path: '/',
      script: 'overview',
      title: 'Overview',
      summary: 'The state of the service at a glance.',
      description: 'Refreshes itself every `Dashboard:PollIntervalSeconds`.',
      main: () => OVERVIEW,
    },
    {
      path: '/jobs',
      script: 'job-list',
      title: 'Jobs',
      summary: 'The jobs, with filters.',
      description: 'The filters are those of `GET /api/jobs`.',
      main: () => jobListPage(JOB_STATES, JOB_FORMATS),
    },
    {
      path: '/jobs/{id}',
      script: 'job-page',
      title: 'Job',
      summary: 'One job, its history, and what can be done with it.',
      description: 'Stops refreshing once the job has ended.',
      main: jobPage,
    },
    {
      path: '/input',
      script: 'input-page',
      title: 'Input',
      summary: 'The input folders and their watchers.',
      description: 'One card for each folder, with a rescan of it or of all.',
      main: () => INPUT,
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
      main: () => systemPage(systemInfo),
    },
  ];
  return [
    ...pages.map(({ path, script, styles = [], title, summary, description, main }) =>
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
            links,
            version,
            styles: ['pages.css', ...styles],
            script: `${script}.js`,
            pollSeconds,
            main: main(params.id),
          });
          return page(200, html);
        },
      ),
    ),
    ...assetRoutes(),
  ];
}

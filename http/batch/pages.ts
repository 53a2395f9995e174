/**
 * The operator pages' routes.
 *
 * Source: batch-gaps §10, "Operator pages"; §5, `Dashboard:PollIntervalSeconds`.
 */
import { JOB_STATES } from '../../machines/job-context.ts';
import { MAIL_STATES } from '../../machines/mail.ts';
import { assetRoutes } from '../pages/assets.ts';
import { framedPage, type PageLink } from '../pages/layout.ts';
import {
  INPUT,
  jobListPage,
  jobPage,
  mailListPage,
  OVERVIEW,
  type SystemFacts,
  systemPage,
} from '../pages/operator.ts';
import { PAGES_STYLE, REFERENCE_STYLE } from '../pages/styles.ts';
import { page } from '../reply.ts';
import { type AnyRoute, route } from '../router.ts';
import { jobParams, noBody, noParams, noQuery } from './queries.ts';
import { jobFormat } from './shapes.ts';

export interface PageSettings {
  readonly version: string;
  /** `Dashboard:PollIntervalSeconds`. */
  readonly pollSeconds: number;
  readonly facts: SystemFacts;
}

/** The way around, on every page; `mails` is whether there is a portal, which sends them. */
export function pageLinks(mails: boolean): readonly PageLink[] {
  return [
    { href: '/', text: 'Overview' },
    { href: '/jobs', text: 'Jobs' },
    { href: '/input', text: 'Input' },
    ...(mails ? [{ href: '/mails', text: 'E-mails' }] : []),
    { href: '/system', text: 'System' },
    { href: '/scalar/v1', text: 'API' },
  ];
}

/** The scripts of all pages; each imports some of the others. */
const SCRIPTS = [
  'api.js',
  'browser.js',
  'input-page.js',
  'job-list.js',
  'job-page.js',
  'mail-list.js',
  'operator.js',
  'overview.js',
  'paged-list.js',
  'pipeline.js',
  'reference.js',
  'shown.js',
  'system-page.js',
];

interface OperatorPage {
  readonly path: string;
  /** What its script is called in `client/operator.ts`. */
  readonly script: string;
  readonly title: string;
  readonly summary: string;
  main(id: string): string;
}

const MAILS: OperatorPage = {
  path: '/mails',
  script: 'mails',
  title: 'E-mails',
  summary: 'The e-mails of the portal, and what became of each.',
  main: () => mailListPage(MAIL_STATES),
};

export function pageRoutes(
  { version, pollSeconds, facts }: PageSettings,
  mails: boolean,
): readonly AnyRoute[] {
  const links = pageLinks(mails);
  const pages: readonly OperatorPage[] = [
    {
      path: '/',
      script: 'overview',
      title: 'Overview',
      summary: 'The state of the service at a glance.',
      main: () => OVERVIEW,
    },
    {
      path: '/jobs',
      script: 'jobs',
      title: 'Jobs',
      summary: 'The jobs, with filters.',
      main: () => jobListPage(JOB_STATES, jobFormat.options),
    },
    {
      path: '/jobs/{id}',
      script: 'job',
      title: 'Job',
      summary: 'One job, its history, and what can be done with it.',
      main: jobPage,
    },
    {
      path: '/input',
      script: 'input',
      title: 'Input',
      summary: 'The input folders and their watchers.',
      main: () => INPUT,
    },
    ...(mails ? [MAILS] : []),
    {
      path: '/system',
      script: 'system',
      title: 'System',
      summary: 'The pipeline, readiness, profiles, and the program itself.',
      main: () => systemPage(facts),
    },
  ];
  return [
    ...pages.map(({ path, script, title, summary, main }) =>
      route({
        method: 'GET',
        path,
        summary: `A page for people: ${summary[0]?.toLowerCase() ?? ''}${summary.slice(1)}`,
        auth: 'page',
        rate: 'none',
        bodyPolicy: 'none',
        headers: [],
        params: path.includes('{id}') ? jobParams : noParams.transform(() => ({ id: '' })),
        query: noQuery,
        body: noBody,
        unfit: {
          params: 'route.not-found',
          query: 'validation.filter-invalid',
          body: 'validation.body-invalid',
        },
        responses: { 200: 'page' },
        refusals: [],
        handle({ params }) {
          const html = framedPage({
            title,
            path: path.replace('{id}', ''),
            links,
            version,
            styles: ['pages.css'],
            scripts: ['operator.js'],
            data: { page: script, poll: String(pollSeconds) },
            main: main(params.id),
          });
          return page(200, html);
        },
      }),
    ),
    ...assetRoutes(SCRIPTS, { 'pages.css': PAGES_STYLE, 'reference.css': REFERENCE_STYLE }),
  ];
}

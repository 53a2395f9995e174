/**
 * The operator pages before their scripts fill in data from the API, with the same components. They contain no state of
 * the service, so pages and programs receive the same replies.
 *
 * Source: docs/batch-values.md §10.
 */
import type { VNode } from 'preact';
import { AccessKeysView } from './access-keys.tsx';
import { ActorView } from './actor-page.tsx';
import { ActorsView, DocumentsView } from './actors.tsx';
import { CertificatesView } from './certificates.tsx';
import { MailsView, WebhooksView } from './deliveries.tsx';
import { FailuresView } from './failures.tsx';
import { InputView } from './input.tsx';
import { JobListView } from './job-list.tsx';
import { JobView } from './job-page.tsx';
import { OverviewView } from './overview.tsx';
import { RuntimeView } from './runtime.tsx';
import { type SystemInfo, SystemView } from './system.tsx';

interface OperatorPage {
  readonly path: `/${string}`;
  /** Name in `web/client/batch/pages/`. */
  readonly script: string;
  readonly title: string;
  readonly summary: string;
  readonly description: string;
  /** Absent without a portal. @default false */
  readonly ofPortal?: boolean;
  main(info: SystemInfo): VNode;
}

export const OPERATOR_PAGES: readonly OperatorPage[] = [
  {
    path: '/',
    script: 'overview',
    title: 'Overview',
    summary: 'The state of the service at a glance.',
    description: 'Refreshes itself every `Dashboard:PollIntervalSeconds`.',
    main: () => <OverviewView />,
  },
  {
    path: '/jobs',
    script: 'job-list',
    title: 'Jobs',
    summary: 'The jobs, with filters.',
    description: 'The filters are those of `GET /api/jobs`.',
    main: () => <JobListView />,
  },
  {
    path: '/jobs/{id}',
    script: 'job-page',
    title: 'Job',
    summary: 'One job, its history, and what can be done with it.',
    description: 'Stops refreshing once the job has ended.',
    main: () => <JobView />,
  },
  {
    path: '/input',
    script: 'input-page',
    title: 'Input',
    summary: 'The input folders and their watchers.',
    description: 'One card for each folder, with a rescan of it or of all.',
    main: () => <InputView />,
  },
  {
    path: '/failures',
    script: 'failure-list',
    title: 'Failures',
    summary: 'The failed jobs by cause, with what to do.',
    description: 'Shows the data of `GET /api/failures`, and retries all jobs of a group.',
    main: () => <FailuresView />,
  },
  {
    path: '/actors',
    script: 'actor-list',
    title: 'Actors',
    summary: 'The kinds of actors, and the actors of one kind.',
    description: 'Shows the data of `GET /api/actors`; the query has the filters.',
    main: () => <ActorsView />,
  },
  {
    path: '/actors/{kind}/{id}',
    script: 'actor-page',
    title: 'Actor',
    summary: 'One actor, a picture of its state machine, and what it waits for.',
    description: 'Shows the data of `GET /api/actors/{kind}/{id}`, with a diagram of the state machine.',
    main: () => <ActorView />,
  },
  {
    path: '/runtime',
    script: 'runtime-page',
    title: 'Nodes',
    summary: 'The nodes on the store, and the threads, pool, store and memory of the one that answers.',
    description: 'Shows the data of `GET /api/runtime`.',
    main: () => <RuntimeView />,
  },
  {
    path: '/webhooks',
    script: 'webhook-list',
    title: 'Webhooks',
    summary: 'Calls of webhooks, their attempts, and sending them again.',
    description: 'Shows the data of `GET /api/webhooks/deliveries`, and sends deliveries again.',
    main: () => <WebhooksView />,
  },
  {
    path: '/certificates',
    script: 'certificate-list',
    title: 'Certificates',
    summary:
      'The certificates that profiles sign with, the keys of applications, and how long they are valid.',
    description:
      'The certificates of `GET /api/profiles` with the findings of `GET /api/ready`, and the keys of `GET /api/portal/keys`.',
    main: () => <CertificatesView />,
  },
  {
    path: '/keys',
    script: 'access-keys',
    title: 'Access keys',
    summary: 'The named API keys, and making, rotating and revoking them.',
    description: 'Shows the data of `GET /api/keys`, for administrators.',
    main: () => <AccessKeysView />,
  },
  {
    path: '/documents',
    script: 'actor-list',
    title: 'Documents',
    summary: 'The states of the documents of the portal, without their content.',
    description: 'The actors of kind `document`; no title, person or content.',
    ofPortal: true,
    main: () => <DocumentsView />,
  },
  {
    path: '/mails',
    script: 'mail-list',
    title: 'E-mails',
    summary: 'The e-mails of the portal, and what became of each.',
    description: 'Absent when the portal is not served. Without a relay each mail can be read.',
    ofPortal: true,
    main: () => <MailsView />,
  },
  {
    path: '/system',
    script: 'system-page',
    title: 'System',
    summary: 'The pipeline, readiness, profiles, and the program itself.',
    description:
      'Shows the data of `check-config` and `GET /api/profiles`, and pauses and resumes the pipeline with a reason.',
    main: (info) => <SystemView info={info} />,
  },
];

/**
 * The operator pages before their scripts fill in data from the API, with the same components. They contain no state of
 * the service, so pages and programs receive the same replies.
 *
 * Source: docs/batch-values.md §10.
 */
import type { VNode } from 'preact';
import { ActorView } from './actor-page.tsx';
import { ActorsView, DocumentsView } from './actors.tsx';
import { CertificatesView } from './certificates.tsx';
import { ComponentsPage } from './components-page.tsx';
import { MailsView, WebhooksView } from './deliveries.tsx';
import { FailuresView } from './failures.tsx';
import { InputView } from './input.tsx';
import { JobListView } from './job-list.tsx';
import { JobView } from './job-page.tsx';
import { OverviewView } from './overview.tsx';
import { RuntimeView } from './runtime.tsx';
import { type SystemInfo, SystemView } from './system.tsx';

/** @param id in the path; it need not exist */
export const OPERATOR_PAGES = {
  '/': () => <OverviewView />,
  '/jobs': () => <JobListView />,
  '/jobs/{id}': (id: string) => <JobView id={id} />,
  '/input': () => <InputView />,
  '/failures': () => <FailuresView />,
  '/actors': () => <ActorsView />,
  '/actors/{kind}/{id}': () => <ActorView />,
  '/runtime': () => <RuntimeView />,
  '/webhooks': () => <WebhooksView />,
  '/certificates': () => <CertificatesView />,
  '/components': () => <ComponentsPage />,
  '/documents': () => <DocumentsView />,
  '/mails': () => <MailsView />,
  '/system': (_: string, info: SystemInfo) => <SystemView info={info} />,
} satisfies { readonly [path: string]: (id: string, info: SystemInfo) => VNode };

export type OperatorPath = keyof typeof OPERATOR_PAGES;

/** A portal over HTTP on a real store, with a clock that tests set forward. */

import { type Faults, systemIds } from '@sealwright/runtime';
import type { ExecutionContext } from 'ava';
import type { PortalOptions } from '../../../../actors/index.ts';
import { createPortalServer } from '../../../../http/index.ts';
import { portalPageRoutes } from '../../../../http/portal/page-routes.ts';
import { type PortalFixture, portalFixture } from '../../../actors/portal/documents/flow-harness.ts';
import { Client, until } from '../../../actors/portal/service.ts';
import { movableClock, SILENT } from '../../../actors/portal/uploads/upload-harness.ts';
import { bookOf, checkAnswersOf } from '../../answers.ts';
import { SETTINGS } from '../harness.ts';

export const DAY = 86_400_000;
const SECRET = 's'.repeat(64);

export interface ClockedPortal {
  readonly fixture: PortalFixture;
  readonly client: Client;
  /** Makes the time later and lets deadlines fire. */
  forward(by: number): void;
  close(): Promise<void>;
}

/** @param later how far the clock is set forward at the start */
export async function clockedPortal(
  t: Pick<ExecutionContext, 'teardown'>,
  options: {
    readonly root?: string;
    readonly faults?: Faults;
    readonly later?: number;
    readonly trustsProxy?: boolean;
    readonly signingProviders?: PortalOptions['signingProviders'];
  } = {},
): Promise<ClockedPortal> {
  const { later = 0, trustsProxy = false, signingProviders = [], ...more } = options;
  const clock = movableClock();
  clock.forward(later);
  const fixture = await portalFixture(t, {
    ...more,
    clock,
    signingProviders,
    tenants: {
      organizations: [],
      applications: [
        { organization: 'Org', application: 'App', role: 'Normal', secret: SECRET, from: 'stored' },
        { organization: 'Other', application: 'Other', role: 'Normal', secret: SECRET, from: 'stored' },
        {
          organization: 'Sys Admin',
          application: 'Admin',
          role: 'Administrator',
          secret: SECRET,
          from: 'stored',
        },
      ],
    },
  });
  const server = createPortalServer({
    service: fixture.portal,
    settings: {
      ...SETTINGS,
      ...(trustsProxy && { forwarded: { anyProxy: true, proxies: [], networks: [], limit: 1 } }),
    },
    clock,
    ids: systemIds,
    log: SILENT,
    pageRoutes: portalPageRoutes(fixture.portal, {
      clock,
      ids: systemIds,
      used: { use: async () => true },
    }),
  });
  const { url } = await server.listen();
  checkAnswersOf(t, url, bookOf('portal-with-pages'));
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await server.close();
    await fixture.close();
  };
  t.teardown(close);
  return {
    fixture,
    client: new Client(url, `App|${SECRET}`),
    forward(by) {
      clock.forward(by);
      fixture.runtime.start();
    },
    close,
  };
}

/** The same portal with another key. */
export function clientOf({ client }: ClockedPortal, application: 'Other' | 'Admin'): Client {
  return new Client(client.url, `${application}|${SECRET}`);
}

/** Types of the entries of a document's history. */
export async function typesOf({ client }: ClockedPortal, id: string): Promise<readonly string[]> {
  const { items } = await client.get<{ items: { type: string }[] }>(`/api/documents/${id}/history?limit=100`);
  return items.map(({ type }) => type);
}

interface ListedMail {
  readonly about: string;
  readonly to: string;
  readonly status: string;
}

async function mailsOf({ client }: ClockedPortal, id: string, about: string): Promise<readonly ListedMail[]> {
  const mails = await client.get<ListedMail[]>(`/api/documents/${id}/mails`);
  return mails.filter((mail) => mail.about === about);
}

/** Addresses of the mails of this kind. */
export async function mailed(portal: ClockedPortal, id: string, about: string): Promise<readonly string[]> {
  return (await mailsOf(portal, id, about)).map(({ to }) => to);
}

/** Resolves with the addresses once as many mails of this kind were sent. */
export function untilMailed(portal: ClockedPortal, id: string, about: string, count: number) {
  return until(async () => {
    const mails = await mailsOf(portal, id, about);
    return mails.filter(({ status }) => status === 'Sent').length >= count
      ? mails.map(({ to }) => to)
      : undefined;
  });
}

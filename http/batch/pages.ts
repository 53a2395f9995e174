/**
 * The operator pages' routes.
 *
 * Source: docs/batch-values.md §10; §5, `Dashboard:PollIntervalSeconds`.
 */

import { z } from 'zod';
import { refusedTo } from '../../contracts/batch/access.ts';
import { actorParams } from '../../contracts/batch/actors.ts';
import { jobParams } from '../../contracts/batch/jobs.ts';
import { framedPage, type LinkGroup } from '../../web/pages/batch/layout.tsx';
import { OPERATOR_PAGES } from '../../web/pages/batch/operator.tsx';
import { forReader } from '../../web/pages/batch/rights.tsx';
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
        { href: '/runtime', text: 'Nodes', icon: 'server' },
        { href: '/keys', text: 'Access keys', icon: 'hash', needs: 'GET /api/keys' },
        { href: '/certificates', text: 'Certificates', icon: 'badge-check' },
        { href: '/system', text: 'System', icon: 'sliders-horizontal' },
        { href: '/scalar/v1', text: 'API', icon: 'code' },
      ],
    },
  ];
}

/** Parameters in the path, which a script reads. */
function paramsOf(path: string): z.ZodObject {
  if (!path.includes('{id}')) return z.object({});
  return path.includes('{kind}') ? actorParams : jobParams;
}

export function pageRoutes(
  { version, pollSeconds, systemInfo }: PageSettings,
  mails: boolean,
): readonly AnyRoute[] {
  const groups = pageGroups(mails);
  return [
    ...OPERATOR_PAGES.filter(({ ofPortal = false }) => mails || !ofPortal).map(
      ({ path, script, title, summary, description, main }) =>
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
          ({ identity }) => {
            const html = framedPage({
              title,
              path: path.split('{', 1)[0] ?? path,
              groups,
              version,
              styles: ['pages.css'],
              script: `${script}.js`,
              pollSeconds,
              main: forReader(refusedTo(identity?.scopes), main(systemInfo)),
              scopes: identity?.scopes,
              ...(path === '/system' && { data: systemInfo }),
            });
            return page(200, html);
          },
        ),
    ),
    ...assetRoutes(),
  ];
}

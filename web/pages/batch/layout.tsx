/**
 * Frame of the operator pages: navigation at the side in groups, search, and the live region for results. Scripts and
 * styles are separate files, because the Content-Security-Policy forbids inline ones.
 */

import { type AccessScope, mayCall, type OperationName, refusedTo } from '../../../contracts/batch/access.ts';
import { type Content, documentText, Inserted, PageData } from '../../../contracts/texts/markup.tsx';
import { Button } from '../../components/controls.tsx';
import { DocumentHead } from '../../components/head.tsx';
import { Icon } from '../../components/icon.tsx';
import { Navigation, type PageLink } from '../../components/navigation.tsx';
import { Brandmark } from '../../components/surfaces.tsx';

/** Links of the navigation under one name. */
export interface LinkGroup {
  readonly name: string;
  readonly links: readonly (Omit<PageLink, 'isCurrent'> & {
    /** Read by the page, when not all readers may. */
    readonly needs?: OperationName;
  })[];
}

export interface Frame {
  readonly title: string;
  /** Path of the page, to mark its link as the current one. */
  readonly path: string;
  readonly groups: readonly LinkGroup[];
  readonly version: string;
  /** URL prefix of the assets. @default /assets */
  readonly assets?: string;
  /** True when there is a session to end. @default true */
  readonly session?: boolean;
  /** Files below `assets`. */
  readonly styles: readonly string[];
  readonly script?: string;
  /** Of a page that refreshes itself: `Dashboard:PollIntervalSeconds`. */
  readonly pollSeconds?: number;
  /** A page with a search of its own has none of the service. @default true */
  readonly search?: boolean;
  /** Scopes of the reader. @default all */
  readonly scopes?: readonly AccessScope[] | undefined;
  readonly main: Content;
  /** Data for the script. */
  readonly data?: unknown;
}

export function framedPage(frame: Frame): string {
  const { title, path, groups, version, main, script, pollSeconds } = frame;
  const { assets = '/assets', session = true, search = true, scopes } = frame;
  return documentText(
    <html lang="en">
      <DocumentHead
        title={`${title} - sealwright`}
        icon={`${assets}/icon.svg`}
        styles={frame.styles.map((name) => `${assets}/${name}`)}
      >
        {script !== undefined && <script type="module" src={`${assets}/${script}`} />}
      </DocumentHead>
      <body
        class={groups.length > 0 ? 'shell' : undefined}
        data-poll={pollSeconds}
        data-refused={refusedTo(scopes).join() || undefined}
      >
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="side">
          <Brandmark name="sealwright" />
          {groups.length > 0 && (
            <Navigation
              menu="Menu"
              label="Pages"
              groups={groups.map(({ name, links }) => ({
                name,
                links: links
                  .filter(({ needs }) => needs === undefined || mayCall(scopes, needs))
                  .map(({ needs: _needs, ...link }) => ({ ...link, isCurrent: isInside(path, link.href) })),
              }))}
            />
          )}
          <div class="extras">
            {pollSeconds !== undefined && <TimeChoice />}
            <span class="version">{version}</span>
          </div>
          {session && (
            <form method="post" action="/api/auth/logout">
              <Button type="submit" rank="quiet" icon="log-out">
                Log out
              </Button>
            </form>
          )}
        </header>
        {groups.length > 0 && search && <Find />}
        <main id="main" tabIndex={-1}>
          <Inserted content={main} />
        </main>
        {pollSeconds !== undefined && (
          <>
            <noscript>
              <p class="outcome bad">
                JavaScript is off, so this page shows no data. Programs get the same from <code>/api/</code>.
              </p>
            </noscript>
            <p class="outcome bad" id="connection" role="status" hidden />
          </>
        )}
        <div class="toasts" id="toasts" role="status" aria-live="polite" />
        {frame.data !== undefined && <PageData data={frame.data} />}
      </body>
    </html>,
  );
}

function isInside(path: string, href: string): boolean {
  return href === '/' ? path === '/' : `${path}/`.startsWith(`${href}/`);
}

/** Scripts show the results below it; without one it filters the jobs by file name. */
function Find() {
  return (
    <form class="find" role="search" action="/jobs">
      <Icon name="search" size="s" />
      <input
        id="find"
        name="fileName"
        type="search"
        maxLength={200}
        autoComplete="off"
        placeholder="Job, document, e-mail, actor"
        aria-label="Find a job, document, e-mail or actor"
        aria-keyshortcuts="/"
      />
      <span class="kbd" aria-hidden="true">
        {'/'}
      </span>
    </form>
  );
}

function TimeChoice() {
  return (
    <label class="muted small">
      Times{' '}
      <select id="times">
        <option value="relative">relative</option>
        <option value="local">local</option>
        <option value="utc">UTC</option>
      </select>
    </label>
  );
}

/** Frame of the pages of users: navigation at the side, who is signed in, languages; on phones a bar with a menu. */
import type { Html } from '../../../contracts/texts/html.ts';
import { type Content, Inserted, markup, Template } from '../../../contracts/texts/markup.tsx';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import { ButtonLink } from '../../components/controls.tsx';
import { type LinkGroup, Navigation } from '../../components/navigation.tsx';
import { Brandmark } from '../../components/surfaces.tsx';
import { Logo } from './page-frame.tsx';

export function accountShell({
  texts,
  organization,
  branding,
  groups,
  newDocument,
  title,
  extras,
  main,
}: {
  texts: { readonly skip: string; readonly navigation: string; readonly menu: string };
  organization: string;
  branding: PageBranding | undefined;
  groups: readonly LinkGroup[];
  /** `isMain`: the page has no primary action of its own. False: the user makes no documents. */
  newDocument: { readonly href: string; readonly text: string; readonly isMain: boolean } | false;
  /** Undefined: the content has its own. */
  title: string | undefined;
  /** Below the links. */
  extras: Html;
  main: Content;
}): Html {
  return markup(
    <>
      <a class="skip" href="#main">
        {texts.skip}
      </a>
      <header class="side">
        {branding?.logo === undefined ? (
          <Brandmark name={organization} />
        ) : (
          <p class="brandmark">
            <Logo branding={branding} alt="" />
            <bdi>{organization}</bdi>
          </p>
        )}
        {newDocument && (
          <ButtonLink href={newDocument.href} {...(newDocument.isMain && { rank: 'main' })} icon="plus">
            <span class="label">{newDocument.text}</span>
          </ButtonLink>
        )}
        <Navigation groups={groups} menu={texts.menu} label={texts.navigation}>
          <div class="extras">
            <Template of={extras} />
          </div>
        </Navigation>
      </header>
      <main id="main" class="account-main" tabIndex={-1}>
        {title !== undefined && (
          <h1>
            <bdi>{title}</bdi>
          </h1>
        )}
        <Inserted content={main} />
      </main>
      <p class="outcome bad" id="connection" role="status" />
      <div class="toasts" id="toasts" role="status" aria-live="polite" />
    </>,
  );
}

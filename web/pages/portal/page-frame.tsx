/**
 * Frame of the portal's pages. Scripts and styles are separate files, because the Content-Security-Policy forbids
 * inline ones; a block of JSON, which browsers do not execute, carries the data of the scripts.
 */
import { type Content, documentText, Inserted, PageData } from '../../../contracts/texts/markup.tsx';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import { DocumentHead } from '../../components/head.tsx';
import type { PageTexts } from './texts.ts';

/** URL prefix of scripts and styles. */
export const ASSETS = '/document/assets';

export type Theme = 'light' | 'dark';

export interface PortalFrame {
  readonly words: PageTexts;
  readonly title: string;
  /** Undefined: the system's colour scheme. */
  readonly theme?: Theme | undefined;
  /** Class of `<body>`. */
  readonly kind: string;
  /** Script of the page, a file below `ASSETS`. */
  readonly script?: string | undefined;
  /** One more, for some visits alone. */
  readonly moreScripts?: readonly string[];
  /** File below `ASSETS` that runs as soon as it is loaded, before the others. */
  readonly early?: string | undefined;
  /** Path of a file that a script will read; requested at once. */
  readonly preload?: string | undefined;
  /** Path of a picture that the page begins with; requested before all others. */
  readonly picture?: string | undefined;
  /** Data for the script. */
  readonly data?: unknown;
  /** Look of the organization. */
  readonly branding?: PageBranding | undefined;
  /** The page has a header of its own, in place of the band. */
  readonly ownHeader?: boolean;
  /** Address to which the page leads at once, relative to its own: a path below which the portal is served does not matter. */
  readonly onward?: string | undefined;
  /** Its forms name their origin, by which the service tells them from those of other sites. */
  readonly namesOrigin?: boolean;
  readonly main: Content;
}

export function portalPage(frame: PortalFrame): string {
  const {
    words,
    title,
    theme,
    kind,
    script,
    moreScripts = [],
    early,
    preload,
    data,
    main,
    branding,
    ownHeader,
  } = frame;
  const { namesOrigin, onward, picture } = frame;
  const hasBand = branding !== undefined && ownHeader !== true && !kind.includes('embedded');
  return documentText(
    <html lang={words.language} data-theme={theme}>
      <DocumentHead
        title={title}
        icon={`${ASSETS}/icon.svg`}
        styles={stylesOf(frame)}
        theme={theme}
        onward={onward}
        namesOrigin={namesOrigin === true}
      >
        {picture !== undefined && <link rel="preload" as="image" fetchPriority="high" href={picture} />}
        {early !== undefined && <script type="module" async src={`${ASSETS}/${early}`} />}
        {script !== undefined && <script type="module" src={`${ASSETS}/${script}`} />}
        {moreScripts.map((name) => (
          <script type="module" src={`${ASSETS}/${name}`} />
        ))}
        {preload !== undefined && <link rel="preload" as="fetch" crossOrigin="anonymous" href={preload} />}
      </DocumentHead>
      <body class={kind}>
        {hasBand && (
          <header class="branding">
            {branding.logo === undefined ? (
              <strong>{branding.name}</strong>
            ) : (
              <Logo branding={branding} alt={branding.name} />
            )}
          </header>
        )}
        <Inserted content={main} />
        {data !== undefined && <PageData data={data} />}
      </body>
    </html>,
  );
}

/** A page with an early script asks for its fonts later. */
function stylesOf({ early, branding }: PortalFrame): readonly string[] {
  const styles = [`${ASSETS}/pages.css`];
  if (early === undefined) styles.push(`${ASSETS}/fonts.css`);
  if (branding?.colors !== undefined)
    styles.push(`${brandingPath(branding)}/colors.css?v=${branding.colors}`);
  return styles;
}

/** URL prefix of what an organization's pages load. */
export const BRANDING = '/document/branding';

function brandingPath({ organizationId }: PageBranding): string {
  return `${BRANDING}/${encodeURIComponent(organizationId)}`;
}

/** Nothing without a logo. @param alt empty when the name is shown beside it */
export function Logo({ branding, alt }: { branding: PageBranding; alt: string }) {
  const logo = logoImage(branding);
  return logo === undefined ? null : <img {...logo} alt={alt} />;
}

/** Address and size of the logo; undefined without one. */
export function logoImage(branding: PageBranding): LogoImage | undefined {
  const { logo } = branding;
  if (logo === undefined) return undefined;
  const { digest, width, height } = logo;
  return { src: `${brandingPath(branding)}/logo?v=${digest}`, width, height };
}

export interface LogoImage {
  readonly src: string;
  readonly width: number;
  readonly height: number;
}

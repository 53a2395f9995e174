/** Pages with one message: what happened, and what to do. */
import { Button, ButtonLink, Field } from '../../components/controls.tsx';
import type { IconName } from '../../components/icons.ts';
import { StateOf } from '../../components/surfaces.tsx';
import type { StateData } from './page-data.ts';
import { type PortalFrame, portalPage, type Theme } from './page-frame.tsx';
import type { PageMessage, PageTexts } from './texts.ts';

/** A link that leads on. The first is the primary action. */
export interface Way {
  readonly href: string;
  readonly text: string;
}

export interface Notice {
  readonly words: PageTexts;
  readonly theme: Theme | undefined;
  readonly message: PageMessage;
  readonly icon: IconName;
  readonly tone?: 'good' | 'bad';
  /** Small print below the text. */
  readonly hint?: string;
  readonly ways?: readonly Way[];
  readonly more?: Pick<PortalFrame, 'kind' | 'script' | 'data'>;
}

export function noticePage({ words, theme, message, icon, tone, hint, ways = [], more }: Notice): string {
  return portalPage({
    words,
    title: message.title,
    theme,
    ...(more ?? { kind: 'quiet' }),
    main: (
      <main id="main" class="notice" tabIndex={-1}>
        <StateOf icon={icon} tone={tone} title={message.title} level="h1">
          <p>{message.text}</p>
          {hint !== undefined && <p class="hint">{hint}</p>}
          {ways.length > 0 && (
            <p class="ways">
              {ways.map(({ href, text }, index) => (
                <ButtonLink href={href} {...(index === 0 && { rank: 'main' })}>
                  {text}
                </ButtonLink>
              ))}
            </p>
          )}
        </StateOf>
      </main>
    ),
  });
}

/** Page in a frame of an origin that may not show the document. It has nothing of the document. */
export function refusedFramePage(words: PageTexts, theme: Theme | undefined): string {
  const data = { events: [{ type: 'error', code: 'FrameRefused' }], embedOrigins: [] } satisfies StateData;
  const more = { kind: 'quiet embedded', script: 'state-client.js', data };
  return noticePage({ words, theme, message: words.refusedFrame, icon: 'ban', more });
}

/** Asks for a new link. @param action path to which it posts @param asks true: the person enters the address */
export function NewLinkForm({
  action,
  words: { newLink },
  asks = false,
}: {
  action: string;
  words: PageTexts;
  asks?: boolean;
}) {
  return (
    <form method="post" action={action} class="stack">
      {asks && (
        <Field id="email" name="email" type="email" label={newLink.address} autoComplete="email" required />
      )}
      <Button type="submit" rank="main">
        {newLink.button}
      </Button>
    </form>
  );
}

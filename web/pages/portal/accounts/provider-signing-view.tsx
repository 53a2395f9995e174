/** Pages between the signing page and a signing provider: the person's certificates there, and what went wrong. */
import type { AskedSecret, ProviderTrouble, ShownCredential } from '../../../../actors/portal/api.ts';
import { Button, ButtonLink } from '../../../components/controls.tsx';
import { noticePage } from '../notice-view.tsx';
import { portalPage } from '../page-frame.tsx';
import { filled, type PageTexts, textBy } from '../texts.ts';

interface Frame {
  readonly words: PageTexts;
  /** Name of the provider for people. */
  readonly provider: string;
}

export function certificateChoicePage(
  { words, provider }: Frame,
  {
    action,
    visit,
    document,
    credentials,
    back,
    isAgain,
  }: {
    readonly action: string;
    readonly visit: string;
    readonly document: string;
    readonly credentials: readonly ShownCredential[];
    readonly back: string;
    /** Somebody else has signed since the person chose. */
    readonly isAgain: boolean;
  },
): string {
  const texts = words.provider;
  const usable = credentials.filter(({ trouble }) => trouble === undefined);
  const title = filled(texts.chooseTitle, { provider });
  return portalPage({
    words,
    title,
    kind: 'quiet',
    main: (
      <main id="main" class="notice narrow" tabIndex={-1}>
        <h1>{title}</h1>
        <p>{filled(texts.chooseText, { document, provider })}</p>
        {isAgain && (
          <p class="trouble" role="alert">
            {texts.again}
          </p>
        )}
        {credentials.length === 0 && <p class="trouble">{filled(texts.none, { provider })}</p>}
        {credentials.length > 0 && (
          <form method="post" action={action} class="stack">
            <input type="hidden" name="visit" value={visit} />
            <fieldset class="stack" aria-label={texts.certificates}>
              {credentials.map((one) => (
                <Certificate one={one} words={words} isFirst={one === usable[0]} />
              ))}
            </fieldset>
            {usable.length > 0 && (
              <Button type="submit" rank="main" big>
                {filled(texts.onward, { provider })}
              </Button>
            )}
          </form>
        )}
        <p>
          <ButtonLink href={back} rank="quiet">
            {texts.back}
          </ButtonLink>
        </p>
      </main>
    ),
  });
}

function Certificate({
  one: { id, holder, issuer, until, trouble },
  words: { provider: texts, language },
  isFirst,
}: {
  one: ShownCredential;
  words: PageTexts;
  isFirst: boolean;
}) {
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });
  const about = [
    issuer && filled(texts.issuer, { name: issuer }),
    until !== undefined && filled(texts.until, { date: day.format(until) }),
  ].filter(Boolean);
  return (
    <label class="tick">
      <input
        type="radio"
        name="credential"
        value={id}
        required
        checked={isFirst}
        disabled={trouble !== undefined}
      />{' '}
      <span>
        <bdi>{holder ?? id}</bdi>
        <br />
        <span class="hint">{about.join(' · ')}</span>
        {trouble !== undefined && <span class="hint"> {texts.troubles[trouble]}</span>}
      </span>
    </label>
  );
}

/** The person types what authorizes the signature. */
export function secretsPage(
  { words, provider }: Frame,
  {
    action,
    visit,
    document,
    secrets,
    question,
    page,
    isAgain,
  }: {
    readonly action: string;
    readonly visit: string;
    readonly document: string;
    readonly secrets: readonly AskedSecret[];
    readonly question: string | undefined;
    readonly page: string;
    /** True: a value that was typed before is wrong. */
    readonly isAgain: boolean;
  },
): string {
  const texts = words.provider;
  const title = filled(texts.secretsTitle, { provider });
  return portalPage({
    words,
    title,
    kind: 'quiet',
    main: (
      <main id="main" class="notice narrow" tabIndex={-1}>
        <h1>{title}</h1>
        <p>{filled(texts.secretsText, { document, provider })}</p>
        {isAgain && (
          <p class="trouble" role="alert">
            {texts.failures.secret}
          </p>
        )}
        {question !== undefined && <p>{question}</p>}
        <form method="post" action={action} class="stack" autocomplete="off">
          <input type="hidden" name="visit" value={visit} />
          {secrets.map(({ kind, label, isNumeric }, index) => (
            <label class="stack">
              <span>
                {texts.secrets[kind]}
                {label !== undefined && ` (${label})`}
              </span>
              <input
                type="password"
                name={`secret${index}`}
                required
                maxLength={200}
                autocomplete={kind === 'password' ? 'off' : 'one-time-code'}
                inputMode={isNumeric ? 'numeric' : undefined}
              />
            </label>
          ))}
          <Button type="submit" rank="main" big>
            {texts.sign}
          </Button>
        </form>
        <p>
          <ButtonLink href={page} rank="quiet">
            {texts.back}
          </ButtonLink>
        </p>
      </main>
    ),
  });
}

/** Leads on by itself. @param to address at the provider; `text`: `returned` on the way back */
export function onTheWayPage(
  { words, provider }: Frame,
  { to, text }: { readonly to: string; readonly text: 'onward' | 'returned' },
): string {
  const title = filled(words.provider[text], { provider });
  return portalPage({
    words,
    title,
    kind: 'quiet',
    onward: to,
    main: (
      <main id="main" class="notice" tabIndex={-1}>
        <h1>{title}</h1>
        {text === 'onward' && <p>{filled(words.provider.onwardText, { provider })}</p>}
        <p>
          <ButtonLink href={to} rank="main">
            {words.publicLink.onward}
          </ButtonLink>
        </p>
      </main>
    ),
  });
}

export function providerTroublePage(
  { words, provider }: Frame,
  {
    why,
    faults,
    page,
    choice,
  }: {
    readonly why: ProviderTrouble;
    readonly faults: readonly string[];
    readonly page: string | undefined;
    /** Path of the choice of a certificate, where that is open. */
    readonly choice: string | undefined;
  },
): string {
  const { failures, notSigned, over, back, other } = words.provider;
  const { certificateFaults, refusals } = words.signing.script;
  const reasons = faults.flatMap((type) => textBy(type, certificateFaults) ?? textBy(type, refusals) ?? []);
  return noticePage({
    words,
    theme: undefined,
    icon: 'triangle-alert',
    tone: 'bad',
    // Whether an earlier step has signed is not known.
    message: {
      title: why === 'over' || why === 'ended' ? over : notSigned,
      text: [filled(failures[why], { provider }), ...reasons].join(' '),
    },
    ways: [
      ...(choice === undefined ? [] : [{ href: choice, text: other }]),
      ...(page === undefined ? [] : [{ href: page, text: back }]),
    ],
  });
}

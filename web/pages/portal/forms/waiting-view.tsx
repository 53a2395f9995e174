/** Page of all documents that wait for a mailbox. Works without a script. */
import type { WaitingItem, WaitingResult } from '../../../../contracts/portal/signing/waiting.ts';
import { Template } from '../../../../contracts/texts/markup.tsx';
import { dayEndingAt } from '../../../../contracts/times.ts';
import { CODE_DELIVERY_TIMEOUT_MS } from '../../../../machines/portal/mail.ts';
import { Button, ButtonLink, Field } from '../../../components/controls.tsx';
import { addressFrom, languages } from '../account-frame.ts';
import { portalPage, type Theme } from '../page-frame.tsx';
import { counted, filled, type PageTexts } from '../texts.ts';
import { CodeStep } from './public-link-view.tsx';

export const WAITING_PATH = '/waiting';

export type WaitingFault = 'email' | 'code' | 'codes' | 'busy' | 'over' | 'none-selected' | 'no-name';

interface Shown {
  readonly words: PageTexts;
  readonly theme: Theme | undefined;
  readonly fault?: WaitingFault | undefined;
}

/** The form of the address or, with `asksCode`, of the code that was sent there. */
export function waitingStartPage({
  words,
  theme,
  email,
  asksCode,
  fault,
}: Shown & { readonly email: string; readonly asksCode: boolean }): string {
  const { waiting: texts, publicLink, newLink } = words;
  const minutes = CODE_DELIVERY_TIMEOUT_MS / 60_000;
  const ofCode = fault === 'code' || fault === 'codes' || fault === 'busy' ? fault : undefined;
  return portalPage({
    words,
    theme,
    title: texts.title,
    kind: 'quiet',
    main: (
      <main id="main" class="notice narrow" tabIndex={-1}>
        <h1>{texts.title}</h1>
        <form method="post" action={addressFrom({ culture: words.language }, WAITING_PATH)} class="stack">
          {asksCode ? (
            <CodeStep
              words={words}
              sent={filled(texts.codeTo, { to: email, minutes })}
              values={{ email }}
              fault={ofCode}
            />
          ) : (
            <>
              <p>{texts.intro}</p>
              {fault === 'over' && <Trouble text={texts.over} />}
              {ofCode !== undefined && <Trouble text={publicLink.faults[ofCode]} />}
              <Field
                id="email"
                name="email"
                type="email"
                label={newLink.address}
                autoComplete="email"
                spellcheck={false}
                required
                maxLength={254}
                value={email}
                error={fault === 'email' ? publicLink.faults.email : undefined}
              />
              <Button type="submit" rank="main" big>
                {publicLink.sendCode}
              </Button>
            </>
          )}
        </form>
        {!asksCode && <Template of={languages({ words, address: WAITING_PATH })} />}
      </main>
    ),
  });
}

export interface ShownWaiting extends Shown {
  readonly email: string;
  /** Time at which the page closes. */
  readonly endDate: number;
  readonly items: readonly WaitingItem[];
  readonly nextCursor: string | null;
  /** Position of this page. @default the first */
  readonly after?: string | undefined;
  /** Proves that the forms are of this page. */
  readonly formToken: string;
  /** Of the last act. @default none */
  readonly results?: readonly WaitingResult[];
  readonly typedName?: string | undefined;
  /** Values of boxes that are ticked; `all`: those of one person. @default none */
  readonly selected?: ReadonlySet<string> | 'all' | undefined;
}

/** Value of a document in the form. */
function waitingValue(item: WaitingItem): string {
  const { documentId, flowActionId, userId, documentVersion, actionDate } = item;
  return [documentId, flowActionId, userId, documentVersion, actionDate].join('.');
}

export function waitingPage(shown: ShownWaiting): string {
  const { words, theme, email, endDate, items, nextCursor, formToken, results = [] } = shown;
  const { waiting: texts } = words;
  const address = (path: string) => addressFrom({ culture: words.language }, path);
  const done = results.filter(({ isDone }) => isDone).length;
  const left = results.length - done;
  const time = new Intl.DateTimeFormat(words.language, { timeStyle: 'short', timeZone: 'UTC' }).format(
    endDate,
  );
  const token = <input type="hidden" name="token" value={formToken} />;
  return portalPage({
    words,
    theme,
    title: texts.title,
    kind: 'quiet',
    main: (
      <main id="main" class="notice" tabIndex={-1}>
        <h1>{texts.title}</h1>
        <p>{filled(texts.until, { email, time })}</p>
        {done > 0 && (
          <p class="outcome good" role="status">
            {counted(words.language, texts.done, done)}
          </p>
        )}
        {left > 0 && <Trouble text={counted(words.language, texts.left, left)} />}
        {items.length === 0 && nextCursor === null && <p>{texts.none}</p>}
        {items.length > 0 && (
          <form method="post" action={address(`${WAITING_PATH}/sign`)} class="stack">
            {token}
            <ul class="who">
              {items.map((item, at) => (
                <Item item={item} name={`sign-${at}`} words={words} isTicked={isTicked(shown, item)} />
              ))}
            </ul>
            {items.some(({ alone }) => alone === null) && <Together {...shown} />}
          </form>
        )}
        <form method="post" action={address(`${WAITING_PATH}/leave`)}>
          {token}
          <p class="ways">
            {nextCursor !== null && (
              <ButtonLink href={address(`${WAITING_PATH}?after=${nextCursor}`)}>{texts.next}</ButtonLink>
            )}
            <ButtonLink href={address(`${WAITING_PATH}/deputies`)}>{words.deputies.title}</ButtonLink>
            <Button type="submit">{texts.leave}</Button>
          </p>
        </form>
      </main>
    ),
  });
}

/** Ticks all for the person of the first: others may share the mailbox. */
function isTicked({ items, selected }: ShownWaiting, item: WaitingItem): boolean {
  if (selected !== 'all') return selected?.has(waitingValue(item)) === true;
  return items.find(({ alone }) => alone === null)?.participantName === item.participantName;
}

function Together({ words, fault, typedName, after }: ShownWaiting) {
  const all = `${WAITING_PATH}?all=yes${after === undefined ? '' : `&after=${encodeURIComponent(after)}`}`;
  const { waiting: texts, publicLink, signing } = words;
  return (
    <>
      <p class="hint">
        {texts.togetherHint} <a href={addressFrom({ culture: words.language }, all)}>{texts.selectAll}</a>
      </p>
      {fault === 'none-selected' && <Trouble text={texts.noneSelected} />}
      <Field
        id="name"
        name="name"
        label={signing.name}
        autoComplete="name"
        required
        maxLength={200}
        value={typedName}
        error={fault === 'no-name' ? publicLink.faults.name : undefined}
      />
      <p class="hint">
        {signing.agreed} {signing.recordedText} {signing.codeTime}
      </p>
      <Button type="submit" rank="main" big>
        {texts.together}
      </Button>
    </>
  );
}

function Item({
  item,
  name,
  words,
  isTicked,
}: {
  item: WaitingItem;
  name: string;
  words: PageTexts;
  isTicked: boolean;
}) {
  const { waiting: texts, signing } = words;
  const { alone, senderName, organizationName: organization, participantName, title, expirationDate } = item;
  const from =
    senderName === null
      ? filled(words.from, { organization })
      : filled(words.fromPerson, { name: senderName, organization });
  const as = participantName ?? signing.unnamed;
  return (
    <li>
      {alone === null && (
        <input type="checkbox" id={name} name={name} value={waitingValue(item)} checked={isTicked} />
      )}
      <div class="grow">
        <label for={alone === null ? name : undefined}>
          <bdi>{item.name}</bdi>
        </label>
        <p class="small muted">
          {from}
          {' · '}
          {texts.asked[item.asked]}
          {expirationDate !== null &&
            ` · ${filled(signing.expires, { date: lastDay(expirationDate, words) })}`}
        </p>
        <p class="small muted">
          {title
            ? filled(signing.actingAsTitle, { name: as, title })
            : filled(signing.actingAs, { name: as })}
        </p>
        {alone !== null && <p class="small">{texts.alone[alone]}</p>}
      </div>
      <a href={item.url} aria-label={filled(texts.openNamed, { name: item.name })}>
        {texts.open}
      </a>
    </li>
  );
}

function lastDay(end: number, { language }: PageTexts): string {
  const { day } = dayEndingAt(end);
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(day);
}

function Trouble({ text }: { text: string }) {
  return (
    <p class="trouble" role="alert">
      {text}
    </p>
  );
}

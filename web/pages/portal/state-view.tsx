/** Pages of a document on which its participant cannot act: before the turn, afterwards, and when a link is over. */
import type { SigningPageView } from '../../../actors/portal/api.ts';
import { ButtonLink } from '../../components/controls.tsx';
import { Icon } from '../../components/icon.tsx';
import type { IconName } from '../../components/icons.ts';
import { Avatar, Badge, BreakableName, Card } from '../../components/surfaces.tsx';
import {
  DocumentPart,
  DocumentTools,
  doingOf,
  earlyParts,
  firstSheet,
  LanguageSwitch,
  ParticipantList,
  ParticipantName,
  VisitList,
} from './document-part.tsx';
import { NewLinkForm } from './notice-view.tsx';
import type { FrameEvent, StateData } from './page-data.ts';
import { portalPage } from './page-frame.tsx';
import { approves } from './signing-dialog.tsx';
import type { SigningAddresses, SigningPageOptions } from './signing-options.ts';
import { filled, type PageTexts } from './texts.ts';

type State = Exclude<SigningPageView['state'], 'ready'>;

const ICONS: { readonly [Each in State]: IconName } = {
  'waiting-for-turn': 'hourglass',
  processing: 'hourglass',
  done: 'circle-check',
  concluded: 'circle-check',
  observing: 'eye',
  refused: 'ban',
  canceled: 'ban',
  expired: 'clock',
  'ticket-expired': 'clock',
  replaced: 'users',
  'passed-on': 'users',
  removed: 'ban',
  'signed-here': 'circle-check',
  'left-here': 'users',
  deleted: 'trash-2',
  unknown: 'link-2-off',
};

/** Pages of the other states. The signing page takes the content of `#state` after an action. */
export function statePage(
  view: SigningPageView,
  words: PageTexts,
  wishes: SigningPageOptions,
  addresses: SigningAddresses,
): string {
  const { document: shown } = view;
  const state = view.state === 'ready' ? 'unknown' : view.state;
  const events = wishes.embedded && view.embedOrigins.length > 0 ? stateEvents(view) : [];
  const isShown = isOpenToRead(view) && !wishes.hideDocument;
  const pdf = isShown && shown?.mimeType === 'application/pdf' ? shown : undefined;
  const first = pdf && firstSheet(pdf, addresses, wishes);
  const embedded = wishes.embedded ? 'embedded ' : '';
  const isGood = state === 'done' || state === 'concluded' || state === 'signed-here';
  const title = titleOf(view, words);
  const hero = (
    <div class={isGood ? 'state-of good' : 'state-of'}>
      <Icon name={isGood ? 'check' : ICONS[state]} size="l" />
      <h1>{title}</h1>
      <StateText view={view} words={words} />
      {view.canRequestLink === true && <NewLinkForm action={addresses.newLink} words={words} />}
      {state === 'unknown' && !wishes.embedded && (
        <NewLinkForm action={addresses.linkRequest} words={words} asks />
      )}
      <Ways view={view} words={words} self={addresses.self} />
    </div>
  );
  const languages = !wishes.embedded && <LanguageSwitch words={words} self={addresses.self} />;
  return portalPage({
    words,
    ...((events.length > 0 || pdf !== undefined || ENDED.has(state)) && {
      script: 'state-client.js',
      data: {
        events,
        embedOrigins: view.embedOrigins,
        ...(pdf !== undefined && {
          shown: {
            content: addresses.content,
            mimeType: pdf.mimeType,
            words: words.signing.script,
            // The end of a visit begins with what was done, and not with the document.
            page: isGood ? null : (wishes.page ?? null),
            marks: [],
            covers: pdf.covers ?? [],
            fields: [],
          },
        }),
      } satisfies StateData,
    }),
    ...(pdf !== undefined && earlyParts(pdf, addresses, first)),
    title: shown === undefined ? title : `${title.replace(/\.$/, '')} – ${shown.name}`,
    theme: wishes.theme,
    branding: view.branding,
    kind: `${pdf === undefined ? 'quiet' : 'signing'} ${embedded}state-${view.state}`,
    main: isGood ? (
      <main
        id="main"
        class="sheet"
        tabIndex={-1}
        data-state={state}
        data-acted={hasActed(view) || state === 'signed-here' || undefined}
      >
        {hero}
        {shown !== undefined && (
          <Signed view={view} shown={shown} words={words} wishes={wishes} addresses={addresses} />
        )}
        {languages}
        {pdf !== undefined && (
          <DocumentPart words={words} first={first}>
            <DocumentTools isPdf words={words} scale={wishes.scale} />
          </DocumentPart>
        )}
      </main>
    ) : (
      <main
        id="main"
        class={state === 'observing' ? 'columns signed' : 'sheet'}
        tabIndex={-1}
        data-state={state}
      >
        <div class={state === 'observing' ? 'actions' : 'card'}>
          {state === 'observing' && languages}
          {hero}
          {state === 'observing' && <ParticipantList view={view} words={words} heading="h2" />}
        </div>
        {state !== 'observing' && <People view={view} words={words} />}
        {state !== 'observing' && languages}
        {pdf !== undefined && (
          <DocumentPart words={words} first={first}>
            <DocumentTools isPdf words={words} scale={wishes.scale} />
          </DocumentPart>
        )}
      </main>
    ),
  });
}

/** True when the participant has acted or only reads, and the link still opens the file. */
function isOpenToRead({ state, isLinkOver }: SigningPageView): boolean {
  return (state === 'done' || state === 'concluded' || state === 'observing') && isLinkOver !== true;
}

/** The documents of the visit; none in a frame, whose application decides what follows. */
export function visitIn(
  { visit = [] }: SigningPageView,
  { embedded }: Pick<SigningPageOptions, 'embedded'>,
): NonNullable<SigningPageView['visit']> {
  return embedded ? [] : visit;
}

/** False for a person of a rule of whom no signature was needed any more, and for one whose deputy has acted. */
function hasActed(view: SigningPageView): boolean {
  const you = youOf(view);
  return you?.at !== undefined && you.deputy === undefined;
}

function youOf({ participants = [] }: SigningPageView) {
  return participants.find(({ isYou }) => isYou);
}

/** Events for the parent window. An unknown link has no organization that could list origins. */
function stateEvents({ state, document: shown }: SigningPageView): readonly FrameEvent[] {
  if (shown === undefined) return [];
  const { id } = shown;
  switch (state) {
    // The link is over, not what its participant has to do.
    case 'ticket-expired':
      return [];
    case 'waiting-for-turn':
    case 'processing':
      return [{ type: 'waiting', id }];
    case 'expired':
      return [{ type: 'expired', id }];
    case 'refused':
      return [
        { type: 'refused', id },
        { type: 'closed', id },
      ];
    default:
      return [{ type: 'closed', id }];
  }
}

function titleOf(view: SigningPageView, words: PageTexts): string {
  const { state, action } = view;
  const isApproval = action !== undefined && approves(action);
  if (isApproval && state === 'expired') return words.expiredApproval;
  const deputy = youOf(view)?.deputy;
  if (deputy !== undefined && (state === 'done' || state === 'concluded'))
    return filled(words.doneByDeputy, { deputy });
  // Who has acted is thanked, also where nobody is left.
  if (state === 'done' || (state === 'concluded' && hasActed(view)))
    return isApproval ? words.doneApproved : words.states.done.title;
  return words.states[state === 'ready' ? 'unknown' : state].title;
}

/** Text of a state: what happened, who did it and when, and what follows. */
function StateText({ view, words }: { view: SigningPageView; words: PageTexts }) {
  const { state, document: shown, participants = [], canRequestLink, isObserver = false, heldBy } = view;
  const text =
    canRequestLink === true ? words.newLink.text : words.states[state === 'ready' ? 'unknown' : state].text;
  if (state === 'done' || state === 'concluded') {
    const others = participants.filter(({ isYou }) => !isYou);
    const [next, ...more] = others.flatMap(({ status, name }) =>
      status === 'Pending' && name !== null ? [name] : [],
    );
    // Several are listed below.
    if (state === 'done' && next !== undefined && more.length === 0)
      return <p class="muted">{filled(words.next, { name: next })}</p>;
    const isAlone = others.length === 0 && !isObserver;
    if (state === 'concluded' && youOf(view)?.at !== undefined)
      return (
        <p class="muted">
          {words.states.concluded.title}. {!isAlone && text}
        </p>
      );
    return <p class="muted">{isAlone && state === 'done' ? words.doneAlone : text}</p>;
  }
  return (
    <>
      {shown !== undefined && (
        <p class="about">
          <b>
            <BreakableName name={shown.name} />
          </b>
          <br />
          {filled(words.from, { organization: shown.organizationName })}
        </p>
      )}
      <p class="muted">
        {shown !== undefined && <Ending state={state} shown={shown} words={words} />}{' '}
        {filled(text, { name: heldBy ?? '' })}
      </p>
    </>
  );
}

/** Names who ended the document, when and why; nothing where it has not ended. */
function Ending({
  state,
  shown: { expirationDate, endedBy, organizationName, changedAt, statusReason: reason },
  words,
}: {
  state: State | 'ready';
  shown: PageDocument;
  words: PageTexts;
}) {
  const { ended } = words;
  if (state === 'expired')
    return expirationDate === null ? null : <Dated text={ended.expired} at={expirationDate} words={words} />;
  if (state !== 'refused' && state !== 'canceled') return null;
  const text = reason === null ? ended[state] : ended[`${state}Why`];
  const values = { name: endedBy ?? organizationName, reason: reason ?? '' };
  return <Dated text={text} at={changedAt} words={words} values={values} />;
}

/** A text with a moment at the place of its date. @param short its day is short, and the zone is in the tooltip */
export function Dated({
  text,
  at,
  words: { language },
  values = {},
  short = false,
}: {
  text: string;
  at: number;
  words: PageTexts;
  values?: Parameters<typeof filled>[1];
  short?: boolean;
}) {
  const [before = '', after = ''] = text.split('{date}');
  return (
    <>
      {filled(before, values)}
      <Moment at={at} language={language} short={short} />
      {filled(after, values)}
    </>
  );
}

/** States in which nobody acts any more, whose text names the moment. */
const ENDED: ReadonlySet<SigningPageView['state']> = new Set(['refused', 'canceled', 'expired']);

/** States in which the sender is the one to ask. */
const ASKING: ReadonlySet<SigningPageView['state']> = new Set([
  'refused',
  'canceled',
  'expired',
  'replaced',
  'passed-on',
  'removed',
  'deleted',
]);

/** Says what to do: whom to ask where the document ended without the participant, or to look again. */
function Ways({
  view: { state, document: shown, contact: name, replyTo, canRequestLink },
  words,
  self,
}: {
  view: SigningPageView;
  words: PageTexts;
  self: string;
}) {
  if (state === 'signed-here' || state === 'left-here')
    return (
      <ButtonLink href="/here" rank="main" big>
        {words.here.next}
      </ButtonLink>
    );
  if (state === 'waiting-for-turn' || state === 'observing' || state === 'processing')
    return <ButtonLink href={self}>{words.again}</ButtonLink>;
  const isOver = state === 'ticket-expired' && canRequestLink !== true;
  const isSecond = state === 'unknown';
  if (name === undefined || (!isOver && !isSecond && !ASKING.has(state))) return null;
  if (!replyTo) return <p class="hint">{filled(words.contact.ask, { name })}</p>;
  // RFC 6068: the parts are encoded, the @ between them is not.
  const to = replyTo.split('@').map(encodeURIComponent).join('@');
  const subject = shown === undefined ? '' : `?subject=${encodeURIComponent(shown.name)}`;
  return (
    <ButtonLink href={`mailto:${to}${subject}`} rank={isSecond ? 'quiet' : 'main'}>
      {filled(words.contact.write, { name })}
    </ButtonLink>
  );
}

/** Shows what was signed, with its file; the people; what proves it. */
function Signed({
  view,
  shown,
  words,
  wishes,
  addresses: { content, key },
}: {
  view: SigningPageView;
  shown: PageDocument;
  words: PageTexts;
  wishes: SigningPageOptions;
  addresses: SigningAddresses;
}) {
  const { embedded, hideDocument } = wishes;
  const isOpen = isOpenToRead(view);
  const [file, ...others] = isOpen ? downloads(shown, words, content) : [];
  const { at, deputy } = youOf(view) ?? {};
  const mark = view.action?.marks.find(({ type }) => type === 'SignatureVisualRepresentation');
  const culture = view.language === undefined ? '' : `?culture=${words.language}`;
  const isPdf = isOpen && !hideDocument && shown.mimeType === 'application/pdf';
  const visit = visitIn(view, wishes);
  const following = visit.find(({ isDone }) => !isDone);
  return (
    <>
      {following !== undefined && (
        <ButtonLink href={following.href} rank="main" big>
          {filled(words.visit.next, { name: following.name })}
        </ButtonLink>
      )}
      <VisitList visit={visit} words={words} />
      <section class="card body mini" aria-label={shown.name}>
        {isPdf && (
          <a
            id="signed-page"
            href="#document"
            data-page={mark?.pageNumber ?? -1}
            data-place={
              mark && [mark.topLeftX, mark.topLeftY, mark.width, mark.height].map(Math.round).join(' ')
            }
          >
            <span class="unseen">
              {mark === undefined || deputy !== undefined ? words.signing.document : words.signedPage}
            </span>
          </a>
        )}
        <div class="stack">
          <div>
            <h2>
              <BreakableName name={shown.name} />
            </h2>
            <p class="small muted">
              {filled(words.from, { organization: shown.organizationName })}
              {at !== undefined && (
                <>
                  {' · '}
                  <Moment at={at} language={words.language} />
                </>
              )}
            </p>
          </div>
          {file !== undefined && (
            <ButtonLink
              href={file[0]}
              download
              icon="download"
              {...(following === undefined && { rank: 'main' })}
            >
              {file[1]}
            </ButtonLink>
          )}
        </div>
      </section>
      <People view={view} words={words} />
      <p class="ways">
        {others.map(([href, text]) => (
          <a href={href} download>
            {text}
          </a>
        ))}
        {isSigned(shown) && !embedded && (
          <a href={`/check/${encodeURIComponent(key)}${culture}`}>{words.checkThis}</a>
        )}
      </p>
    </>
  );
}

/** A moment in UTC; the script of the page shows it in the reader's zone. */
function Moment({ at, language, short = false }: { at: number; language: string; short?: boolean }) {
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: short ? 'medium' : 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return (
    <time dateTime={new Date(at).toISOString()} data-short={short ? '' : undefined}>
      {format.format(at)} (UTC)
    </time>
  );
}

function People({ view, words }: { view: SigningPageView; words: PageTexts }) {
  const { participants = [] } = view;
  const { signing } = words;
  const asked = participants.filter(({ status }) => status !== 'Skipped').length;
  if (participants.length === 0) return null;
  const done = participants.filter(({ status }) => status === 'Completed').length;
  return (
    <Card
      title={signing.participants}
      aside={
        <Badge tone={done === asked ? 'good' : 'info'}>
          {filled(words.peopleDone, { done, count: asked })}
        </Badge>
      }
    >
      <ul class="who">
        {participants.map((person) => {
          const { name, type, status, isYou, deputy, at } = person;
          return (
            <li aria-current={isYou ? 'true' : undefined} data-status={status}>
              <Avatar name={deputy ?? name ?? '?'} done={status === 'Completed'} />
              <div class="grow">
                <b>
                  <ParticipantName of={person} words={words} />
                </b>
                <div class="small muted">
                  <span>{doingOf({ type, status }, words, ENDED.has(view.state))}</span>
                  {at !== undefined && (
                    <>
                      {', '}
                      <Moment at={at} language={words.language} />
                    </>
                  )}
                </div>
              </div>
              {status === 'Completed' && <Icon name="circle-check" />}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

type PageDocument = NonNullable<SigningPageView['document']>;

function isSigned({ signatures = [] }: PageDocument): boolean {
  return signatures.length > 0;
}

/** Address of each file under a name that says what it is. */
function downloads(
  shown: PageDocument,
  { signing }: PageTexts,
  content: string,
): readonly (readonly [href: string, text: string])[] {
  const manifest = [`${content}&type=SignaturesManifest`, signing.downloadManifest] as const;
  if (!isSigned(shown)) return [[content, signing.download], ...(shown.isApproved ? [manifest] : [])];
  const signatures = `${content}&type=Signatures`;
  return shown.isSignedBeside === true
    ? [[content, signing.download], [signatures, signing.downloadSignatures], manifest]
    : [[signatures, signing.downloadSigned], manifest];
}

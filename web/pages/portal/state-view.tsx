/** Pages of a document on which its participant cannot act: before the turn, afterwards, and when a link is over. */
import type { SigningPageView } from '../../../actors/portal/api.ts';
import { ButtonLink } from '../../components/controls.tsx';
import { Icon } from '../../components/icon.tsx';
import type { IconName } from '../../components/icons.ts';
import {
  DocumentPart,
  DocumentTools,
  earlyParts,
  LanguageSwitch,
  ParticipantList,
} from './document-part.tsx';
import { NewLinkForm } from './notice-view.tsx';
import type { FrameEvent, StateData } from './page-data.ts';
import { portalPage } from './page-frame.tsx';
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
  const notice = words.states[state];
  const events = wishes.embedded && view.embedOrigins.length > 0 ? stateEvents(view) : [];
  const pdf = isOpenToRead(view) && shown?.mimeType === 'application/pdf' ? shown : undefined;
  const embedded = wishes.embedded ? 'embedded ' : '';
  const isGood = state === 'done' || state === 'concluded';
  const text = (
    <>
      {!wishes.embedded && <LanguageSwitch words={words} self={addresses.self} />}
      <div class={isGood ? 'state-of good' : 'state-of'}>
        <Icon name={ICONS[state]} size="l" />
        <h1>{notice.title}</h1>
        {shown !== undefined && (
          <p class="hint">
            <bdi>{shown.name}</bdi>
            <br />
            {filled(words.from, { organization: shown.organizationName })}
          </p>
        )}
        <div id="state" data-state={view.state}>
          <p>{stateText(view, words)}</p>
          {view.canRequestLink === true && (
            <NewLinkForm action={addresses.newLink} label={words.newLink.button} />
          )}
          <StateDetails view={view} words={words} embedded={wishes.embedded} addresses={addresses} />
          <Contact view={view} words={words} />
        </div>
      </div>
      <ParticipantList view={view} words={words} heading="h2" />
    </>
  );
  return portalPage({
    words,
    ...((events.length > 0 || pdf !== undefined) && {
      script: 'state-client.js',
      data: {
        events,
        embedOrigins: view.embedOrigins,
        ...(pdf !== undefined && {
          shown: {
            ...{ content: addresses.content, mimeType: pdf.mimeType, words: words.signing.script },
            ...{ page: wishes.page ?? null, marks: [], covers: pdf.covers ?? [], fields: [] },
          },
        }),
      } satisfies StateData,
    }),
    ...(pdf !== undefined && earlyParts(pdf, addresses.content)),
    title: shown === undefined ? notice.title : `${notice.title}: ${shown.name}`,
    theme: wishes.theme,
    branding: view.branding,
    kind: `${pdf === undefined ? 'quiet' : 'signing'} ${embedded}state-${view.state}`,
    main:
      pdf === undefined ? (
        <main id="main" class="notice" tabIndex={-1}>
          {text}
        </main>
      ) : (
        <main id="main" class="columns signed" tabIndex={-1}>
          <div class="actions">{text}</div>
          <DocumentPart words={words}>
            <DocumentTools isPdf words={words} scale={wishes.scale} />
          </DocumentPart>
        </main>
      ),
  });
}

/** True when the participant has acted or only reads, and the link still opens the file. */
function isOpenToRead({ state, isLinkOver }: SigningPageView): boolean {
  return (state === 'done' || state === 'concluded' || state === 'observing') && isLinkOver !== true;
}

/** Events for the parent window. An unknown link has no organization that could list origins. */
function stateEvents({ state, document: shown }: SigningPageView): readonly FrameEvent[] {
  if (shown === undefined) return [];
  const { id } = shown;
  switch (state) {
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

/** Leaves out other participants if there are none. */
function stateText(view: SigningPageView, words: PageTexts): string {
  const { state, participants = [], canRequestLink, isObserver = false } = view;
  if (canRequestLink === true) return words.newLink.text;
  const isAlone = participants.length === 1 && !isObserver;
  if (isAlone && (state === 'done' || state === 'concluded')) return words.statesAlone[state];
  return words.states[state === 'ready' ? 'unknown' : state].text;
}

function StateDetails({
  view,
  words,
  embedded,
  addresses: { self, content, key },
}: {
  readonly view: SigningPageView;
  readonly words: PageTexts;
  readonly embedded: boolean;
  readonly addresses: SigningAddresses;
}) {
  const { state, document: shown } = view;
  if (shown === undefined) return null;
  switch (state) {
    case 'refused':
    case 'canceled': {
      const { statusReason: reason } = shown;
      return reason === null ? null : <p>{filled(words.reasonGiven, { reason })}</p>;
    }
    case 'waiting-for-turn':
    case 'observing':
    case 'processing':
      return (
        <p class="ways">
          <ButtonLink href={self}>{words.again}</ButtonLink>
        </p>
      );
    case 'done':
    case 'concluded': {
      const files = isOpenToRead(view) ? downloads(shown, words, content) : [];
      const hasCheck = isSigned(shown) && !embedded;
      return (
        <>
          <SignatureList document={shown} words={words} />
          {(files.length > 0 || hasCheck) && (
            <p class="ways">
              {files.map(([href, text], index) => (
                <ButtonLink href={href} download {...(index === 0 && { rank: 'main', icon: 'download' })}>
                  {text}
                </ButtonLink>
              ))}
              {hasCheck && (
                <ButtonLink href={`/check/${encodeURIComponent(key)}`}>{words.check.title}</ButtonLink>
              )}
            </p>
          )}
        </>
      );
    }
    default:
      return null;
  }
}

/** Says whom to ask where the document ended without the participant. */
function Contact({
  view: { state, document: shown, replyTo },
  words: { contact },
}: {
  readonly view: SigningPageView;
  readonly words: PageTexts;
}) {
  if (shown === undefined || !['refused', 'canceled', 'expired'].includes(state)) return null;
  const name = shown.senderName ?? shown.organizationName;
  if (!replyTo) return <p class="hint">{filled(contact.ask, { name })}</p>;
  // RFC 6068: the parts are encoded, the @ between them is not.
  const to = replyTo.split('@').map(encodeURIComponent).join('@');
  const address = `mailto:${to}?subject=${encodeURIComponent(shown.name)}`;
  return (
    <p class="ways">
      <ButtonLink href={address} rank="main">
        {filled(contact.write, { name })}
      </ButtonLink>
    </p>
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
  if (!isSigned(shown)) return [[content, signing.download]];
  const manifest = [`${content}&type=SignaturesManifest`, signing.downloadManifest] as const;
  const signatures = `${content}&type=Signatures`;
  return shown.isSignedBeside === true
    ? [[content, signing.download], [signatures, signing.downloadSignatures], manifest]
    : [[signatures, signing.downloadSigned], manifest];
}

function SignatureList({
  document: { signatures = [] },
  words: { language, signing, check },
}: {
  readonly document: PageDocument;
  readonly words: PageTexts;
}) {
  if (signatures.length === 0) return null;
  const time = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return (
    <>
      <h2>{check.signatures}</h2>
      <ul class="signatures">
        {signatures.map(({ name, kind, at }) => (
          <li>
            <bdi>{name ?? signing.unnamed}</bdi>
            <span class="hint">
              {check[kind]}, {time.format(at)} (UTC)
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

/**
 * The signing page: title, participants and actions are in the HTML, so that they are visible before any script runs;
 * a script draws the document, and moves the fields to their places on it.
 */
import type { SigningPageView } from '../../../actors/portal/api.ts';
import { Template } from '../../../contracts/texts/markup.tsx';
import { ButtonLink } from '../../components/controls.tsx';
import { Icon } from '../../components/icon.tsx';
import type { IconName } from '../../components/icons.ts';
import { StateOf } from '../../components/surfaces.tsx';
import {
  DocumentPart,
  DocumentTools,
  earlyParts,
  firstSheet,
  LanguageSwitch,
  ParticipantList,
  VisitList,
  WarningLines,
} from './document-part.tsx';
import { conditionalPart, fieldsForm, isConditional, labelledFields } from './fields-form.ts';
import type { SigningData } from './page-data.ts';
import { Logo, portalPage } from './page-frame.tsx';
import { approves, RefusalForm, SigningDialog } from './signing-dialog.tsx';
import type { SigningAddresses, SigningPageOptions } from './signing-options.ts';
import { Dated, statePage, visitIn } from './state-view.tsx';
import { filled, type PageTexts } from './texts.ts';

type Shown = NonNullable<SigningPageView['document']>;

/** The action of the participant, whose fields have labels. */
type ReadyAction = Omit<NonNullable<SigningPageView['action']>, 'fields'> & {
  readonly fields: ReturnType<typeof labelledFields>;
};

/** Facts for the script of the page. */
function signingData(
  view: SigningPageView,
  {
    shown,
    action,
    words,
  }: { readonly shown: Shown; readonly action: ReadyAction; readonly words: PageTexts },
  wishes: SigningPageOptions,
  addresses: SigningAddresses,
): SigningData {
  const { key, ticket, content, self } = addresses;
  return {
    key,
    ticket,
    content,
    self,
    documentId: shown.id,
    documentVersion: shown.version,
    mimeType: shown.mimeType,
    embedded: wishes.embedded,
    disableNotifications: wishes.embedded && !wishes.notify,
    page: wishes.page ?? null,
    embedOrigins: view.embedOrigins,
    marks: action.marks,
    covers: shown.covers ?? [],
    fields: action.fields.map(({ name, label, place }) => ({ name, label, place })),
    ...(action.fields.some(isConditional) && {
      conditions: { fields: action.fields.map(conditionalPart), known: action.known ?? [] },
    }),
    initialsMode: action.initialsMode,
    redirectUrl: wishes.embedded || view.isHere === true ? null : (view.redirectUrl ?? null),
    here: view.isHere === true ? words.here.script : null,
    words: words.signing.script,
  };
}

export function signingPage(
  view: SigningPageView,
  words: PageTexts,
  wishes: SigningPageOptions,
  addresses: SigningAddresses,
): string {
  const { document: shown } = view;
  const action = view.action && { ...view.action, fields: labelledFields(view.action.fields ?? [], words) };
  if (view.state !== 'ready' || shown === undefined || action === undefined) {
    return statePage(view, words, wishes, addresses);
  }
  const { signing } = words;
  const isApproval = approves(action);
  const act = isApproval ? signing.approveTitle : signing.signTitle;
  const name = action.participant.name ?? action.participant.email ?? signing.unnamed;
  const actingAs =
    action.title === null
      ? filled(signing.actingAs, { name })
      : filled(signing.actingAsTitle, { name, title: action.title });
  const refusing = wishes.refusing || !wishes.embedded;
  const alone = view.participants?.length === 1;
  const visit = visitIn(view, wishes);
  const place = 1 + visit.findIndex(({ isThis }) => isThis);
  const isPdf = shown.mimeType === 'application/pdf';
  const first = firstSheet(shown, addresses, wishes);
  const data = signingData(view, { shown, action, words }, wishes, addresses);
  return portalPage({
    words,
    title: `${act}: ${shown.name}`,
    theme: wishes.theme,
    branding: view.branding,
    ownHeader: true,
    kind: wishes.embedded ? 'signing embedded' : 'signing',
    ...(wishes.hideDocument ? {} : earlyParts(shown, addresses, first)),
    script: 'signing-client.js',
    moreScripts: [
      ...(view.isHere === true ? ['signing-here.js'] : []),
      ...(data.conditions === undefined ? [] : ['field-conditions.js']),
    ],
    data,
    main: (
      <>
        <a class="skip" href="#actions">
          {words.skip}
        </a>
        <p id="part-missing" class="trouble late">
          {signing.partMissing}
        </p>
        <header class="top branding">
          {!wishes.embedded && <BarLogo branding={view.branding} />}
          <div class="grow">
            <h1 class="cut">{shown.name}</h1>
            <p class="from cut">
              {/* First, so that a narrow screen has it whole. */}
              {shown.expirationDate !== null && (
                <>
                  <Dated text={signing.expires} at={shown.expirationDate} words={words} short />
                  {' · '}
                </>
              )}
              {place > 0 && `${filled(words.visit.place, { number: place, count: visit.length })} · `}
              {shown.senderName
                ? filled(words.fromPerson, { name: shown.senderName, organization: shown.organizationName })
                : filled(words.from, { organization: shown.organizationName })}
            </p>
          </div>
          {view.isHere === true && <ButtonLink href="/here">{words.here.stop}</ButtonLink>}
          <details id="more" class="more">
            <summary class="button quiet square" aria-label={signing.more}>
              <Icon name="ellipsis" />
            </summary>
            <div class="card body stack">
              {!wishes.hideDocument && (
                <>
                  {isPdf && (
                    <button type="button" id="thumbnails-open">
                      {signing.thumbnails}
                    </button>
                  )}
                  <DocumentTools
                    isPdf={isPdf}
                    words={words}
                    scale={wishes.scale}
                    {...(view.isHere !== true && { download: addresses.content })}
                  />
                </>
              )}
              {!wishes.embedded && <LanguageSwitch words={words} self={addresses.self} />}
              {refusing && (
                <a href="#refusing" id="refuse-link">
                  {signing.refuse}…
                </a>
              )}
            </div>
          </details>
        </header>
        <template id="newer-version">
          <Ended icon="file-diff" message={words.newerVersion} href={addresses.self} />
        </template>
        <template id="signed-already">
          <Ended
            icon="circle-check"
            message={isApproval ? words.approvedAlready : words.signedAlready}
            href={addresses.self}
          />
        </template>
        <main id="main" class={wishes.hideDocument ? 'work without-document' : 'work'}>
          {!wishes.hideDocument && (
            <>
              {isPdf && (
                <nav id="thumbnails" class="thumbs" aria-label={signing.thumbnails}>
                  <ol class="thumbnails" />
                </nav>
              )}
              <DocumentPart words={words} first={first}>
                <About shown={shown} words={words} />
              </DocumentPart>
            </>
          )}
          {wishes.hideDocument && <About shown={shown} words={words} />}
          <section id="actions" class="actions" aria-labelledby="actions-title" tabIndex={-1}>
            <h2 id="actions-title">{act}</h2>
            <p id="acting">{actingAs}</p>
            <noscript>
              <p class="trouble">{words.needsScript}</p>
            </noscript>
            <div id="outcome" class="outcome" role="status" aria-live="polite" tabIndex={-1} />
            <div id="afterwards" />
            <div id="left" hidden>
              <h3>{signing.left}</h3>
              <ol class="todo" />
              <button type="button" id="guide-unseen" class="quiet" hidden />
            </div>
            <VisitList visit={visit} words={words} />
            <AttachmentList shown={shown} words={words} addresses={addresses} />
            <div id="forms">
              {!isApproval && <Template of={fieldsForm(action.fields, words)} />}
              {action.mayPassOn === true && view.isHere !== true && (
                <p>
                  <a href={addresses.passOn}>{words.passOn.link}</a>
                </p>
              )}
              {refusing && <RefusalForm words={words} alone={alone} />}
              <SigningDialog
                action={action}
                words={words}
                name={shown.name}
                content={wishes.hideDocument && !shown.requireReading ? undefined : addresses.content}
                whole={shown.requireReading === true}
                isHere={view.isHere === true}
                alone={wishes.embedded ? addresses.self.replace('/sign-embedded?', '/sign?') : undefined}
              />
            </div>
            <ParticipantList view={view} words={words} heading="h3" />
            <div id="guide" class="dock">
              <div class="grow">
                <progress class="progress" value={0} max={1} aria-label={signing.left} hidden />
                <span id="guide-progress" class="small" role="status" />
              </div>
              <button type="button" id="guide-next" class="main big" disabled>
                {act}
              </button>
            </div>
          </section>
        </main>
      </>
    ),
  });
}

/** The end of a visit that another window or person has ended. */
function Ended({
  icon,
  message: { title, text, button },
  href,
}: {
  icon: IconName;
  message: PageTexts['newerVersion'];
  href: string;
}) {
  return (
    <main id="main" class="sheet" tabIndex={-1}>
      <div class="card">
        <StateOf icon={icon} title={title} level="h1">
          <p class="muted">{text}</p>
          <ButtonLink href={href} rank="main">
            {button}
          </ButtonLink>
        </StateOf>
      </div>
    </main>
  );
}

function About({ shown, words }: { shown: Shown; words: PageTexts }) {
  return (
    <>
      {shown.isNewVersion && <p class="about trouble">{words.signing.newVersion}</p>}
      <WarningLines warnings={shown.warnings} words={words} />
      {shown.description !== null && (
        <details class="about">
          <summary>{shown.description}</summary>
        </details>
      )}
    </>
  );
}

function BarLogo({ branding }: Pick<SigningPageView, 'branding'>) {
  if (branding?.logo !== undefined) return <Logo branding={branding} alt={branding.name} />;
  return (
    <span class="logo-mark">
      <Icon name="feather" />
    </span>
  );
}

function AttachmentList({
  shown: { attachments = [] },
  words: { signing },
  addresses,
}: {
  shown: Shown;
  words: PageTexts;
  addresses: SigningAddresses;
}) {
  if (attachments.length === 0) return null;
  return (
    <section class="attachments" aria-labelledby="attachments-title">
      <h3 id="attachments-title">{signing.attachments}</h3>
      <ul>
        {attachments.map(({ id, name }) => (
          <li>
            <a href={addresses.attachment(id)} download>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

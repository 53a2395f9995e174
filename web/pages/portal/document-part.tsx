/** Parts of the pages of a document: the place of its file with its tools, its participants, and the languages. */

import type { ComponentChildren } from 'preact';
import type { SigningPageView } from '../../../actors/portal/api.ts';
import type { FileWarning } from '../../../contracts/file-warnings.ts';
import { Icon } from '../../components/icon.tsx';
import { Badge, Card } from '../../components/surfaces.tsx';
import type { PortalFrame } from './page-frame.tsx';
import type { SigningAddresses, SigningPageOptions } from './signing-options.ts';
import { filled, LANGUAGE_NAMES, type PageTexts } from './texts.ts';

const ZOOMS = ['50', '75', '100', '125', '150', '200', '300'];

/** Tools of a document: pages, zoom, print. @param download path of the file; absent where the page offers it elsewhere */
export function DocumentTools({
  isPdf,
  words: { signing },
  scale,
  download,
}: {
  isPdf: boolean;
  words: PageTexts;
  scale: string | undefined;
  download?: string;
}) {
  return (
    <div class="tools" role="group" aria-label={signing.tools}>
      {isPdf && (
        <>
          <button type="button" id="previous" aria-label={signing.previous} disabled>
            &#8593;
          </button>
          <button type="button" id="next" aria-label={signing.next} disabled>
            &#8595;
          </button>
          <label>
            {signing.page}{' '}
            <input id="page-number" inputMode="numeric" size={3} value="1" autoComplete="off" />
          </label>{' '}
          <span id="page-count" />
          <label>
            {signing.zoom}{' '}
            <select id="zoom">
              <option value="PageWidth">{signing.fitWidth}</option>
              {ZOOMS.map((value) => (
                <option value={value} selected={scale === value}>
                  {value} %
                </option>
              ))}
            </select>
          </label>
          <button type="button" id="print" hidden>
            {signing.print}
          </button>
        </>
      )}
      {download !== undefined && (
        <a class="button" id="download" href={download} download>
          {signing.download}
        </a>
      )}
    </div>
  );
}

/** The place of the file. @param children tools above it @param first its first page, before the browser has drawn it */
export function DocumentPart({
  words: { signing },
  first,
  children,
}: {
  words: PageTexts;
  first?: FirstSheet | undefined;
  children?: ComponentChildren;
}) {
  return (
    <section id="document" class="document" aria-label={signing.document}>
      {children}
      <p id="document-state" class={first === undefined ? 'hint' : 'unseen'} role="status">
        {signing.loading}
      </p>
      <div id="pages" class="pages" tabIndex={0} role="group" aria-label={signing.document}>
        {first !== undefined && (
          <div class="page" aria-hidden="true">
            <svg class="sheet-of" viewBox={`0 0 ${first.width} ${first.height}`} />
            {first.picture !== undefined && (
              <img class="sheet-of" src={first.picture} fetchPriority="high" alt="" />
            )}
          </div>
        )}
      </div>
      <p id="other-file" class="hint" hidden>
        {signing.otherFile}
      </p>
    </section>
  );
}

/** The page in the other languages; typed text stays. */
export function LanguageSwitch({
  words: { language, languages },
  self,
}: {
  words: PageTexts;
  self: SigningAddresses['self'];
}) {
  const plain = self.replace(/&culture=[^&]*/, '');
  return (
    <nav class="languages" aria-label={languages}>
      {LANGUAGE_NAMES.map(([tag, name]) => (
        <a
          href={`${plain}&culture=${tag}`}
          lang={tag}
          hreflang={tag}
          aria-current={tag === language ? 'true' : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}

/** The documents of one visit, with what is done of them. */
export function VisitList({
  visit,
  words,
}: {
  visit: NonNullable<SigningPageView['visit']>;
  words: PageTexts;
}) {
  if (visit.length === 0) return null;
  const done = visit.filter(({ isDone }) => isDone).length;
  return (
    <Card
      title={words.visit.title}
      aside={
        <Badge tone={done === visit.length ? 'good' : 'info'}>
          {filled(words.peopleDone, { done, count: visit.length })}
        </Badge>
      }
    >
      <ol class="who visit">
        {visit.map(({ name, href, isDone, isThis }) => (
          <li data-done={isDone ? '' : undefined}>
            <a href={href} class="grow" aria-current={isThis ? 'page' : undefined}>
              <bdi>{name}</bdi>
            </a>
            {isDone && (
              <>
                <span class="unseen">{words.signing.script.isDone}</span>
                <Icon name="circle-check" />
              </>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

type Participants = NonNullable<SigningPageView['participants']>;

/** Says what a person does in a document; of one that is over, only what was done. */
export function doingOf(
  { type, status }: Pick<Participants[number], 'type' | 'status'>,
  { signing }: PageTexts,
  isOver: boolean,
): string {
  return isOver && (status === 'Created' || status === 'Pending') ? '' : signing.doings[type][status];
}

/** Of a participant for whom a deputy has acted, both names. */
export function ParticipantName({
  of: { name, deputy, isYou },
  words: { signing, byDeputy },
}: {
  of: Participants[number];
  words: PageTexts;
}) {
  const person = name ?? signing.unnamed;
  return (
    <>
      <bdi>{deputy === undefined ? person : filled(byDeputy, { deputy, person })}</bdi>
      {isYou && ` (${signing.you})`}
    </>
  );
}

export function ParticipantList({
  view: { participants = [] },
  words,
  heading: Heading,
}: {
  view: SigningPageView;
  words: PageTexts;
  heading: 'h2' | 'h3';
}) {
  if (participants.length === 0) return null;
  return (
    <div class="people">
      <Heading>{words.signing.participants}</Heading>
      <ol class="participants">
        {participants.map((person) => (
          <li aria-current={person.isYou ? 'true' : undefined} data-status={person.status}>
            <span class="who">
              <ParticipantName of={person} words={words} />
            </span>{' '}
            <span class="what">{words.signing.doings[person.type][person.status]}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

/**
 * Longest PDF that is requested together with pdf.js, bytes. pdf.js requests a file of this length whole, of which it
 * would otherwise learn the address only once it runs; of longer files it reads ranges.
 */
const MAX_PRELOAD_BYTES = 128 * 1024;

/** Parts of a page's head that bring its PDF to the screen early; none for other files. */
export function earlyParts(
  { mimeType, length }: Pick<ShownFile, 'mimeType' | 'length'>,
  { content }: Pick<SigningAddresses, 'content'>,
  first: FirstSheet | undefined,
): Pick<PortalFrame, 'early' | 'preload' | 'picture'> {
  if (mimeType !== 'application/pdf') return {};
  const preload = length <= MAX_PRELOAD_BYTES ? content : undefined;
  // The browser loads its own drawing only after a picture that is there already.
  return { early: 'early-pdf.js', preload, picture: first?.isReady === true ? first.picture : undefined };
}

type ShownFile = NonNullable<SigningPageView['document']>;

/** The first page of a PDF: its size in points, and the path of its picture, which is drawn already or comes. */
interface FirstSheet {
  readonly width: number;
  readonly height: number;
  readonly picture: string | undefined;
  readonly isReady: boolean;
}

type FirstSheetOptions = Pick<SigningPageOptions, 'page' | 'scale' | 'hideDocument'>;

/** False where another page, another size or no document is shown first. */
export function beginsWithFirstSheet({
  page = 1,
  scale = 'PageWidth',
  hideDocument,
}: FirstSheetOptions): boolean {
  return page === 1 && scale === 'PageWidth' && !hideDocument;
}

/** The sheet with which the page of a document begins; undefined where it is not known, or another one is shown first. */
export function firstSheet(
  { firstPage }: Pick<ShownFile, 'firstPage'>,
  { picture }: Pick<SigningAddresses, 'picture'>,
  wishes: FirstSheetOptions,
): FirstSheet | undefined {
  if (firstPage === undefined || !beginsWithFirstSheet(wishes)) return undefined;
  return {
    width: hundredths(firstPage.width),
    height: hundredths(firstPage.height),
    picture: firstPage.picture === 'none' ? undefined : picture,
    isReady: firstPage.picture === 'ready',
  };
}

function hundredths(points: number): number {
  return Math.round(points * 100) / 100;
}

/** Content that a signer may not see: one line for each kind. */
export function WarningLines({
  warnings = [],
  words: { signing },
}: {
  warnings?: readonly FileWarning[] | undefined;
  words: PageTexts;
}) {
  const codes = [...new Set(warnings.map(({ code }) => code))];
  return codes.map((code) => {
    const objects = warnings.filter((one) => one.code === code).map(({ object }) => object);
    return <p class="about trouble">{filled(signing.warnings[code], { objects: objects.join(', ') })}</p>;
  });
}

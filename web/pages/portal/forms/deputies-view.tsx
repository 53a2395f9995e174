/** Page of deputies: whom the person has named, and what waits for people whose deputy the person is. Works without a script. */
import type {
  DeputyItem,
  DeputyshipView,
  DeputyView,
} from '../../../../contracts/portal/signing/deputies.ts';
import { Button, ButtonLink, Field, TextArea } from '../../../components/controls.tsx';
import { addressFrom } from '../account-frame.ts';
import { portalPage, type Theme } from '../page-frame.tsx';
import { filled, type PageTexts } from '../texts.ts';
import { WAITING_PATH } from './waiting-view.tsx';

export const DEPUTIES_PATH = `${WAITING_PATH}/deputies`;

export type DeputyFormFault = 'name' | 'email' | 'reason' | 'time' | 'code' | 'many' | 'gone' | 'busy';

export interface ShownDeputies {
  readonly words: PageTexts;
  readonly theme: Theme | undefined;
  readonly deputies: readonly DeputyView[];
  readonly people: readonly DeputyshipView[];
  /** One page of what waits for a person. @default none is shown */
  readonly represented?:
    | { readonly person: string; readonly items: readonly DeputyItem[]; readonly nextCursor: string | null }
    | undefined;
  readonly formToken: string;
  readonly fault?: DeputyFormFault | undefined;
  /** True after an act for a person. */
  readonly isDone?: boolean;
  /** Inputs by name. */
  readonly values?: Readonly<Record<string, string>>;
}

export function deputiesPage(shown: ShownDeputies): string {
  const { words, theme, deputies, people, isDone, represented } = shown;
  const { deputies: texts, waiting } = words;
  return portalPage({
    words,
    theme,
    title: texts.title,
    kind: 'quiet',
    main: (
      <main id="main" class="notice" tabIndex={-1}>
        <h1>{texts.title}</h1>
        <Trouble {...shown} />
        {isDone === true && (
          <p class="outcome good" role="status">
            {texts.done}
          </p>
        )}
        {represented !== undefined && <Represented {...shown} of={represented} />}
        {people.length > 0 && (
          <>
            <h2>{texts.people}</h2>
            <ul class="who">
              {people.map((one) => (
                <Person {...shown} of={one} />
              ))}
            </ul>
          </>
        )}
        <p>{texts.text}</p>
        {deputies.length > 0 && (
          <ul class="who">
            {deputies.map((deputy) => (
              <Named {...shown} deputy={deputy} />
            ))}
          </ul>
        )}
        <Naming {...shown} />
        <p>
          <a href={addressFrom({ culture: words.language }, WAITING_PATH)}>{waiting.title}</a>
        </p>
      </main>
    ),
  });
}

function Trouble({ words, fault }: ShownDeputies) {
  if (fault !== 'code' && fault !== 'many' && fault !== 'gone' && fault !== 'busy') return null;
  const texts = { ...words.publicLink.faults, ...words.deputies.faults };
  return (
    <p class="trouble" role="alert">
      {texts[fault]}
    </p>
  );
}

/** A form of one button. */
function Act({
  words,
  formToken,
  wish,
  value,
  person,
  name,
  text,
  label,
}: Pick<ShownDeputies, 'words' | 'formToken'> & {
  wish: 'over' | 'sign';
  value: string;
  /** Mailbox of the person; empty = of the session. */
  person: string;
  /** Of the deputy, as the button shows it. */
  name?: string;
  text: string;
  label: string;
}) {
  return (
    <form method="post" action={addressFrom({ culture: words.language }, `${DEPUTIES_PATH}/${wish}`)}>
      <input type="hidden" name="token" value={formToken} />
      <input type="hidden" name="of" value={value} />
      <input type="hidden" name="person" value={person} />
      {name !== undefined && <input type="hidden" name="name" value={name} />}
      <Button type="submit" label={label}>
        {text}
      </Button>
    </form>
  );
}

function documentsOf({ words }: Pick<ShownDeputies, 'words'>, person: string, after?: string): string {
  const more = after === undefined ? '' : `&after=${encodeURIComponent(after)}`;
  const path = `${DEPUTIES_PATH}?person=${encodeURIComponent(person)}${more}`;
  return addressFrom({ culture: words.language }, path);
}

function Represented({
  of: { person, items, nextCursor },
  ...shown
}: ShownDeputies & { of: NonNullable<ShownDeputies['represented']> }) {
  const { deputies: texts, waiting } = shown.words;
  return (
    <>
      <h2>{filled(texts.forPerson, { person })}</h2>
      {items.length === 0 ? <p>{filled(texts.none, { person })}</p> : <p class="hint">{texts.hint}</p>}
      <ul class="who">
        {items.map((item) => (
          <Waiting {...shown} item={item} />
        ))}
      </ul>
      {nextCursor !== null && (
        <p class="ways">
          <ButtonLink href={documentsOf(shown, person, nextCursor)}>{waiting.next}</ButtonLink>
        </p>
      )}
    </>
  );
}

function Waiting({ item, ...shown }: ShownDeputies & { item: DeputyItem }) {
  const { words } = shown;
  const { deputies: texts } = words;
  const { documentId, flowActionId, userId, documentVersion, actionDate } = item;
  const { participantName, person, deputyName } = item;
  const turn = [documentId, flowActionId, userId].join('.');
  const values = { person: participantName ?? person, name: deputyName };
  const text = filled(item.asked === 'Sign' ? texts.sign : texts.approve, values);
  return (
    <li>
      <div class="grow">
        <strong>
          <bdi>{item.name}</bdi>
        </strong>
        <p class="small muted">{filled(words.from, { organization: item.organizationName })}</p>
      </div>
      <a
        href={addressFrom({ culture: words.language }, `${DEPUTIES_PATH}/file?of=${turn}`)}
        aria-label={filled(texts.readNamed, { name: item.name })}
      >
        {texts.read}
      </a>
      <Act
        {...shown}
        wish="sign"
        value={[turn, documentVersion, actionDate].join('.')}
        person={person}
        name={deputyName}
        text={text}
        label={`${text}: ${item.name}`}
      />
    </li>
  );
}

function Person({
  of: { id, person, name, startDate, endDate },
  ...shown
}: ShownDeputies & { of: DeputyshipView }) {
  const { deputies: texts, language } = shown.words;
  const values = { person, name, ...timesOf({ startDate, endDate }, language) };
  return (
    <li>
      <div class="grow">{filled(texts.person, values)}</div>
      <a href={documentsOf(shown, person)} aria-label={`${texts.documents}: ${person}`}>
        {texts.documents}
      </a>
      <Act
        {...shown}
        wish="over"
        value={id}
        person={person}
        text={texts.giveUp}
        label={`${texts.giveUp}: ${person}`}
      />
    </li>
  );
}

function timesOf(
  { startDate, endDate }: Pick<DeputyView, 'startDate' | 'endDate'>,
  language: string,
): { from: string; until: string } {
  const time = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return { from: time.format(startDate), until: time.format(endDate) };
}

function Named({ deputy, ...shown }: ShownDeputies & { deputy: DeputyView }) {
  const { deputies: texts, language } = shown.words;
  const { id, name, email } = deputy;
  const values = { name, email, ...timesOf(deputy, language) };
  return (
    <li>
      <div class="grow">{filled(texts.shown, values)}</div>
      <Act {...shown} wish="over" value={id} person="" text={texts.end} label={`${texts.end}: ${name}`} />
    </li>
  );
}

function Naming({ words, formToken, fault, values = {} }: ShownDeputies) {
  const { deputies: texts, passOn } = words;
  const error = (of: DeputyFormFault, text: string) => (fault === of ? text : undefined);
  return (
    <form
      method="post"
      action={addressFrom({ culture: words.language }, `${DEPUTIES_PATH}/new`)}
      class="stack"
    >
      <h2>{texts.name}</h2>
      <input type="hidden" name="token" value={formToken} />
      <Field
        id="name"
        name="name"
        label={passOn.name}
        autoComplete="off"
        required
        maxLength={200}
        value={values['name']}
        error={error('name', texts.faults.name)}
      />
      <Field
        id="email"
        name="email"
        type="email"
        label={passOn.email}
        autoComplete="off"
        spellcheck={false}
        required
        maxLength={254}
        value={values['email']}
        error={error('email', texts.faults.email)}
      />
      <TextArea
        id="reason"
        name="reason"
        label={passOn.reason}
        rows={2}
        required
        maxLength={2_000}
        value={values['reason']}
        error={error('reason', passOn.faults.reason)}
      />
      <Field id="from" name="from" type="date" label={texts.from} value={values['from']} />
      <Field
        id="until"
        name="until"
        type="date"
        label={texts.until}
        required
        value={values['until']}
        error={error('time', texts.faults.time)}
      />
      <Button type="submit" rank="main" big>
        {texts.name}
      </Button>
    </form>
  );
}

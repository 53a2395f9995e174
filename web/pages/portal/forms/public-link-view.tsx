/** Page of a link for anybody: what it asks, and the code that was sent. Works without a script. */
import type { PublicLinkPage } from '../../../../contracts/portal/saved-requests/public-links.ts';
import { Template } from '../../../../contracts/texts/markup.tsx';
import type { PageBranding } from '../../../../machines/portal/branding.ts';
import { CODE_DELIVERY_TIMEOUT_MS } from '../../../../machines/portal/mail.ts';
import { Button, Field } from '../../../components/controls.tsx';
import { addressFrom, languages } from '../account-frame.ts';
import { noticePage } from '../notice-view.tsx';
import { portalPage, type Theme } from '../page-frame.tsx';
import { ValueField } from '../sender/value-field.tsx';
import { filled, type PageTexts } from '../texts.ts';

/** The page of a device at which persons sign one after the other. */
export const HERE_PATH = '/here';

export type LinkFault = keyof PageTexts['publicLink']['faults'];

export interface ShownLink {
  readonly words: PageTexts;
  readonly theme: Theme | undefined;
  readonly page: PublicLinkPage;
  readonly branding: PageBranding | undefined;
  readonly ticket: string;
  /** Names of the fields of the link: the position names the input, also when the template changes. */
  readonly inputs: readonly string[];
  /** The same for each time the form is sent. */
  readonly visitId: string;
  /** Inputs by name. */
  readonly values: Readonly<Record<string, string>>;
  /** True: a code was sent, and is asked. */
  readonly asksCode: boolean;
  /** A device that others use afterwards: nothing is proven by a code, and no browser keeps what is entered. */
  readonly here?: { readonly pinFault?: 'wrongPin' | 'tooManyPins' };
  readonly fault?: { readonly of: LinkFault; readonly fields?: ReadonlySet<string> } | undefined;
}

export function publicLinkPage(shown: ShownLink): string {
  const { words, theme, page, branding, ticket, visitId, asksCode, here } = shown;
  const { name, organizationName } = page;
  const address = here ? HERE_PATH : `/link?ticket=${encodeURIComponent(ticket)}`;
  return portalPage({
    words,
    theme,
    branding,
    title: name,
    kind: 'quiet',
    ...(here && { script: 'here.js', data: words.here.script }),
    main: (
      <main id="main" class="notice narrow" tabIndex={-1}>
        <h1>
          <bdi>{name}</bdi>
        </h1>
        <p>{filled(words.from, { organization: organizationName })}</p>
        <form
          method="post"
          action={addressFrom({ culture: words.language }, address)}
          class="stack"
          autoComplete={here && 'off'}
        >
          <input type="hidden" name="visit" value={visitId} />
          {asksCode ? (
            <CodeStep {...shown} fault={shown.fault?.of} sent={codeSent(shown)} />
          ) : (
            <DataStep {...shown} />
          )}
        </form>
        {(here !== undefined || page.language === null) && !asksCode && (
          <Template of={languages({ words, address })} />
        )}
        {here && <Leaving words={words} fault={here.pinFault} />}
      </main>
    ),
  });
}

function DataStep({ words, page, inputs, values, fault, here }: ShownLink) {
  const { publicLink: texts, signing, newLink } = words;
  const error = (of: LinkFault) => (fault?.of === of ? texts.faults[of] : undefined);
  const { contact, fields } = page;
  const known = (name: string) => (here === undefined ? name : 'off');
  return (
    <>
      <p>{here === undefined ? texts.intro : words.here.intro}</p>
      <Trouble words={words} fault={fault} />
      <Field
        id="name"
        name="name"
        label={signing.name}
        autoComplete={known('name')}
        required
        maxLength={200}
        value={values['name']}
        error={error('name')}
      />
      {contact === 'Email' ? (
        <Field
          id="email"
          name="email"
          type="email"
          label={newLink.address}
          autoComplete={known('email')}
          spellcheck={false}
          required
          maxLength={254}
          value={values['email']}
          error={error('email')}
        />
      ) : (
        <Field
          id="phone"
          name="phone"
          type="tel"
          label={texts.phone}
          autoComplete={known('tel')}
          required
          maxLength={50}
          value={values['phone']}
          error={error('phone')}
        />
      )}
      {fields.map(({ required, ...field }) => {
        const id = `value-${inputs.indexOf(field.name)}`;
        const isWrong = fault?.fields?.has(field.name) === true;
        return (
          <ValueField
            required={signing.required}
            field={{ ...field, readOnly: required }}
            id={id}
            values={values}
            error={isWrong ? valueFault(field, values[id] ?? '', signing.script) : undefined}
          />
        );
      })}
      <Button type="submit" rank="main" big>
        {here === undefined ? texts.sendCode : texts.onward}
      </Button>
    </>
  );
}

/** Fault of a value that the service has refused, in the language of the page. */
function valueFault(
  { type, minimum, maximum }: Pick<PublicLinkPage['fields'][number], 'type' | 'minimum' | 'maximum'>,
  value: string,
  words: PageTexts['signing']['script'],
): string {
  if (value.trim() === '') return words.fieldMissing;
  const number = type === 'Number' ? Number(value) : Number.NaN;
  if (minimum !== null && number < minimum) return filled(words.fieldTooSmall, { value: minimum });
  if (maximum !== null && number > maximum) return filled(words.fieldTooLarge, { value: maximum });
  return words.fieldInvalid;
}

function codeSent({ words, page, values }: ShownLink): string {
  const to = values[page.contact === 'Email' ? 'email' : 'phone'] ?? '';
  return filled(words.publicLink.codeSent, { to, minutes: CODE_DELIVERY_TIMEOUT_MS / 60_000 });
}

/** Asks for a code that was sent. @param sent says where to */
export function CodeStep({
  words,
  sent,
  values,
  fault,
}: Pick<ShownLink, 'words' | 'values'> & { sent: string; fault: LinkFault | undefined }) {
  const { publicLink: texts } = words;
  return (
    <>
      <h2>{texts.codeTitle}</h2>
      <p>{sent}</p>
      <Trouble words={words} fault={fault && { of: fault }} />
      {Object.entries(values).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Field
        id="code"
        name="code"
        label={texts.code}
        autoComplete="one-time-code"
        inputMode="numeric"
        required
        maxLength={50}
        error={fault === 'code' ? texts.faults.code : undefined}
      />
      <p class="ways">
        <Button type="submit" rank="main" big>
          {texts.onward}
        </Button>
        <Button type="submit" name="do" value="again" formNoValidate>
          {texts.again}
        </Button>
        <Button type="submit" rank="quiet" name="do" value="change" formNoValidate>
          {texts.change}
        </Button>
      </p>
    </>
  );
}

/** The host ends the device. The browser keeps no PIN. */
function Leaving({
  words: { here },
  fault,
}: {
  words: PageTexts;
  fault: 'wrongPin' | 'tooManyPins' | undefined;
}) {
  return (
    <details class="leaving" open={fault !== undefined}>
      <summary>{here.leave}</summary>
      <form method="post" action={`${HERE_PATH}/leave`} class="stack" autoComplete="off">
        <Field
          id="pin"
          name="pin"
          type="password"
          label={here.pin}
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          maxLength={12}
          error={fault && here[fault]}
        />
        <Button type="submit">{here.leave}</Button>
      </form>
    </details>
  );
}

/** Page that takes an address of a device: a preview of the address takes nothing. */
export function hereStartPage(words: PageTexts, theme: Theme | undefined, ticket: string): string {
  const { here } = words;
  return portalPage({
    words,
    theme,
    title: here.start.title,
    kind: 'quiet',
    main: (
      <main id="main" class="notice narrow" tabIndex={-1}>
        <h1>{here.start.title}</h1>
        <p>{here.start.text}</p>
        <form method="post" action={addressFrom({ culture: words.language }, `${HERE_PATH}/start`)}>
          <input type="hidden" name="ticket" value={ticket} />
          <Button type="submit" rank="main" big>
            {here.start.button}
          </Button>
        </form>
      </main>
    ),
  });
}

/** The fault of the form as a whole. */
function Trouble({ words, fault }: Pick<ShownLink, 'words' | 'fault'>) {
  if (fault === undefined || ['name', 'email', 'phone', 'code'].includes(fault.of)) return null;
  return (
    <p class="trouble" role="alert">
      {words.publicLink.faults[fault.of]}
    </p>
  );
}

export type LinkEnd = keyof PageTexts['publicLink']['closed'] | 'personFull';

/** A link without a form. It names neither the link nor its sender. */
export function publicLinkEndPage(words: PageTexts, theme: Theme | undefined, end: LinkEnd): string {
  const { closed, ...texts } = words.publicLink;
  const message = end === 'personFull' ? texts.personFull : closed[end];
  return noticePage({ words, theme, message, icon: 'link-2-off' });
}

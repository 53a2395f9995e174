/**
 * Logo, colors, words of mails and the page after signing, with the signing page and the mail beside them, which follow what is
 * typed. An island: the forms work without its script, which shows the pages beside them.
 */
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SignedInUser } from '../../../../actors/portal/api.ts';
import {
  BRANDED_MAILS,
  type BrandedMail,
  type Language,
  MAX_INTRODUCTION,
  MAX_REDIRECT_URL,
  MAX_SUBJECT,
} from '../../../../contracts/portal/words.ts';
import type { Texts } from '../../../../contracts/texts/texts.ts';
import type { BrandingContext } from '../../../../machines/portal/branding.ts';
import { Button, Field, Select, TextArea } from '../../../components/controls.tsx';
import { DropZone } from '../../../components/drop-zone.tsx';
import { Card } from '../../../components/surfaces.tsx';
import { AccountForm, entriesOf, Sure } from '../account-form.tsx';
import { type AccountNotice, addressFrom } from '../account-frame.ts';
import type { LogoImage } from '../page-frame.tsx';

const PATH = '/organization/branding';

export interface BrandingEditorProps {
  /** For whom the forms are. */
  readonly of: {
    readonly page: { readonly culture: Language | undefined };
    readonly user: Pick<SignedInUser, 'formToken' | 'role'>;
  };
  readonly texts: Texts['account']['branding'];
  readonly organization: string;
  readonly branding: Pick<
    BrandingContext,
    'primaryColor' | 'headerColor' | 'redirectOrigins' | 'redirectUrl' | 'mailTexts'
  >;
  readonly logo: LogoImage | undefined;
  /** Address for questions; empty: none. */
  readonly replyTo: string;
  /** The mail whose texts are edited. */
  readonly kind: BrandedMail;
  /** Subject of that mail with sample data. */
  readonly subject: string;
  readonly placeholders: readonly string[];
  readonly notice: AccountNotice | undefined;
}

/** Calls of the script. */
export interface BrandingActions {
  /** Address of a page of the portal, for a frame. */
  address(path: string): string;
  /** Rejects with what is wrong. @returns the subject with sample data */
  preview(words: { readonly subject: string; readonly introduction: string }): Promise<string>;
  /** Runs a task later; the returned function cancels it. */
  delay(milliseconds: number, task: () => void): () => void;
  /** Rejects with what is wrong. */
  upload(logo: File): Promise<void>;
}

interface Typed {
  readonly primaryColor: string;
  readonly headerColor: string;
  readonly subject: string;
  readonly introduction: string;
}

type Part = BrandingEditorProps & {
  readonly typed: Typed;
  readonly type: (change: Partial<Typed>) => void;
  readonly actions: BrandingActions | undefined;
};

export function BrandingEditor({
  actions,
  ...props
}: BrandingEditorProps & { actions?: BrandingActions | undefined }) {
  const looks = entriesOf(props.notice, `${PATH}/looks`);
  const mail = entriesOf(props.notice, `${PATH}/mail`);
  const own = props.branding.mailTexts[props.kind];
  const [typed, setTyped] = useState<Typed>({
    primaryColor: looks.of('primaryColor', props.branding.primaryColor ?? '').value,
    headerColor: looks.of('headerColor', props.branding.headerColor ?? '').value,
    subject: mail.of('subject', own?.subject ?? '').value,
    introduction: mail.of('introduction', own?.introduction ?? '').value,
  });
  const [picture, setPicture] = useState<string>();
  const type = (change: Partial<Typed>) => setTyped((before) => ({ ...before, ...change }));
  const part = { ...props, actions, typed, type };
  return (
    <div class="with-frames">
      <div class="stack">
        <LogoCard {...part} picture={picture} show={setPicture} />
        <Looks {...part} />
        <Mails {...part} />
      </div>
      <Frames {...part} picture={picture} />
    </div>
  );
}

function LogoCard({
  of,
  texts,
  organization,
  logo,
  actions,
  picture,
  show,
}: Part & { picture: string | undefined; show: (picture: string | undefined) => void }) {
  const [file, setFile] = useState<File>();
  const [fault, setFault] = useState('');
  const [isBusy, setBusy] = useState(false);
  const outcome = useRef<HTMLDivElement>(null);
  const fail = (text: string) => {
    setFault(text);
    outcome.current?.focus();
  };
  const upload = async () => {
    if (file === undefined) return fail(texts.noLogo);
    setBusy(true);
    await actions?.upload(file).catch((error: Error) => fail(error.message));
    setBusy(false);
  };
  return (
    <Card label={texts.logo} title={texts.logo} hasBody>
      {logo === undefined ? (
        <p class="muted">{texts.logoNone}</p>
      ) : (
        <div class="ways">
          <img {...logo} alt={organization} class="logo" />
          <Sure of={of} action={`${PATH}/logo-removal`} ask={texts.logoRemove} sure={texts.logoRemoveSure} />
        </div>
      )}
      <noscript>
        <p class="trouble">{texts.needsScript}</p>
      </noscript>
      <DropZone
        id="logo-file"
        label={texts.logoDrop}
        hint={texts.logoFile}
        accept="image/png,image/jpeg"
        hasNames
        onFiles={([chosen]) => {
          if (picture !== undefined) URL.revokeObjectURL(picture);
          setFile(chosen);
          setFault('');
          show(chosen && URL.createObjectURL(chosen));
        }}
      >
        {picture !== undefined && <img src={picture} alt="" class="logo" />}
      </DropZone>
      <Button id="logo-upload" icon="upload" disabled={isBusy} onClick={() => void upload()}>
        {texts.logoUpload}
      </Button>
      <div
        id="outcome"
        ref={outcome}
        class={fault === '' ? 'outcome' : 'outcome bad'}
        role="status"
        aria-live="polite"
        tabIndex={-1}
      >
        {fault}
      </div>
    </Card>
  );
}

/** Most characters of an address, which has at most 254, with a name. */
const MAX_MAILBOX = 320;
const COLOR = /^#[\da-f]{6}$/i;
/** Color that the wheel shows while none is chosen. */
const NO_COLOR = '#1b5fb4';

/** A color as text, and a wheel to choose it. */
function ColorField({ name, texts, notice, typed, type }: Part & { name: 'primaryColor' | 'headerColor' }) {
  const value = typed[name];
  return (
    <div class="color">
      <Field
        id={name}
        label={texts[name]}
        maxLength={7}
        placeholder={NO_COLOR}
        spellcheck={false}
        {...entriesOf(notice, `${PATH}/looks`).of(name)}
        value={value}
        onInput={({ currentTarget }) => type({ [name]: currentTarget.value })}
      />
      <input
        type="color"
        aria-label={texts[name]}
        value={COLOR.test(value) ? value : NO_COLOR}
        onInput={({ currentTarget }) => type({ [name]: currentTarget.value })}
      />
    </div>
  );
}

function Looks(part: Part) {
  const { of, texts, branding, notice, replyTo } = part;
  const entries = entriesOf(notice, `${PATH}/looks`);
  return (
    <Card label={texts.looks} title={texts.looks} hasBody>
      <AccountForm of={of} action={`${PATH}/looks`}>
        <div class="fields">
          <ColorField {...part} name="primaryColor" />
          <ColorField {...part} name="headerColor" />
        </div>
        <Field
          id="replyTo"
          label={texts.contact}
          inputMode="email"
          maxLength={MAX_MAILBOX}
          spellcheck={false}
          {...entries.of('replyTo', replyTo)}
        />
        <TextArea
          id="redirectOrigins"
          label={texts.redirectOrigins}
          rows={3}
          maxLength={6019}
          spellcheck={false}
          {...entries.of('redirectOrigins', branding.redirectOrigins.join('\n'))}
        />
        <Field
          id="redirectUrl"
          label={texts.redirectUrl}
          type="url"
          maxLength={MAX_REDIRECT_URL}
          spellcheck={false}
          {...entries.of('redirectUrl', branding.redirectUrl ?? '')}
        />
        <Button type="submit" rank="main">
          {texts.save}
        </Button>
      </AccountForm>
    </Card>
  );
}

function Mails({ of, texts, kind, placeholders, notice, typed, type }: Part) {
  const { culture } = of.page;
  const path = `${PATH}/mail`;
  const entries = entriesOf(notice, path);
  const hint = (
    <>
      {texts.hint}{' '}
      {placeholders.map((name) => (
        <>
          <code>{`{${name}}`}</code>{' '}
        </>
      ))}
    </>
  );
  return (
    <Card label={texts.mails} title={texts.mails} hasBody>
      <form method="get" action={`${PATH}#mails`} class="filter" id="mails">
        {culture !== undefined && <input type="hidden" name="culture" value={culture} />}
        <Select
          id="kind"
          name="kind"
          label={texts.kind}
          value={kind}
          options={BRANDED_MAILS.map((one) => [one, texts.kinds[one]] as const)}
        />
        <Button type="submit">{texts.show}</Button>
      </form>
      <AccountForm of={of} action={path} encType="multipart/form-data">
        <input type="hidden" name="kind" value={kind} />
        <Field
          id="subject"
          label={texts.subject}
          maxLength={MAX_SUBJECT}
          {...entries.of('subject')}
          value={typed.subject}
          onInput={({ currentTarget }) => type({ subject: currentTarget.value })}
        />
        <TextArea
          id="introduction"
          label={texts.introduction}
          hint={hint}
          rows={5}
          maxLength={MAX_INTRODUCTION}
          {...entries.of('introduction')}
          value={typed.introduction}
          onInput={({ currentTarget }) => type({ introduction: currentTarget.value })}
        />
        <Button type="submit">{texts.saveMail}</Button>
      </AccountForm>
    </Card>
  );
}

/** Pause of typing after which the pages beside the form follow, milliseconds. */
const PAUSE_MS = 250;

/** A value that changes once typing has paused. */
function usePaused<Value>(value: Value, actions: BrandingActions | undefined): Value {
  const [paused, setPaused] = useState(value);
  useEffect(() => actions?.delay(PAUSE_MS, () => setPaused(value)), [value]);
  return paused;
}

/** The signing page and the mail with what is typed. */
function Frames(part: Part & { picture: string | undefined }) {
  const { of, texts, kind, typed, actions, picture } = part;
  const [subject, setSubject] = useState(part.subject);
  const [fault, setFault] = useState('');
  const [mail, setMail] = useState(() => mailAddress(part, typed));
  const [first] = useState(typed);
  const next = usePaused(typed, actions);
  useEffect(() => {
    // The service has rendered the first one.
    if (next === first) return;
    let isOver = false;
    actions?.preview({ subject: next.subject, introduction: next.introduction }).then(
      (shown) => {
        if (isOver) return;
        setSubject(shown);
        setFault('');
        setMail(mailAddress(part, next));
      },
      (error: Error) => {
        if (!isOver) setFault(error.message);
      },
    );
    return () => {
      isOver = true;
    };
  }, [next]);
  const address = (path: string) => actions?.address(path) ?? path;
  const stored = part.branding.mailTexts[kind]?.introduction ?? '';
  const isUnseen = isTooLong(next) && next.introduction !== stored;
  const page = useRef<HTMLIFrameElement>(null);
  useLook(page, { colors: colorsOf(next), picture, address });
  return (
    <aside class="frames" aria-label={texts.preview}>
      <h2>{texts.signingPage}</h2>
      <iframe
        id="page-frame"
        ref={page}
        title={texts.signingPage}
        src={address(addressFrom(of.page, `${PATH}/signing-page`))}
        inert
      />
      <h2>{texts.mailPage}</h2>
      <p>
        <strong id="preview-subject">
          <bdi>{subject}</bdi>
        </strong>
      </p>
      <p id="preview-state" class="hint" role="status" aria-live="polite">
        {fault || (isUnseen && texts.tooLong)}
      </p>
      <iframe id="mail-frame" key={kind} title={texts.mailPage} src={address(mail)} />
    </aside>
  );
}

/** Query of the colors that can be used; what is half typed counts as none. */
function colorsOf({ primaryColor, headerColor }: Typed): string {
  const given = Object.entries({ primaryColor, headerColor }).filter(([, color]) => COLOR.test(color));
  return String(new URLSearchParams(given));
}

/** Most bytes of a first paragraph in the address of the mail: the service refuses a head of a request above 16 KiB. */
const MAX_ADDRESS_WORDS = 6_000;

function isTooLong({ introduction }: Pick<Typed, 'introduction'>): boolean {
  return String(new URLSearchParams({ introduction })).length > MAX_ADDRESS_WORDS;
}

/** Without a first paragraph that is too long for an address: the mail has the stored one. */
function mailAddress({ of, kind }: Part, typed: Typed): string {
  const { subject, introduction } = typed;
  const words = new URLSearchParams({ kind, subject, ...(!isTooLong(typed) && { introduction }) });
  return addressFrom(of.page, `${PATH}/preview?${words}&${colorsOf(typed)}`);
}

/** Gives the page in a frame colors and a logo that are not stored. */
function useLook(
  frame: RefObject<HTMLIFrameElement>,
  look: { colors: string; picture: string | undefined; address: (path: string) => string },
): void {
  const { colors, picture, address } = look;
  useEffect(() => {
    const shown = frame.current;
    const apply = () => {
      const inside = shown?.contentDocument;
      if (!inside?.body) return;
      for (const link of inside.querySelectorAll('link[href*="colors.css"]')) link.remove();
      const link = inside.createElement('link');
      link.rel = 'stylesheet';
      link.href = address(`${PATH}/colors.css?${colors}`);
      inside.head.append(link);
      if (picture === undefined) return;
      const logo = inside.createElement('img');
      logo.src = picture;
      logo.alt = '';
      inside.querySelector('.top > :is(img, .logo-mark)')?.replaceWith(logo);
    };
    apply();
    shown?.addEventListener('load', apply);
    return () => shown?.removeEventListener('load', apply);
  }, [colors, picture]);
}

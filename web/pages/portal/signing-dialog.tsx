/**
 * The dialog in which a participant signs or approves, and the form to refuse. The scripts in `client/` enable their
 * buttons, which have no function before.
 */
import type { SigningPageView } from '../../../actors/portal/api.ts';
import { Button } from '../../components/controls.tsx';
import { DialogFrame } from '../../components/dialog-frame.tsx';
import { QrPicture } from '../../components/qr-picture.tsx';
import { filled, type PageTexts } from './texts.ts';

type Action = NonNullable<SigningPageView['action']>;

interface Parts {
  readonly action: Action;
  readonly words: PageTexts;
}

/** True for those who approve and do not sign. */
export function approves({ type }: Pick<Action, 'type'>): boolean {
  return type === 'Approver' || type === 'ApproverRule';
}

/**
 * @param name of the document; @param alone path of the page in a window of its own, where this one is in a frame;
 * @param content path of its file; undefined: the page does not show it; @param whole every page has to be seen
 * @param isHere nobody's certificate is on the device, and no name stays
 */
export function SigningDialog({
  action,
  words,
  name,
  content,
  whole,
  isHere,
  alone,
}: Parts & {
  name: string;
  content: string | undefined;
  whole: boolean;
  isHere: boolean;
  alone: string | undefined;
}) {
  const { signing } = words;
  const isApproval = approves(action);
  const close = <Button id="signing-close" rank="quiet" icon="x" label={signing.close} />;
  return (
    <DialogFrame
      id="signing"
      title={filled(isApproval ? signing.approveNamed : signing.signNamed, { name })}
      header={close}
    >
      {content !== undefined && (
        <div id="unread" class="stack" data-whole={whole ? '' : undefined}>
          <p class="trouble" id="unread-hint">
            {whole ? signing.unreadPages : signing.unread}{' '}
            <a href={content} download>
              {signing.download}
            </a>
          </p>
          <label class="tick">
            <input type="checkbox" aria-describedby="unread-hint" /> {signing.read}
          </label>
        </div>
      )}
      {isApproval && <ApprovalForm words={words} />}
      {!isApproval && action.allowElectronicSignature && (
        <ElectronicForm action={action} words={words} isHere={isHere} />
      )}
      {!isApproval && !isHere && <CertificateForm action={action} words={words} />}
      {!isApproval && !isHere && <ProvidersForm action={action} words={words} alone={alone} />}
    </DialogFrame>
  );
}

function ApprovalForm({ words: { signing } }: Pick<Parts, 'words'>) {
  return (
    <form id="approval" class="stack" noValidate>
      <p class="hint">{signing.approveHint}</p>
      <Button type="submit" rank="main" big disabled>
        {signing.approve}
      </Button>
    </form>
  );
}

/** Looks of a typed name: the handwritings are packages of fonts. */
const NAME_LOOKS = ['caveat', 'dancing-script', 'plain'] as const;

function ElectronicForm({ action, words, isHere }: Parts & { isHere: boolean }) {
  const { signing } = words;
  return (
    <form id="electronic" class="stack" noValidate>
      <div class="tabs" role="tablist" aria-label={signing.look}>
        {(['typed', 'drawn', 'picture'] as const).map((way) => (
          <button
            type="button"
            role="tab"
            id={`tab-${way}`}
            data-way={way}
            aria-controls={`way-${way}`}
            aria-selected={way === 'typed' ? 'true' : 'false'}
            tabIndex={way === 'typed' ? 0 : -1}
            disabled
          >
            {signing.ways[way]}
          </button>
        ))}
      </div>
      <div>
        <label for="typed-name">{signing.name}</label>
        <input
          id="typed-name"
          autoComplete={isHere ? 'off' : 'name'}
          maxLength={200}
          required
          value={action.participant.name ?? ''}
        />
      </div>
      <div id="way-typed" class="stack" role="tabpanel" aria-labelledby="tab-typed">
        <div class="paper">
          <img id="look-preview" alt={signing.lookPreview} hidden />
          <span id="look-plain" />
        </div>
        <fieldset class="looks">
          <legend class="unseen">{signing.look}</legend>
          {NAME_LOOKS.map((look, index) => (
            <label data-hand={look}>
              <input
                type="radio"
                name="look"
                value={look}
                checked={index === 0}
                aria-label={
                  look === 'plain' ? signing.lookPlain : filled(signing.lookHand, { number: index + 1 })
                }
              />
              <span>{action.participant.name}</span>
            </label>
          ))}
        </fieldset>
      </div>
      <div id="way-drawn" class="stack" role="tabpanel" aria-labelledby="tab-drawn" hidden>
        <div class="paper">
          <canvas
            id="drawing-area"
            role="img"
            aria-label={signing.drawArea}
            aria-describedby="drawing-hint"
          />
        </div>
        <div class="row">
          <p class="hint grow" id="drawing-hint">
            {signing.drawHint}
          </p>
          <span id="drawing-state" class="unseen" role="status" />
          <Button id="drawing-undo" disabled>
            {signing.undo}
          </Button>
          <Button id="drawing-clear" disabled>
            {signing.clear}
          </Button>
        </div>
      </div>
      <div id="way-picture" class="stack" role="tabpanel" aria-labelledby="tab-picture" hidden>
        <div class="paper">
          <img id="picture-preview" alt={signing.lookPreview} hidden />
        </div>
        <div>
          <label for="picture-file">{signing.pictureFile}</label>
          <input id="picture-file" type="file" accept="image/png,image/jpeg,image/webp" />
        </div>
      </div>
      {action.passkey?.isKnown && (
        <label class="tick" hidden>
          <input type="checkbox" id="with-passkey" /> {signing.withPasskey}
        </label>
      )}
      {action.passkey && (
        <label class="tick" hidden>
          <input type="checkbox" id="new-passkey" /> {signing.newPasskey}
        </label>
      )}
      <Initials action={action} words={words} id="electronic-initials" />
      <details class="hint agreed">
        <summary>
          {signing.agreed} <span class="link">{signing.recorded}</span>
        </summary>
        <p>
          {signing.recordedText}
          {action.codes.some(({ channel }) => channel === 'Email') && ` ${signing.codeTime}`}
        </p>
        <label class="tick">
          <input type="checkbox" id="with-location" /> {signing.location}
        </label>
      </details>
      {/* The last digit signs: what a person chooses stands before it. */}
      {action.codes.map((code) => (
        <CodeField code={code} words={words} enrolment={action.enrolment} />
      ))}
      <Button type="submit" rank="main" big disabled>
        {signing.sign}
      </Button>
      <Button id="with-certificate" rank="quiet" disabled>
        {signing.byCertificate}
      </Button>
    </form>
  );
}

const CODE_LENGTH = 6;

/** One field for the whole code, behind six boxes: a paste and the browser's own filling reach all of them. */
function CodeField({
  code: { channel, to },
  words: { signing },
  enrolment,
}: Pick<Parts, 'words'> & { code: Action['codes'][number]; enrolment: Action['enrolment'] }) {
  const isApp = channel === 'AuthenticatorApp';
  const id = isApp ? 'otp-code' : `${channel.toLowerCase()}-code`;
  const isMail = channel === 'Email';
  const label = isApp
    ? signing.appCode
    : isMail
      ? filled(signing.code, { email: to })
      : filled(signing.phoneCode, { to, channel: channel === 'Sms' ? 'SMS' : 'WhatsApp' });
  const isNew = isApp && enrolment !== undefined;
  return (
    <div
      class="one-time"
      data-channel={channel}
      data-to={to}
      data-sealed={isNew ? enrolment.sealed : undefined}
    >
      {isNew && <AppEnrolment enrolment={enrolment} signing={signing} />}
      <div class="row">
        <label for={id} class="grow">
          {label}
        </label>
        {!isApp && (
          <Button id={isMail ? 'send-code' : `send-${id}`} rank="quiet" disabled>
            {signing.script.codeAgain}
          </Button>
        )}
      </div>
      <div class="boxes">
        <input
          id={id}
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          aria-describedby={`${id}-state ${id}-hint`}
        />
        {Array.from({ length: CODE_LENGTH }, () => (
          <i />
        ))}
      </div>
      <span class="unseen" id={`${id}-state`} role="status" />
      <p class="hint" id={`${id}-hint`}>
        {signing.codeSigns}
      </p>
    </div>
  );
}

function AppEnrolment({
  enrolment: { secret, code },
  signing,
}: {
  enrolment: NonNullable<Action['enrolment']>;
  signing: PageTexts['signing'];
}) {
  return (
    <>
      <p class="hint">{signing.appSetUp}</p>
      <QrPicture code={code} label={signing.appPicture} />
      <p class="hint">
        {signing.appKey} <code class="secret">{secret}</code>
      </p>
    </>
  );
}

function CertificateForm({ action, words }: Parts) {
  const { signing } = words;
  const isOther = action.allowElectronicSignature;
  // The inputs have no names, so a browser without scripts cannot send them.
  return (
    <form id="certificate" class="stack" noValidate hidden={isOther}>
      <div>
        <label for="certificate-file">{signing.file}</label>
        <input
          id="certificate-file"
          type="file"
          accept=".p12,.pfx,application/x-pkcs12"
          required
          aria-describedby="certificate-hint"
        />
      </div>
      <div>
        <label for="certificate-password">{signing.password}</label>
        <input
          id="certificate-password"
          type="password"
          autoComplete="off"
          aria-describedby="certificate-hint"
        />
      </div>
      <p class="hint" id="certificate-hint">
        {signing.staysHere}
      </p>
      <Initials action={action} words={words} id="certificate-initials" />
      <Button type="submit" rank="main" big disabled>
        {signing.sign}
      </Button>
      {isOther && (
        <Button id="with-name" rank="quiet" disabled>
          {signing.byName}
        </Button>
      )}
    </form>
  );
}

/** A frame is no place for the page of a provider, nor for the cookie of the visit. */
function ProvidersForm({
  action: { providers = [] },
  words: { signing },
  alone,
}: Parts & { alone: string | undefined }) {
  if (providers.length === 0) return null;
  if (alone !== undefined)
    return (
      <p class="hint">
        <a href={alone} target="_blank" rel="noopener">
          {filled(signing.providersAlone, { providers: providers.map(({ title }) => title).join(', ') })}
        </a>
      </p>
    );
  return (
    <form id="providers" class="stack" noValidate>
      {providers.map(({ name, title }) => (
        <Button type="submit" name="provider" value={name} disabled>
          {filled(signing.withProvider, { provider: title })}
        </Button>
      ))}
      <p class="hint">{signing.providersHint}</p>
    </form>
  );
}

function Initials({ action: { initialsMode }, words: { signing }, id }: Parts & { id: string }) {
  if (initialsMode === 'None') return null;
  if (initialsMode === 'Required') return <p class="hint">{signing.initialsRequired}</p>;
  return (
    <label class="tick">
      <input type="checkbox" id={id} data-initials /> {signing.initials}
    </label>
  );
}

/** @param alone there is no other participant */
export function RefusalForm({ words: { signing }, alone }: Pick<Parts, 'words'> & { alone: boolean }) {
  return (
    <details id="refusing">
      <summary>{signing.refuse}</summary>
      <form id="refusal" noValidate>
        <label for="reason">{signing.reason}</label>
        <textarea id="reason" rows={3} maxLength={512} required aria-describedby="reason-hint" />
        <p class="hint" id="reason-hint">
          {alone ? signing.refuseHintAlone : signing.refuseHint}
        </p>
        <Button type="submit" rank="bad" disabled>
          {signing.refuseFinally}
        </Button>
      </form>
    </details>
  );
}

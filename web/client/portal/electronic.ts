/** Electronic signature with a typed name, its look, and the codes that are required. */

import type { SigningData } from '../../pages/portal/page-data.ts';
import { filled } from '../../pages/portal/texts.ts';
import { delay, findElement, focusElement, requireElement, setText, utcOffsetMinutes } from '../dom.ts';
import { initialsPlaces, type PageSize, startInitialsPreview } from './initials.ts';
import { controlOf, filledFields, showStatus, uploadedFiles, withStatus } from './outcome.ts';
import { answerTo, type PasskeyOptions } from './passkey-answers.ts';
import { readingMember } from './reading.ts';
import { post, Refused } from './requests.ts';
import { startSignatureLook } from './signature-look.ts';

/** Timeout of the browser's position request, milliseconds. */
const LOCATION_TIMEOUT_MS = 15_000;
/** A mail takes a while; seconds until another code can be asked for. */
const CODE_PAUSE_SECONDS = 30;
const CODE_LENGTH = 6;

/**
 * @param pageSizes resolves when the document is displayed; empty for files without pages
 * @returns called when the form is shown: sends the code, and moves the focus to what is to be typed
 */
export function startElectronic(
  form: HTMLFormElement,
  data: SigningData,
  pageSizes: () => Promise<readonly PageSize[]>,
  signed: () => void,
): () => void {
  const { words } = data;
  const name = requireElement('#typed-name', HTMLInputElement);
  const submit = requireElement('button[type="submit"]', HTMLButtonElement, form);
  const look = startSignatureLook(data, name);
  const initialsBox = findElement('#electronic-initials', HTMLInputElement);
  startInitialsPreview(data, name, initialsBox);
  /** Signs after the last digit. What is missing or wrong waits for the button, which says it; so does a passkey, which needs a press. */
  const signWhenWhole = () => {
    const isWhole =
      name.value.trim() !== '' &&
      asked().every(({ input }) => input.value.length === CODE_LENGTH) &&
      data.fields.every((_, index) => controlOf(index)?.checkValidity() !== false) &&
      !passkey.isAsked() &&
      look.isMade() &&
      submit.getAttribute('aria-disabled') !== 'true';
    if (isWhole) form.requestSubmit(submit);
  };
  const codes = [...form.querySelectorAll<HTMLElement>('.one-time')].map((field) =>
    startCode(field, form, { data, filled: signWhenWhole }),
  );
  const passkey = startPasskey(data, () => void sendAll(asked()));
  /** A passkey stands for the mailed code. */
  const asked = () => codes.filter(({ channel }) => channel !== 'Email' || !passkey.isUsed());

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const typedName = name.value.trim();
    for (const control of [name, ...codes.map(({ input }) => input)]) control.removeAttribute('aria-invalid');
    const faults = [];
    if (typedName === '') faults.push({ control: name, text: words.nameNeeded });
    for (const { input } of asked())
      if (input.value.length !== CODE_LENGTH) faults.push({ control: input, text: words.codeNeeded });
    const fieldValues = filledFields(data, faults);
    if (fieldValues === null) return;
    void withStatus(form, data, async () => {
      const geolocation = requireElement('#with-location', HTMLInputElement).checked
        ? await currentCoordinates(words.locationRefused)
        : undefined;
      const initials = await initialsPlaces(data, initialsBox, pageSizes);
      const image = await look.picture();
      const confirmed = await passkey.answer();
      await post(data, 'electronic-signature', {
        typedName,
        userTimeZoneOffset: utcOffsetMinutes(),
        disableNotifications: data.disableNotifications,
        signatureInitialsPositions: initials,
        fieldValues: { ...fieldValues, ...(await uploadedFiles(data)) },
        ...Object.fromEntries(asked().flatMap(({ members }) => members())),
        ...confirmed,
        ...readingMember(),
        ...(geolocation === undefined ? {} : { evidences: { geolocation } }),
        ...(image === undefined ? {} : { signatureImage: { contentB64: image, contentType: 'image/png' } }),
      }).catch((error: unknown) => {
        if (error instanceof Refused && error.channel === 'Passkey')
          throw new Refused(error.code, words.passkeyUnused);
        if (error instanceof Refused && error.code === 'InvalidAuthenticationCode') {
          const wrong = codes.find(({ channel }) => channel === error.channel)?.input;
          if (wrong !== undefined) wrong.value = '';
          // The first box is the next one, also where the field has the focus already.
          wrong?.dispatchEvent(new Event('input'));
          wrong?.setAttribute('aria-invalid', 'true');
          wrong?.focus();
        }
        throw error;
      });
      look.clear();
      signed();
    });
  });
  return () => {
    void look.open();
    // A phone opens its keyboard for a field that has the focus: only for one that must be typed into.
    if (name.value.trim() === '') name.focus();
    else focusElement(asked()[0]?.input);
    void sendAll(asked());
  };
}

/** @param mailed called when a mailed code is wanted in place of the passkey */
function startPasskey(data: SigningData, mailed: () => void) {
  const { words } = data;
  const [known, added] = ['#with-passkey', '#new-passkey'].map((id) => findElement(id, HTMLInputElement));
  const isPossible = 'PublicKeyCredential' in window;
  const show = () => {
    if (added?.parentElement) added.parentElement.hidden = !isPossible || known?.checked === true;
    findElement('.one-time[data-channel="Email"]')?.toggleAttribute('hidden', known?.checked === true);
  };
  if (known?.parentElement && isPossible) {
    known.parentElement.hidden = false;
    known.checked = true;
  }
  show();
  known?.addEventListener('change', () => {
    show();
    if (!known.checked) mailed();
  });
  return {
    isUsed: () => known?.checked === true,
    isAsked: () => known?.checked === true || added?.checked === true,
    async answer(): Promise<{ readonly passkey?: string; readonly newPasskey?: string }> {
      const isKnown = known?.checked === true;
      if (!isKnown && added?.checked !== true) return {};
      const options = await post<{ request: string | null; creation: string | null }>(
        data,
        'passkey-options',
      );
      try {
        const given = await answerTo(
          JSON.parse((isKnown ? options.request : options.creation) ?? '') as PasskeyOptions,
        );
        return isKnown ? { passkey: given } : { newPasskey: given };
      } catch {
        throw new Refused('passkey', window.parent === window ? words.passkeyUnused : words.passkeyFramed);
      }
    },
  };
}

interface CodeField {
  /** `Email`, `Sms`, `Whatsapp` or `AuthenticatorApp`. */
  readonly channel: string;
  readonly input: HTMLInputElement;
  /** Of the request that signs. */
  members(): readonly (readonly [name: string, value: string | undefined])[];
  /** Sends the first code. */
  open(): Promise<void>;
}

/** One after the other: each shows its own progress. */
async function sendAll(codes: readonly CodeField[]): Promise<void> {
  for (const code of codes) await code.open();
}

/** Starts the field of one code. @param filled called after the last digit */
function startCode(
  field: HTMLElement,
  form: HTMLElement,
  { data, filled: whole }: { readonly data: SigningData; readonly filled: () => void },
): CodeField {
  const { words } = data;
  const { channel = '', to = '', sealed } = field.dataset;
  const isApp = channel === 'AuthenticatorApp';
  const code = requireElement('input', HTMLInputElement, field);
  const button = findElement('button', HTMLElement, field);
  const state = requireElement('[role="status"]', HTMLElement, field);
  const boxes = [...field.querySelectorAll('.boxes i')];
  let sent = false;
  let known = '';

  const point = () => {
    // Fields that are not focused have no caret.
    const at = document.activeElement === code ? (code.selectionStart ?? code.value.length) : -1;
    for (const [index, box] of boxes.entries())
      box.toggleAttribute('data-now', index === Math.min(at, boxes.length - 1));
  };
  // An input method ends its text without a further `input`.
  for (const type of ['input', 'compositionend'])
    code.addEventListener(type, (event) => {
      if (event instanceof InputEvent && event.isComposing) return;
      // A paste brings words and spaces, an input method its own digits.
      const digits = code.value.normalize('NFKC').replace(/\D/g, '');
      const shown = digits.slice(0, CODE_LENGTH);
      if (shown !== code.value) code.value = shown;
      point();
      const isNew = digits.length === CODE_LENGTH && digits !== known;
      known = shown;
      // A program that fills in codes does not sign, nor do six of more digits. The end of a composition may be untrusted.
      if (isNew && (event.isTrusted || type === 'compositionend')) whole();
    });
  for (const type of ['focus', 'blur', 'keyup', 'pointerup']) code.addEventListener(type, point);

  /** Counts down on the button, which keeps the focus. */
  const wait = (seconds: number) => {
    if (button === undefined) return;
    setText(button, seconds > 0 ? filled(words.codeAgainIn, { seconds }) : words.codeAgain);
    button.toggleAttribute('data-waiting', seconds > 0);
    if (seconds > 0) delay(1000, () => wait(seconds - 1));
  };
  const send = (resend: boolean) =>
    withStatus(
      form,
      data,
      async () => {
        await post(data, 'email-authentication-code', { channel, resend });
        sent = true;
        wait(CODE_PAUSE_SECONDS);
        showStatus('');
        setText(
          state,
          channel === 'Email' ? filled(words.codeSent, { email: to }) : filled(words.messageSent, { to }),
        );
      },
      button,
    );
  button?.addEventListener('click', () => {
    if (button.hasAttribute('data-waiting')) return;
    code.focus();
    void send(sent);
  });
  return {
    channel,
    input: code,
    members: () =>
      isApp
        ? [
            ['otpCode', code.value],
            ['otpEnrolment', sealed],
          ]
        : [[`${channel.toLowerCase()}Code`, code.value]],
    async open() {
      if (!sent && !isApp) await send(false);
    },
  };
}

interface Coordinates {
  readonly latitude: number;
  readonly longitude: number;
  readonly accuracy: number;
}

function currentCoordinates(refusedWords: string): Promise<Coordinates> {
  return new Promise((resolve, reject) => {
    const refused = () => reject(new Refused('location', refusedWords));
    if (navigator.geolocation === undefined) return refused();
    navigator.geolocation.getCurrentPosition(
      ({ coords: { latitude, longitude, accuracy } }) => resolve({ latitude, longitude, accuracy }),
      refused,
      { timeout: LOCATION_TIMEOUT_MS, maximumAge: 60_000 },
    );
  });
}

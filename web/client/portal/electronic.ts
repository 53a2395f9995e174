/** Electronic signature with a typed name, its look, and a code from an e-mail where required. */

import type { SigningData } from '../../pages/portal/page-data.ts';
import { filled } from '../../pages/portal/texts.ts';
import { delay, findElement, focusElement, requireElement, setText, utcOffsetMinutes } from '../dom.ts';
import { initialsPlaces, type PageSize, startInitialsPreview } from './initials.ts';
import { filledFields, showStatus, uploadedFiles, withStatus } from './outcome.ts';
import { post, Refused } from './requests.ts';
import { startSignatureLook } from './signature-look.ts';

/** Timeout of the browser's position request, milliseconds. */
const LOCATION_TIMEOUT_MS = 15_000;
/** A mail takes a while; seconds until another code can be asked for. */
const CODE_PAUSE_SECONDS = 30;

/**
 * @param pageSizes resolves when the document is displayed; empty for files without pages
 * @returns called when the form is shown: sends the code, and moves the focus to what is to be typed
 */
export function startElectronic(
  form: HTMLElement,
  data: SigningData,
  pageSizes: () => Promise<readonly PageSize[]>,
  signed: () => void,
): () => void {
  const { words } = data;
  const name = requireElement('#typed-name', HTMLInputElement);
  const look = startSignatureLook(data, name);
  const initialsBox = findElement('#electronic-initials', HTMLInputElement);
  startInitialsPreview(data, name, initialsBox);
  const code = findElement('#email-code', HTMLInputElement);
  const open = code === undefined ? () => {} : startCode(code, form, data);

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const typedName = name.value.trim();
    for (const control of [name, code]) control?.removeAttribute('aria-invalid');
    const faults = [];
    if (typedName === '') faults.push({ control: name, text: words.nameNeeded });
    if (code !== undefined && code.value.length !== 6) faults.push({ control: code, text: words.codeNeeded });
    const fieldValues = filledFields(data, faults);
    if (fieldValues === null) return;
    void withStatus(form, data, async () => {
      const geolocation = requireElement('#with-location', HTMLInputElement).checked
        ? await currentCoordinates(words.locationRefused)
        : undefined;
      const initials = await initialsPlaces(data, initialsBox, pageSizes);
      const image = await look.picture();
      await post(data, 'electronic-signature', {
        typedName,
        userTimeZoneOffset: utcOffsetMinutes(),
        disableNotifications: data.disableNotifications,
        signatureInitialsPositions: initials,
        fieldValues: { ...fieldValues, ...(await uploadedFiles(data)) },
        ...(code === undefined ? {} : { emailCode: code.value }),
        ...(geolocation === undefined ? {} : { evidences: { geolocation } }),
        ...(image === undefined ? {} : { signatureImage: { contentB64: image, contentType: 'image/png' } }),
      }).catch((error: unknown) => {
        if (error instanceof Refused && error.code === 'InvalidAuthenticationCode') {
          if (code !== undefined) code.value = '';
          // The first box is the next one, also where the field has the focus already.
          code?.dispatchEvent(new Event('input'));
          code?.setAttribute('aria-invalid', 'true');
          code?.focus();
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
    else focusElement(code);
    open();
  };
}

/** Starts the field of the code. Returns what sends the first one. */
function startCode(code: HTMLInputElement, form: HTMLElement, data: SigningData): () => void {
  const { words } = data;
  const button = requireElement('#send-code');
  const state = requireElement('#code-state');
  const boxes = [...document.querySelectorAll('.boxes i')];
  let sent = false;

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
      const digits = code.value.normalize('NFKC').replace(/\D/g, '').slice(0, boxes.length);
      if (digits !== code.value) code.value = digits;
      point();
    });
  for (const type of ['focus', 'blur', 'keyup', 'pointerup']) code.addEventListener(type, point);

  /** Counts down on the button, which keeps the focus. */
  const wait = (seconds: number) => {
    setText(button, seconds > 0 ? filled(words.codeAgainIn, { seconds }) : words.codeAgain);
    button.toggleAttribute('data-waiting', seconds > 0);
    if (seconds > 0) delay(1000, () => wait(seconds - 1));
  };
  const send = (resend: boolean) =>
    withStatus(
      form,
      data,
      async () => {
        await post(data, 'email-authentication-code', { resend });
        sent = true;
        wait(CODE_PAUSE_SECONDS);
        showStatus('');
        setText(state, filled(words.codeSent, { email: data.maskedEmail ?? '' }));
      },
      button,
    );
  button.addEventListener('click', () => {
    if (button.hasAttribute('data-waiting')) return;
    code.focus();
    void send(sent);
  });
  return () => {
    if (!sent) void send(false);
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

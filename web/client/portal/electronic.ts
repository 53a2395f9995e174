/** Electronic signature with a typed name, an optional drawing, and a code from an e-mail where required. */

import type { SigningData } from '../../pages/portal/page-data.ts';
import { filled } from '../../pages/portal/texts.ts';
import { findElement, requireElement, utcOffsetMinutes } from '../dom.ts';
import { initialsPlaces, type PageSize, startInitialsPreview } from './initials.ts';
import { filledFields, leadToActions, showStatus, uploadedFiles, withStatus } from './outcome.ts';
import { post, Refused } from './requests.ts';
import { startSignatureLook } from './signature-look.ts';

/** Timeout of the browser's position request, milliseconds. */
const LOCATION_TIMEOUT_MS = 15_000;

/** @param pageSizes resolves when the document is displayed; empty for files without pages */
export function startElectronic(
  form: HTMLElement,
  data: SigningData,
  pageSizes: () => Promise<readonly PageSize[]>,
  signed: () => void,
): void {
  const { words } = data;
  const look = startSignatureLook(data, requireElement('#typed-name', HTMLInputElement));
  const initialsBox = findElement('#electronic-initials', HTMLInputElement);
  startInitialsPreview(data, requireElement('#typed-name', HTMLInputElement), initialsBox);
  const code = findElement('#email-code', HTMLInputElement);
  const sendCode = findElement('#send-code');
  let resend = false;

  const submit = requireElement('button[type="submit"]', HTMLButtonElement, form);
  // One primary button at a time: first the code, then the signature.
  const makePrimary = (button: HTMLElement) => {
    for (const other of [sendCode, submit]) {
      other?.toggleAttribute('data-primary', other === button);
      other?.classList.toggle('main', false);
    }
    leadToActions();
  };
  code?.addEventListener('input', () => makePrimary(submit));
  sendCode?.addEventListener('click', () => {
    const send = async () => {
      await post(data, 'email-authentication-code', { resend });
      resend = true;
      sendCode.textContent = words.codeResend;
      makePrimary(submit);
      showStatus(filled(words.codeSent, { email: data.maskedEmail ?? '' }), 'good');
      code?.focus();
    };
    void withStatus(form, data, send, sendCode);
  });

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const name = requireElement('#typed-name', HTMLInputElement);
    const typedName = name.value.trim();
    const digits = code?.value.replace(/\D/g, '') ?? '';
    for (const control of [name, code]) control?.removeAttribute('aria-invalid');
    const faults = [];
    if (typedName === '') faults.push({ control: name, text: words.nameNeeded });
    if (code !== undefined && digits.length !== 6) faults.push({ control: code, text: words.codeNeeded });
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
        ...(code === undefined ? {} : { emailCode: digits }),
        ...(geolocation === undefined ? {} : { evidences: { geolocation } }),
        ...(image === undefined ? {} : { signatureImage: { contentB64: image, contentType: 'image/png' } }),
      }).catch((error: unknown) => {
        if (error instanceof Refused && error.code === 'InvalidAuthenticationCode') {
          code?.setAttribute('aria-invalid', 'true');
          code?.focus();
        }
        throw error;
      });
      look.clear();
      signed();
    });
  });
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

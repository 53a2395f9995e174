/** Signing with a typed name, a drawing if wanted, and a code from an e-mail where one is asked for. */
import { maybe, minutesFromUtc, navigator, type Part, part } from './dom.ts';
import { startDrawing } from './drawing.ts';
import { initialsOn, type PageSize } from './initials.ts';
import { attempt, lacking, say } from './outcome.ts';
import { filled, type SigningData } from './page-data.ts';
import { post, Refused } from './requests.ts';

/** How long the browser may look for the place, milliseconds. */
const LOCATION_PATIENCE = 15_000;

/** @param pageSizes resolves when the document is shown; empty for files without pages */
export function startElectronic(
  form: Part,
  data: SigningData,
  pageSizes: () => Promise<readonly PageSize[]>,
  signed: () => void,
): void {
  const { words } = data;
  const drawing = startDrawing(data);
  const code = maybe('#email-code');
  const sendCode = maybe('#send-code');
  let resend = false;

  sendCode?.addEventListener('click', () => {
    void attempt(form, data, async () => {
      await post(data, 'email-authentication-code', { resend });
      resend = true;
      sendCode.textContent = words.codeResend;
      say(filled(words.codeSent, { email: data.maskedEmail ?? '' }), 'good');
      code?.focus();
    });
  });

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const name = part('#typed-name');
    const typedName = name.value.trim();
    if (typedName === '') return lacking(name, words.nameNeeded);
    const digits = code?.value.replace(/\D/g, '') ?? '';
    if (code !== undefined && digits.length !== 6) return lacking(code, words.codeNeeded);
    void attempt(form, data, async () => {
      const geolocation = part('#with-location').checked
        ? await whereabouts(words.locationRefused)
        : undefined;
      const initials = await initialsOn(data, maybe('#electronic-initials'), pageSizes);
      const image = drawing.picture();
      await post(data, 'electronic-signature', {
        typedName,
        userTimeZoneOffset: minutesFromUtc(),
        disableNotifications: data.disableNotifications,
        signatureInitialsPositions: initials,
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
      drawing.forget();
      signed();
    });
  });
}

interface Whereabouts {
  readonly latitude: number;
  readonly longitude: number;
  readonly accuracy: number;
}

function whereabouts(refusedWords: string): Promise<Whereabouts> {
  return new Promise((resolve, reject) => {
    const refused = () => reject(new Refused('location', refusedWords));
    if (navigator.geolocation === undefined) return refused();
    navigator.geolocation.getCurrentPosition(
      ({ coords: { latitude, longitude, accuracy } }) => resolve({ latitude, longitude, accuracy }),
      refused,
      { timeout: LOCATION_PATIENCE, maximumAge: 60_000 },
    );
  });
}

/** Signing with a certificate that a provider keeps: what is filled in is sent, and the browser goes to the provider. */
import type { SigningData } from '../../pages/portal/page-data.ts';
import { findElement } from '../dom.ts';
import { initialsPlaces, type PageSize } from './initials.ts';
import { filledFields, uploadedFiles, withStatus } from './outcome.ts';
import { readingMember } from './reading.ts';
import { postToPage } from './requests.ts';

export function startProviders(data: SigningData, pageSizes: () => Promise<readonly PageSize[]>): void {
  const form = findElement('#providers', HTMLFormElement);
  if (form === undefined) return;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const pressed = event.submitter;
    const fieldValues = filledFields(data);
    if (!(pressed instanceof HTMLButtonElement) || fieldValues === null) return;
    void withStatus(
      form,
      data,
      async () => {
        // The box for initials of the form that is shown counts.
        const box = findElement('form:not([hidden]) [data-initials]', HTMLInputElement);
        const initials = await initialsPlaces(data, box, pageSizes);
        const { address } = await postToPage<{ readonly address: string }>(data, 'sign-at-provider', {
          provider: pressed.value,
          culture: document.documentElement.lang,
          fieldValues: { ...fieldValues, ...(await uploadedFiles(data)) },
          disableNotifications: data.disableNotifications,
          ...(initials.length > 0 && { signaturePositions: [...data.marks, ...initials] }),
          ...readingMember(),
        });
        location.assign(address);
      },
      pressed,
    );
  });
}

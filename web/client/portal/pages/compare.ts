/** Check page: says whether a file is one of the document's, by its SHA-256. The file stays in the browser. */
import { findElement, requireElement } from '../../dom.ts';

const part = requireElement('#comparison');
const label = requireElement('label', HTMLLabelElement, part);
const input = requireElement('input', HTMLInputElement, part);

// Browsers have it on secure pages only; the digests beside it can be compared anyway.
const { subtle } = globalThis.crypto as Partial<Crypto>;
label.hidden = subtle === undefined;

input.addEventListener('change', async () => {
  const [file] = input.files ?? [];
  show(undefined);
  if (file === undefined || subtle === undefined) return;
  const digest = new Uint8Array(await subtle.digest('SHA-256', await file.arrayBuffer()));
  // Another one was chosen meanwhile.
  if (input.files?.[0] !== file) return;
  const found = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const { signed, original } = part.dataset;
  show(found === signed ? 'signed' : found === original ? 'original' : 'other');
});

function show(held: 'signed' | 'original' | 'other' | undefined): void {
  for (const name of ['signed', 'original', 'other']) {
    const verdict = findElement(`[data-held=${name}]`, HTMLElement, part);
    if (verdict !== undefined) verdict.hidden = name !== held;
  }
}

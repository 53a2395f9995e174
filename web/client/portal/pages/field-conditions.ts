/**
 * Shows and requires fields of the signing page by the values of others; the service decides it again by the same rules. A
 * script of its own, which pages without conditions do not load.
 */
import { shownFields } from '../../../../machines/portal/conditions.ts';
import type { SigningData } from '../../../pages/portal/page-data.ts';
import { findElement } from '../../dom.ts';
import { pageData } from '../page-data.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

function start({ fields, known: given }: NonNullable<SigningData['conditions']>): void {
  const known = new Map(given);
  const controls = new Map<string, Control>();
  for (const [index, { name }] of fields.entries()) {
    const control = document.querySelector<Control>(`#field-${index}`);
    if (control !== null) controls.set(name, control);
  }
  /** Those that the sender has fixed. */
  const fixed = new Set([...controls.values()].filter(({ disabled }) => disabled));
  const show = () => {
    const shown = shownFields(fields, ({ name }) => comparedValue(controls.get(name)), known);
    for (const [index, { name }] of fields.entries()) {
      const control = controls.get(name);
      const state = shown.get(name);
      const isHidden = state === undefined;
      const place = findElement(`.page [data-field="${index}"]`);
      if (place !== undefined) place.hidden = isHidden;
      if (control === undefined) continue;
      control.hidden = isHidden;
      control.disabled = isHidden || fixed.has(control);
      control.required = state?.isRequired === true;
      for (const label of control.labels ?? []) {
        label.hidden = isHidden;
        findElement('.hint', HTMLElement, label)?.toggleAttribute('hidden', !control.required);
      }
    }
    document.dispatchEvent(new Event('fields-shown'));
  };
  for (const event of ['input', 'marks-shown']) document.addEventListener(event, show);
  show();
}

/** Value of a field; empty = nothing. */
function comparedValue(control: Control | undefined): string {
  if (control instanceof HTMLInputElement) {
    if (control.type === 'checkbox') return String(control.checked);
    if (control.type === 'file') return control.files?.[0]?.name ?? '';
  }
  return control?.value.trim() ?? '';
}

const { conditions } = pageData<SigningData>();
if (conditions !== undefined) start(conditions);

/** Merges the forms of several files (ISO 32000-2, table 224). */
import { nameObject } from '../update/rewrite.ts';
import type { FormCopy } from './form-copy.ts';

/** Returns the value of `AcroForm`; undefined when there are no fields. */
export function formText(forms: readonly FormCopy[]): string | undefined {
  if (forms.length === 0) return undefined;
  const order = forms.flatMap((form) => form.order);
  const resources = resourcesText(forms);
  return (
    `<</Fields[${forms.flatMap(({ fields }) => fields).join(' ')}]` +
    (forms.some(({ needAppearances }) => needAppearances) ? '/NeedAppearances true' : '') +
    (order.length === 0 ? '' : `/CO[${order.join(' ')}]`) +
    `${resources}>>`
  );
}

/** The first file wins for a repeated resource name: these are standard font names, such as `Helv`. */
function resourcesText(forms: readonly FormCopy[]): string {
  const all = new Map<string, Map<string, string>>();
  for (const { resources } of forms) {
    for (const [category, values] of resources) {
      const known = all.get(category) ?? new Map<string, string>();
      for (const [name, value] of values) if (!known.has(name)) known.set(name, value);
      all.set(category, known);
    }
  }
  if (all.size === 0) return '';
  let text = '';
  for (const [category, values] of all) {
    const pairs = [...values].map(([name, value]) => `${nameObject(name)} ${value}`);
    text += `${nameObject(category)}<<${pairs.join('')}>>`;
  }
  return `/DR<<${text}>>`;
}

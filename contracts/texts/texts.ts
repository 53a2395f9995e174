/**
 * Every sentence shown to participants, senders and administrators, by language: pages, mails and drawn versions.
 * English says which there are. `{name}` in a text is the place of a value.
 */
import type { Language } from '../portal/words.ts';
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import es from './es.json' with { type: 'json' };
import fr from './fr.json' with { type: 'json' };
import it from './it.json' with { type: 'json' };
import pt from './pt.json' with { type: 'json' };

export type Texts = typeof en;

export const TEXTS: { readonly [Each in Language]: Texts } = { en, pt, es, de, fr, it };

/** `filled('Page {n}', { n: 2 })` → `Page 2`. A place without a value stays. */
export function filled(text: string, values: { readonly [name: string]: string | number | null }): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}

/** The form that a language has for a number: one form for one, and another for all others. */
export function formFor<Form>(
  language: string,
  forms: { readonly one: Form; readonly other: Form },
  count: number,
): Form {
  return new Intl.PluralRules(language).select(count) === 'one' ? forms.one : forms.other;
}

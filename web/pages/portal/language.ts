/**
 * Language of a page: the one in its address, else the browser's preference, else English.
 *
 * Source: docs/portal-values.md §9, `culture`; RFC 9110 §12.5.4.
 */
import { LANGUAGES, type Language } from '../../../contracts/portal/words.ts';
import { type PageTexts, pageTexts } from './texts.ts';

/** `culture` such as `pt` or `pt-BR`; `acceptLanguage` is the header, empty when absent. */
export function textsFor(culture: string | undefined, acceptLanguage: string): PageTexts {
  return pageTexts(languageOf(culture ?? '') ?? preferred(acceptLanguage) ?? 'en');
}

/** Undefined for a tag of another language. */
export function languageOf(tag: string): Language | undefined {
  const main = /^[a-z]+/.exec(tag.trim().toLowerCase())?.[0];
  return LANGUAGES.find((language) => language === main);
}

function preferred(header: string): Language | undefined {
  let best: { readonly language: Language; readonly weight: number } | undefined;
  for (const range of header.slice(0, 500).split(',')) {
    const [tag = '', ...parameters] = range.split(';');
    const language = languageOf(tag);
    const quality = parameters.map((text) => /^\s*q\s*=\s*([\d.]+)/i.exec(text)?.[1]).find(Boolean);
    const weight = quality === undefined ? 1 : Number(quality);
    if (language !== undefined && weight > 0 && weight > (best?.weight ?? 0)) best = { language, weight };
  }
  return best?.language;
}

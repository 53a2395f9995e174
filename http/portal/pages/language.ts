/**
 * Which language a page is in: what its address asks for, else what the browser prefers, else English.
 *
 * Source: portal-gaps §9, `culture`; RFC 9110 §12.5.4.
 */
import { ENGLISH } from './texts/english.ts';
import { PORTUGUESE } from './texts/portuguese.ts';
import { SPANISH } from './texts/spanish.ts';
import type { Language, PageWords } from './texts/words.ts';

const WORDS: { readonly [Name in Language]: PageWords } = {
  en: ENGLISH,
  pt: PORTUGUESE,
  es: SPANISH,
};

/** `culture` such as `pt` or `pt-BR`; `acceptLanguage` is the header, empty when absent. */
export function wordsFor(culture: string | undefined, acceptLanguage: string): PageWords {
  return WORDS[languageOf(culture ?? '') ?? preferred(acceptLanguage) ?? 'en'];
}

function languageOf(tag: string): Language | undefined {
  const main = /^[a-z]+/.exec(tag.trim().toLowerCase())?.[0];
  return main === 'en' || main === 'pt' || main === 'es' ? main : undefined;
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

/**
 * Signature manifest: pages that show the document, its signers with time and evidence, and how to check them.
 */
import { type DrawnItem, type DrawnPage, isShowable, textWidth, wrapText } from '@sealwright/signatures';
import type { Reading } from '../../../contracts/portal/signing/reading.ts';
import { filled, TEXTS } from '../../../contracts/texts/texts.ts';
import type { RenditionModel, RenditionPerson } from './rendition-model.ts';
import { codeCells } from './rendition-pages.ts';
import { keyText, type RenditionTexts, timeText, utcText } from './rendition-texts.ts';

/** A4, points. */
const WIDTH = 595.28;
const HEIGHT = 841.89;
const MARGIN = 48;
const INNER = WIDTH - 2 * MARGIN;
const BOTTOM = HEIGHT - MARGIN;

const SIZE = 8.5;
const LEADING = 12;
/** Labels stand left of this. */
const LABELS = 142;
const CODE = 92;
const GREY = 0.4;
/** Longer values are cut: a program may call itself anything. */
const MAX_LENGTH = 600;

type Row = readonly [label: string, value: string];

export function manifestPages(model: RenditionModel): readonly DrawnPage[] {
  const words = TEXTS[model.language].rendition;
  const sheet = new ManifestPages();
  head(sheet, model, words);
  sheet.heading(words.people);
  for (const person of model.people) block(sheet, person, words);
  history(sheet, model, words);
  if (!model.people.every(isReadable) || !isShowable(model.document.name)) {
    for (const line of wrapText(words.boxes, SIZE, INNER)) sheet.text(line, SIZE, LEADING, GREY);
  }
  const pages = sheet.pages;
  return pages.map((items, index) => ({
    width: WIDTH,
    height: HEIGHT,
    items: [...items, ...foot(model, words, index + 1, pages.length)],
  }));
}

function history(
  sheet: ManifestPages,
  { trail, trailOmitted }: Pick<RenditionModel, 'trail' | 'trailOmitted'>,
  words: RenditionTexts,
): void {
  if (trail.length === 0) return;
  sheet.heading(words.history);
  sheet.rows(
    trail.map(({ type, at, by, ipAddress, userAgent }): Row => {
      const origin = [ipAddress, userAgent].filter((text) => text !== null).join(', ');
      const who = [by, origin === '' ? null : `(${origin})`].filter((text) => text !== null).join(' ');
      return [utcText(at), [words.events[type], who].filter(Boolean).join(': ').slice(0, MAX_LENGTH)];
    }),
    INNER,
  );
  if (trailOmitted > 0) sheet.text(filled(words.omitted, { count: trailOmitted }), SIZE, LEADING, GREY);
  sheet.space(8);
}

/** Nothing that is shown of a person is boxes. */
function isReadable({ name, title, evidence }: RenditionPerson): boolean {
  return [name, title ?? '', evidence?.typedName ?? ''].every(isShowable);
}

function head(sheet: ManifestPages, { document, skipped = [] }: RenditionModel, words: RenditionTexts): void {
  const { checkUrl, key, parts, sha256 } = document;
  const left = WIDTH - MARGIN - CODE;
  sheet.put({ shape: 'cells', x: left, y: MARGIN, size: CODE, cells: codeCells(checkUrl) });
  sheet.put({ shape: 'link', x: left, y: MARGIN, width: CODE, height: CODE, uri: checkUrl });
  sheet.text(words.manifest, 18, 24);
  sheet.space(6);
  const narrow = INNER - CODE - 12;
  sheet.rows(
    [
      [words.document, document.name],
      [words.key, keyText(key)],
      [words.status, words.states[document.state]],
      ...(document.reason === null ? [] : [[words.reason, document.reason] as const]),
      [words.organization, document.organization],
      [words.createdBy, document.createdBy],
      [words.created, utcText(document.creationDate)],
      ...skipped.map((who) => [words.skipped, who] as const),
    ],
    narrow,
  );
  sheet.below(MARGIN + CODE + 10);
  sheet.rows(
    [
      [words.file, document.filename],
      ...parts.flatMap((part): readonly Row[] => [
        [words.files, `${part.name} (SHA-256 ${part.sha256})`],
        ...(part.signatures === 0
          ? []
          : [['', filled(words.signedOriginal, { count: part.signatures })] as const]),
      ]),
      [words.original, sha256],
    ],
    INNER,
  );
  sheet.space(6);
  for (const line of wrapText(words.check, SIZE, INNER)) sheet.text(line, SIZE, LEADING, GREY);
  sheet.link(checkUrl);
  sheet.space(10);
}

function block(sheet: ManifestPages, person: RenditionPerson, words: RenditionTexts): void {
  const rows = rowsOf(person, words);
  sheet.keepTogether(22 + sheet.heightOf(rows, INNER));
  sheet.rule();
  sheet.text(`${person.name} \u2013 ${words.kinds[person.kind]}`, 10.5, 16);
  sheet.rows(rows, INNER);
  sheet.space(8);
}

function rowsOf(person: RenditionPerson, words: RenditionTexts): readonly Row[] {
  const { evidence, certificate, kind } = person;
  const confirmed = [
    evidence?.authenticationTypes.includes('Email') === true
      ? `${filled(words.byCode, { email: evidence.authenticatedEmail ?? '' })}${typeof evidence.emailConfirmedAt === 'number' ? ` (${utcText(evidence.emailConfirmedAt)})` : ''}`
      : '',
    ...['SMS', 'Whatsapp'].map((type) =>
      evidence?.authenticationTypes.includes(type) === true
        ? filled(words.byMessage, {
            phone: evidence.authenticatedPhone ?? '',
            channel: type === 'SMS' ? 'SMS' : 'WhatsApp',
          })
        : '',
    ),
    typeof evidence?.authenticatorAppSince === 'number'
      ? filled(words.byApp, { time: utcText(evidence.authenticatorAppSince) })
      : '',
    evidence?.passkey
      ? filled(words.byPasskey, { time: utcText(evidence.passkey.since), email: evidence.passkey.email })
      : '',
    evidence?.authenticationTypes.includes('Application') === true
      ? filled(words.byApplication, { name: evidence.applicationName ?? '' })
      : '',
    evidence?.signingProvider ? filled(words.byProvider, evidence.signingProvider) : '',
    evidence?.hostName ? filled(words.inPerson, { name: evidence.hostName }) : '',
  ].filter((text) => text !== '');
  const rows: readonly (readonly [label: string, value: string | null | undefined])[] = [
    [words.letters, isShowable(person.name) ? null : codePoints(person.name)],
    [words.identifier, person.identifier],
    [words.email, person.email],
    [words.capacity, person.title],
    [words.time, timeText(person.at, person.timeZoneOffset)],
    [words.typedName, evidence?.typedName],
    [words.deputyOf, deputyText(evidence?.deputyOf)],
    [words.passedOn, evidence?.passedOn?.join('; ')],
    [words.confirmation, confirmed.join('; ')],
    [words.hiddenFields, person.hiddenFields?.join('; ')],
    [words.reading, readingText(evidence?.reading, words)],
    [words.address, evidence?.ipAddress],
    [words.place, evidence?.geolocation],
    [words.agent, evidence?.userAgent],
    [words.evidence, evidence?.sha256],
    [kind === 'electronic' ? words.sealedBy : words.certificate, certificate?.subject],
    [words.issuer, certificate?.issuer],
    [words.thumbprint, certificate?.thumbprint],
    [words.timestamp, certificate?.timestamps.map(utcText).join(', ')],
  ];
  return rows.flatMap(([label, value]): Row[] =>
    value === null || value === undefined || value === '' ? [] : [[label, value.slice(0, MAX_LENGTH)]],
  );
}

function deputyText(of: NonNullable<RenditionPerson['evidence']>['deputyOf']): string {
  return of ? `${of.person} (${utcText(of.from)} \u2013 ${utcText(of.until)}): ${of.reason}` : '';
}

/** As the browser said it. */
function readingText(reading: Reading | null | undefined, words: RenditionTexts): string {
  if (!reading) return '';
  const { pages, pageCount, isDownloaded, isDeclared } = reading;
  return [
    pages === '' ? words.notShown : filled(words.shownPages, { pages, count: pageCount }),
    isDownloaded ? words.downloaded : '',
    isDeclared ? words.declaredRead : '',
  ]
    .filter((text) => text !== '')
    .join('; ');
}

/** `王` → `U+738B`: exact in any font, where a likeness in other letters would be a guess. */
function codePoints(text: string): string {
  return [...text]
    .map((letter) => `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
    .join(' ');
}

function foot(
  { document }: RenditionModel,
  words: RenditionTexts,
  number: number,
  count: number,
): readonly DrawnItem[] {
  const page = filled(words.page, { number, count });
  const y = HEIGHT - 24;
  return [
    { shape: 'text', x: MARGIN, y, size: 7, text: keyText(document.key), grey: GREY },
    { shape: 'text', x: WIDTH - MARGIN - textWidth(page, 7), y, size: 7, text: page, grey: GREY },
  ];
}

/** Lines from the top down, and a new page where one is full. */
class ManifestPages {
  readonly pages: DrawnItem[][] = [[]];
  #y = MARGIN;

  put(item: DrawnItem): void {
    this.pages.at(-1)?.push(item);
  }

  text(text: string, size: number, leading: number, grey = 0): void {
    this.#room(leading);
    const [line = ''] = wrapText(text, size, INNER);
    this.put({ shape: 'text', x: MARGIN, y: this.#y + size, size, text: line, grey });
    this.#y += leading;
  }

  heading(text: string): void {
    this.keepTogether(60);
    this.text(text, 13, 20);
  }

  link(uri: string): void {
    this.#room(LEADING);
    const width = Math.min(INNER, textWidth(uri, SIZE));
    this.put({ shape: 'text', x: MARGIN, y: this.#y + SIZE, size: SIZE, text: uri });
    this.put({ shape: 'link', x: MARGIN, y: this.#y, width, height: LEADING, uri });
    this.#y += LEADING;
  }

  rule(): void {
    this.put({ shape: 'box', x: MARGIN, y: this.#y - 2, width: INNER, height: 0.5, fill: 0.75 });
    this.#y += 4;
  }

  space(points: number): void {
    this.#y += points;
  }

  /** Goes on no higher than this. */
  below(y: number): void {
    this.#y = Math.max(this.#y, y);
  }

  keepTogether(height: number): void {
    if (height <= BOTTOM - MARGIN) this.#room(height);
  }

  rows(rows: readonly Row[], width: number): void {
    for (const [label, value] of rows) {
      for (const [index, line] of wrapText(value, SIZE, width - LABELS).entries()) {
        this.#room(LEADING);
        const y = this.#y + SIZE;
        if (index === 0) this.put({ shape: 'text', x: MARGIN, y, size: SIZE, text: label, grey: GREY });
        this.put({ shape: 'text', x: MARGIN + LABELS, y, size: SIZE, text: line });
        this.#y += LEADING;
      }
    }
  }

  heightOf(rows: readonly Row[], width: number): number {
    return rows.reduce((sum, [, value]) => sum + LEADING * wrapText(value, SIZE, width - LABELS).length, 0);
  }

  #room(height: number): void {
    if (this.#y + height <= BOTTOM) return;
    this.pages.push([]);
    this.#y = MARGIN;
  }
}

/**
 * The check page: the validation record of a document, for holders of its key. It is public, so identifiers and
 * addresses are partly masked; authorized callers get them from the API.
 *
 * Source: docs/portal-values.md §17.
 */

import type {
  SignatureView,
  TimestampView,
  ValidationItemView,
  ValidationRecord,
  ValidationResultsView,
} from '../../../actors/portal/api.ts';
import { Html, html, lines } from '../../../contracts/texts/html.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import { portalPage } from './page-frame.ts';
import type { PageTexts } from './texts.ts';

/** Result for the entered key; `empty`: no key was entered. */
export type ValidationPageResult =
  | {
      readonly found: 'record';
      readonly record: ValidationRecord;
      readonly branding?: PageBranding | undefined;
    }
  | { readonly found: 'empty' | 'unknown' | 'unsigned' | 'deleted' | 'busy' | 'broken' };

/** Maximum depth of nested checks that are shown. */
const DEPTH = 4;

/** @param key as entered; empty for the form alone */
export function validationPage(finding: ValidationPageResult, key: string, words: PageTexts): string {
  const { check } = words;
  const title = finding.found === 'record' ? finding.record.name : check.title;
  const invalid = finding.found === 'unknown' ? html` aria-invalid="true" aria-describedby="finding"` : '';
  const form = html`<form method="get" action="/check" role="search">
<label for="key">${check.key}
<input id="key" name="key" value="${key}" required maxlength="64" autocomplete="off" autocapitalize="characters" spellcheck="false"${invalid}></label>
<button type="submit" class="main">${check.button}</button>
</form>`;
  const main =
    finding.found === 'record'
      ? html`<h1>${title}</h1>\n${recordPart(finding.record, words)}\n${form}`
      : html`<h1>${title}</h1>\n<p>${check.intro}</p>\n${form}\n${findingPart(finding.found, words)}`;
  return portalPage({
    words,
    title,
    kind: 'checking',
    branding: finding.found === 'record' ? finding.branding : undefined,
    main: html`<main id="main" class="check">\n${main}\n</main>`,
  });
}

function findingPart(found: Exclude<ValidationPageResult['found'], 'record'>, { check }: PageTexts): Html {
  if (found === 'empty') return html``;
  return html`<p class="trouble" role="alert" id="finding">${check[found]}</p>`;
}

function recordPart(record: ValidationRecord, words: PageTexts): Html {
  const { check } = words;
  const allGood = record.signers.every(({ validationResults }) => validationResults.isValid);
  const facts = factList([
    [check.status, check.statuses[record.status]],
    [check.file, record.filename],
    [check.created, moment(record.creationDate, words)],
    [check.createdBy, record.createdBy.name],
    [check.changed, moment(record.updateDate, words)],
  ]);
  return html`<p class="verdict ${allGood ? 'good' : 'bad'}" role="status">${allGood ? check.allGood : check.someBad}</p>
${facts}
<h2>${check.signatures}</h2>
${lines(record.signers.map((signature) => signaturePart(signature, words)))}`;
}

function signaturePart(signature: SignatureView, words: PageTexts): Html {
  const { check } = words;
  const { validationResults: results } = signature;
  const kind = signature.isTimestamp
    ? check.timestamp
    : signature.isElectronic
      ? check.electronic
      : check.certificate;
  const verdict = html`<span class="${results.isValid ? 'good' : 'bad'}">${results.isValid ? check.good : check.bad}</span>`;
  const facts = factList([
    [kind, verdict],
    [check.signedAt, moment(signature.signingTime, words)],
    [check.email, hidden(signature.emailAddress, hideEmail)],
    [check.identifier, hidden(signature.identifier, hideIdentifier)],
    [check.company, signature.companyName ?? ''],
    [check.issuer, signature.issuerName],
    [check.validity, period(signature.validityStart, signature.validityEnd, words)],
    [check.thumbprint, html`<code>${signature.certificateThumbprint}</code>`],
    [
      check.timestamps,
      timestampList([...signature.signatureTimestamps, ...signature.archiveTimestamps], words),
    ],
  ]);
  return html`<section class="signature">
<h3>${signature.subjectName}</h3>
${facts}
<details><summary>${check.checks}</summary>
${resultLists(results, words, DEPTH)}
</details>
</section>`;
}

function resultLists(results: ValidationResultsView, words: PageTexts, depth: number): Html {
  const { check } = words;
  const groups: readonly (readonly [string, readonly ValidationItemView[]])[] = [
    [check.errors, results.errors],
    [check.warnings, results.warnings],
    [check.passed, results.passedChecks],
  ];
  const rendered = groups
    .filter(([, items]) => items.length > 0)
    .map(([title, items]) => {
      const entries = items.map(({ message, detail, innerValidationResults: inner }) => {
        const more = detail === null ? '' : html`<br><span class="detail">${detail}</span>`;
        const below = inner === null || depth === 0 ? '' : resultLists(inner, words, depth - 1);
        return html`<li>${message}${more}${below}</li>`;
      });
      return html`<p><strong>${title}</strong></p>\n<ul class="checks">\n${lines(entries)}\n</ul>`;
    });
  return lines(rendered);
}

/** Name and value; pairs without content are omitted. */
function factList(facts: readonly (readonly [name: string, value: Html | string])[]): Html {
  const rows = facts
    .filter(([, value]) => value !== '' && !(value instanceof Html && value.text === ''))
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`);
  return html`<dl class="facts">\n${lines(rows)}\n</dl>`;
}

function timestampList(all: readonly TimestampView[], words: PageTexts): Html {
  return html`${all.map(
    ({ displayName, genTime }, index) =>
      html`${index === 0 ? '' : html`<br>`}${displayName}: ${moment(genTime, words)}`,
  )}`;
}

function period(from: Millis | null, to: Millis | null, words: PageTexts): Html {
  return from === null || to === null ? html`` : html`${moment(from, words)} &ndash; ${moment(to, words)}`;
}

/** In UTC with the zone named, because the reader's zone is unknown. */
function moment(at: Millis | null, { language, check }: PageTexts): Html {
  if (at === null) return html`${check.unknownTime}`;
  const text = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'long',
    timeZone: 'UTC',
  }).format(at);
  return html`<time datetime="${new Date(at).toISOString()}">${text}</time>`;
}

function hidden(text: string | null, hide: (text: string) => string): string {
  return text === null || text === '' ? '' : hide(text);
}

/** `maria.silva@example.com` → `m***@example.com`. */
export function hideEmail(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 1 ? '***' : `${address.slice(0, 1)}***${address.slice(at)}`;
}

/** `12345678909` → `***678***`: recognisable, but not usable. */
export function hideIdentifier(identifier: string): string {
  if (identifier.length < 7) return '***';
  const middle = Math.floor(identifier.length / 2);
  return `***${identifier.slice(middle - 1, middle + 2)}***`;
}

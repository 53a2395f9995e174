/**
 * The check page: the validation record of a document for people who hold its key. Anybody may, so identifiers and
 * addresses are partly hidden; who is entitled to them gets them from the API.
 *
 * Source: portal-gaps §17.
 */
import type {
  SignatureView,
  TimestampView,
  ValidationItemView,
  ValidationRecord,
  ValidationResultsView,
} from '../../../actors/portal/api.ts';
import type { Millis } from '../../../machines/ids.ts';
import { escapeHtml } from '../../html.ts';
import { portalPage } from './frame.ts';
import type { PageWords } from './texts/words.ts';

/** What is known of the key that was typed; `empty`: none was. */
export type CheckFinding =
  | { readonly found: 'record'; readonly record: ValidationRecord }
  | { readonly found: 'empty' | 'unknown' | 'unsigned' | 'deleted' | 'busy' | 'broken' };

/** Levels of checks inside checks that are shown. */
const DEPTH = 4;

/** @param key as it was typed; empty for the bare form */
export function checkPage(finding: CheckFinding, key: string, words: PageWords): string {
  const { check } = words;
  const title = finding.found === 'record' ? finding.record.name : check.title;
  const invalid = finding.found === 'unknown' ? ' aria-invalid="true" aria-describedby="finding"' : '';
  const form = `<form method="get" action="/check" role="search">
<label for="key">${escapeHtml(check.key)}
<input id="key" name="key" value="${escapeHtml(key)}" required maxlength="64" autocomplete="off" autocapitalize="characters" spellcheck="false"${invalid}></label>
<button type="submit" class="main">${escapeHtml(check.button)}</button>
</form>`;
  const main =
    finding.found === 'record'
      ? `<h1>${escapeHtml(title)}</h1>\n${recordPart(finding.record, words)}\n${form}`
      : `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(check.intro)}</p>\n${form}\n${findingPart(finding.found, words)}`;
  return portalPage({
    words,
    title,
    kind: 'checking',
    main: `<main id="main" class="check">\n${main}\n</main>`,
  });
}

function findingPart(found: Exclude<CheckFinding['found'], 'record'>, { check }: PageWords): string {
  if (found === 'empty') return '';
  return `<p class="trouble" role="alert" id="finding">${escapeHtml(check[found])}</p>`;
}

function recordPart(record: ValidationRecord, words: PageWords): string {
  const { check } = words;
  const allGood = record.signers.every(({ validationResults }) => validationResults.isValid);
  const facts = factList([
    [check.status, escapeHtml(check.statuses[record.status])],
    [check.file, escapeHtml(record.filename)],
    [check.created, moment(record.creationDate, words)],
    [check.createdBy, escapeHtml(record.createdBy.name)],
    [check.changed, moment(record.updateDate, words)],
  ]);
  return `<p class="verdict ${allGood ? 'good' : 'bad'}" role="status">${escapeHtml(allGood ? check.allGood : check.someBad)}</p>
${facts}
<h2>${escapeHtml(check.signatures)}</h2>
${record.signers.map((signature) => signaturePart(signature, words)).join('\n')}`;
}

function signaturePart(signature: SignatureView, words: PageWords): string {
  const { check } = words;
  const { validationResults: results } = signature;
  const kind = signature.isTimestamp
    ? check.timestamp
    : signature.isElectronic
      ? check.electronic
      : check.certificate;
  const verdict = `<span class="${results.isValid ? 'good' : 'bad'}">${escapeHtml(results.isValid ? check.good : check.bad)}</span>`;
  const facts = factList([
    [kind, verdict],
    [check.signedAt, moment(signature.signingTime, words)],
    [check.email, hidden(signature.emailAddress, hideEmail)],
    [check.identifier, hidden(signature.identifier, hideIdentifier)],
    [check.company, escapeHtml(signature.companyName ?? '')],
    [check.issuer, escapeHtml(signature.issuerName)],
    [check.validity, period(signature.validityStart, signature.validityEnd, words)],
    [check.thumbprint, `<code>${escapeHtml(signature.certificateThumbprint)}</code>`],
    [check.timestamps, stamps([...signature.signatureTimestamps, ...signature.archiveTimestamps], words)],
  ]);
  return `<section class="signature">
<h3>${escapeHtml(signature.subjectName)}</h3>
${facts}
<details><summary>${escapeHtml(check.checks)}</summary>
${resultLists(results, words, DEPTH)}
</details>
</section>`;
}

function resultLists(results: ValidationResultsView, words: PageWords, depth: number): string {
  const { check } = words;
  const groups: readonly (readonly [string, readonly ValidationItemView[]])[] = [
    [check.errors, results.errors],
    [check.warnings, results.warnings],
    [check.passed, results.passedChecks],
  ];
  return groups
    .filter(([, items]) => items.length > 0)
    .map(([title, items]) => {
      const entries = items.map(({ message, detail, innerValidationResults: inner }) => {
        const more = detail === null ? '' : `<br><span class="detail">${escapeHtml(detail)}</span>`;
        const below = inner === null || depth === 0 ? '' : resultLists(inner, words, depth - 1);
        return `<li>${escapeHtml(message)}${more}${below}</li>`;
      });
      return `<p><strong>${escapeHtml(title)}</strong></p>\n<ul class="checks">\n${entries.join('\n')}\n</ul>`;
    })
    .join('\n');
}

/** Name and HTML; pairs without content are left out. */
function factList(facts: readonly (readonly [name: string, html: string])[]): string {
  const rows = facts
    .filter(([, html]) => html !== '')
    .map(([name, html]) => `<dt>${escapeHtml(name)}</dt><dd>${html}</dd>`);
  return `<dl class="facts">\n${rows.join('\n')}\n</dl>`;
}

function stamps(all: readonly TimestampView[], words: PageWords): string {
  return all
    .map(({ displayName, genTime }) => `${escapeHtml(displayName)}: ${moment(genTime, words)}`)
    .join('<br>');
}

function period(from: Millis | null, to: Millis | null, words: PageWords): string {
  return from === null || to === null ? '' : `${moment(from, words)} &ndash; ${moment(to, words)}`;
}

/** In UTC, and saying so: the reader may be anywhere. */
function moment(at: Millis | null, { language, check }: PageWords): string {
  if (at === null) return escapeHtml(check.unknownTime);
  const text = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'long',
    timeZone: 'UTC',
  }).format(at);
  return `<time datetime="${new Date(at).toISOString()}">${escapeHtml(text)}</time>`;
}

function hidden(text: string | null, hide: (text: string) => string): string {
  return text === null || text === '' ? '' : escapeHtml(hide(text));
}

/** `maria.silva@example.com` → `m***@example.com`. */
export function hideEmail(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 1 ? '***' : `${address.slice(0, 1)}***${address.slice(at)}`;
}

/** `12345678909` → `***678***`: enough to recognise, too little to use. */
export function hideIdentifier(identifier: string): string {
  if (identifier.length < 7) return '***';
  const middle = Math.floor(identifier.length / 2);
  return `***${identifier.slice(middle - 1, middle + 2)}***`;
}

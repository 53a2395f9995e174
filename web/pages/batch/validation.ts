/** HTML of a validation report: verdict, signer, time, coverage, and each finding. */
import type { ValidationReport } from '../../../actors/batch/api/service.ts';
import { type Html, html, lines } from '../../../contracts/texts/html.ts';

type SignatureRecord = ValidationReport['signatures'][number];
type ValidationResults = ValidationReport['results'];

export const VALIDATION_FORM = html`<h1>Validate</h1>
<form method="post" action="/api/validate" enctype="multipart/form-data" class="filters">
<label>Signed file <input name="file" type="file" required></label>
<label>Signed content, for a detached signature <input name="content" type="file" multiple></label>
<label>Password, for an encrypted PDF <input name="password" type="password" maxlength="127" autocomplete="off"></label>
<button type="submit">Validate</button>
</form>
<p>The file is checked and then removed. Programs send it to <code>POST /api/validate</code> and get the report of ETSI TS 119 102-2 as XML, or with <code>Accept: application/json</code> the same checks as JSON.</p>`;

const VERDICTS: { readonly [indication in SignatureRecord['indication']]: string } = {
  'TOTAL-PASSED': 'Valid',
  INDETERMINATE: 'Undecided',
  'TOTAL-FAILED': 'Not valid',
};

/** Renders the whole report. */
export function validationPage(fileName: string, report: ValidationReport): Html {
  const { indication, format, signatures, results } = report;
  return html`<p><a href="/validate">Validate another file</a></p>
<h1>${fileName}</h1>
<p role="status"><strong>${VERDICTS[indication]}</strong> (${indication}), ${format}, ${signatures.length} signature${signatures.length === 1 ? '' : 's'}</p>
${findings(results, 'h2')}
${lines(signatures.map((record, index) => signatureSection(record, `signature-${index + 1}`)))}`;
}

function signatureSection(record: SignatureRecord, id: string): Html {
  const { name, indication, subIndication, certificate, signingTime, bestTime, level, scope } = record;
  const facts: readonly (readonly [string, string | undefined])[] = [
    [
      'Verdict',
      `${VERDICTS[indication]} (${indication}${subIndication === undefined ? '' : `, ${subIndication}`})`,
    ],
    ['Kind', record.isTimestamp ? 'document time-stamp' : `signature, level ${level ?? 'below B'}`],
    ['Signer', certificate?.subjectName],
    ['Issued by', certificate?.issuerName],
    ['Claimed signing time', signingTime === undefined ? undefined : iso(signingTime)],
    ['Existed at the latest', iso(bestTime)],
    ['Covers', scope.description],
    ['Reason', record.reason],
    ['Location', record.location],
    ...record.timestamps.map((stamp): readonly [string, string] => [
      `Time-stamp (${stamp.kind})`,
      `${stamp.genTime === undefined ? 'time unknown' : iso(stamp.genTime)}, ${stamp.displayName}, ${VERDICTS[stamp.indication]}`,
    ]),
    ...record.changes.map((change): readonly [string, string] => [
      `Change in revision ${change.revision}`,
      `${change.description} (${change.permitted ? 'permitted' : 'not permitted'})`,
    ]),
  ];
  const rows = facts.flatMap(([label, value]) =>
    value === undefined ? [] : [html`<dt>${label}</dt><dd>${value}</dd>`],
  );
  const inner = record.counterSignatures.map((one, index) => signatureSection(one, `${id}-${index + 1}`));
  return html`<section class="panel" aria-labelledby="${id}"><h2 id="${id}">${name}</h2>
<dl class="facts">${rows}</dl>
${findings(record.results, 'h3')}
${lines(inner)}</section>`;
}

/** @param heading level below the title of what was checked */
function findings({ errors, warnings, passedChecks }: ValidationResults, heading: 'h2' | 'h3'): Html {
  const list = (title: string, items: ValidationResults['errors']) =>
    items.length === 0
      ? ''
      : html`<${heading}>${title}</${heading}><ul>${items.map(({ message, detail }) => html`<li>${message}${detail === undefined ? '' : html` <small>${detail}</small>`}</li>`)}</ul>`;
  const passed =
    passedChecks.length === 0
      ? ''
      : html`<details><summary>${passedChecks.length} checks passed</summary>${list('Passed', passedChecks)}</details>`;
  // A trusted chain holds its own warnings, such as a missing answer about revocation.
  const within = passedChecks.flatMap(({ inner }) => inner?.warnings ?? []);
  return html`${list('Errors', errors)}${list('Warnings', [...warnings, ...within])}${passed}`;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

/**
 * HTML of the operator pages before their scripts fill in data from the API. They contain no state of the service, so
 * pages and programs receive the same replies.
 *
 * Source: docs/batch-values.md §10.
 */
import { type Html, html, lines } from '../../../contracts/texts/html.ts';

/** Program data that `/system` shows in addition to the API. */
export type SystemInfo = readonly (readonly [name: string, value: string])[];

const JOB_COLUMNS = ['File', 'Status', 'Format', 'Profile', 'From', 'Created'];

export function tableOf(id: string, caption: string, columns: readonly string[]): Html {
  const heads = columns.map((name) => html`<th scope="col">${name}</th>`);
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${caption}"><table>
<thead><tr>${heads}</tr></thead>
<tbody id="${id}"></tbody>
</table></div>`;
}

const STATISTICS_TILES = [
  ['queued', 'Queued'],
  ['slots', 'In flight'],
  ['awaiting', 'Awaiting a remote signer'],
  ['pipeline', 'Pipeline'],
  ['completed', 'Completed, 24 h'],
  ['failed', 'Failed, 24 h'],
  ['canceled', 'Canceled, 24 h'],
  ['encrypted', 'Encrypted, 24 h'],
  ['rate', 'Throughput now'],
];

export const OVERVIEW = html`<h1>Overview</h1>
<ul class="cards">
${lines(STATISTICS_TILES.map(([id, name]) => html`<li class="card"><span class="name">${name}</span><div class="figure" id="figure-${id}">-</div></li>`))}
</ul>
<section class="panel" aria-labelledby="throughput"><h2 id="throughput">Jobs that ended in 24 hours</h2><div id="chart"></div></section>
<h2>Last jobs</h2>
${tableOf('rows', 'Last jobs', JOB_COLUMNS)}`;

/** On narrow screens it shows and hides the filters that follow, also without a script. */
export const FILTERS_FOLD = html`<details class="fold" id="fold"><summary>Filters</summary></details>`;

/** A checkbox for each value; several may be selected. */
function boxes(name: string, legend: string, values: readonly string[]): Html {
  const inputs = values.map(
    (value) => html`<label><input type="checkbox" name="${name}" value="${value}"> ${value}</label>`,
  );
  return html`<fieldset><legend>${legend}</legend>${inputs}</fieldset>`;
}

export function jobListPage(states: readonly string[], formats: readonly string[]): Html {
  return html`<h1>Jobs</h1>
${FILTERS_FOLD}
<form id="filters" class="filters">
${boxes('status', 'Status', states)}
${boxes('format', 'Format', formats)}
<label>Profile <input name="profile" autocomplete="off"></label>
<label>File name contains, or id <input name="fileName" type="search" autocomplete="off"></label>
<label>Created from <input name="createdFrom" type="date"></label>
<label>to <input name="createdTo" type="date"></label>
<button type="submit">Filter</button>
<button type="reset">Clear</button>
</form>
<p class="row"><button type="button" id="retry-all">Retry all failed jobs of this list</button>
<button type="button" id="cancel-all">Cancel all waiting jobs of this list</button>
<a href="/failures">Failures by cause</a></p>
<p id="total" role="status"></p>
${tableOf('rows', 'Jobs', JOB_COLUMNS)}
<p class="row"><button type="button" id="previous" disabled>Previous</button><button type="button" id="next" disabled>Next</button></p>`;
}

/** `id` as in the path; it need not be an existing job. */
export function jobPage(id: string): Html {
  const output = `/api/jobs/${encodeURIComponent(id)}/output`;
  return html`<p><a href="/jobs">All jobs</a></p>
<h1>Job</h1>
<p class="row"><span id="status"></span>
<button type="button" id="retry" hidden>Retry</button>
<button type="button" id="cancel" hidden>Cancel</button>
<a class="button" id="download" href="${output}" download hidden>Download</a></p>
<section class="panel" aria-label="Job"><dl class="facts" id="facts"></dl></section>
<section class="panel" aria-labelledby="profile-title"><h2 id="profile-title">Profile</h2><dl class="facts" id="profile"></dl></section>
<section class="panel" aria-labelledby="history"><h2 id="history">History</h2><ol class="timeline" id="timeline"></ol></section>`;
}

export const INPUT = html`<h1>Input folders</h1>
<p><button type="button" id="rescan-all">Rescan all</button></p>
<div id="folders"></div>`;

export function mailListPage(states: readonly string[]): Html {
  const options = states.map((state) => html`<option>${state}</option>`);
  return html`<h1>E-mails</h1>
<form id="filters" class="filters">
<label>Search <input name="search" type="search" maxlength="200" autocomplete="off" placeholder="Recipient or subject"></label>
<label>Status <select name="status"><option value="">all</option>${options}</select></label>
</form>
<p id="total" role="status"></p>
${tableOf('rows', 'E-mails', ['Subject', 'To', 'Status', 'Tries', 'Last error', 'Created', 'Action'])}
<p class="row"><button type="button" id="previous" disabled>Previous</button><button type="button" id="next" disabled>Next</button></p>`;
}

export function systemPage(facts: SystemInfo): Html {
  const rows = facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`);
  return html`<h1>System</h1>
<section class="panel" aria-labelledby="pipeline-title"><h2 id="pipeline-title">Pipeline</h2>
<dl class="facts" id="pipeline"></dl>
<p class="row"><button type="button" id="toggle" hidden>Pause</button> <button type="button" id="cleanup">Cleanup</button></p></section>
<section class="panel" aria-labelledby="program-title"><h2 id="program-title">Program</h2><dl class="facts">${rows}</dl></section>
<h2>Readiness</h2>
${tableOf('checks', 'Readiness', ['Check', 'State', 'Detail'])}
<h2>Profiles</h2>
${tableOf('profiles', 'Profiles', ['Name', 'Format', 'Method', 'Verify', 'Encrypt', 'Certificate', 'Valid until'])}`;
}

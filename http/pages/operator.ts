/**
 * The operator pages: what stands on each before its script has filled it in from the API. Nothing of the service's
 * state is in them, so that pages and programs see the same answers.
 *
 * Source: batch-gaps §10, "Operator pages".
 */
import { escapeHtml } from '../html.ts';

/** What `/system` says besides the API. */
export type SystemFacts = readonly (readonly [name: string, value: string])[];

const JOB_COLUMNS = ['File', 'Status', 'Format', 'Profile', 'From', 'Created'];

function tableOf(id: string, caption: string, columns: readonly string[]): string {
  const heads = columns.map((name) => `<th scope="col">${name}</th>`).join('');
  return `<div class="scroll" tabindex="0" role="group" aria-label="${caption}"><table>
<thead><tr>${heads}</tr></thead>
<tbody id="${id}"></tbody>
</table></div>`;
}

const FIGURES = [
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

export const OVERVIEW = `<h1>Overview</h1>
<ul class="cards">
${FIGURES.map(([id, name]) => `<li class="card"><span class="name">${name}</span><div class="figure" id="figure-${id}">-</div></li>`).join('\n')}
</ul>
<section class="panel" aria-labelledby="throughput"><h2 id="throughput">Completed in 24 hours</h2><div id="chart"></div></section>
<h2>Last jobs</h2>
${tableOf('rows', 'Last jobs', JOB_COLUMNS)}`;

/** A box for each value; several may be ticked. */
function boxes(name: string, legend: string, values: readonly string[]): string {
  const inputs = values.map(
    (value) => `<label><input type="checkbox" name="${name}" value="${value}"> ${value}</label>`,
  );
  return `<fieldset><legend>${legend}</legend>${inputs.join('')}</fieldset>`;
}

export function jobListPage(states: readonly string[], formats: readonly string[]): string {
  return `<h1>Jobs</h1>
<form id="filters" class="filters">
${boxes('status', 'Status', states)}
${boxes('format', 'Format', formats)}
<label>Profile <input name="profile" autocomplete="off"></label>
<label>File name contains <input name="fileName" type="search" autocomplete="off"></label>
<label>Created from <input name="createdFrom" type="date"></label>
<label>to <input name="createdTo" type="date"></label>
<button type="submit">Filter</button>
<button type="reset">Clear</button>
</form>
<p id="total" role="status"></p>
${tableOf('rows', 'Jobs', JOB_COLUMNS)}
<p class="row"><button type="button" id="previous" disabled>Previous</button><button type="button" id="next" disabled>Next</button></p>`;
}

/** `id` as it stands in the path; it need not be that of a job. */
export function jobPage(id: string): string {
  const output = `/api/jobs/${encodeURIComponent(id)}/output`;
  return `<p><a href="/jobs">All jobs</a></p>
<h1>Job</h1>
<p class="row"><span id="status"></span>
<button type="button" id="retry" hidden>Retry</button>
<button type="button" id="cancel" hidden>Cancel</button>
<a class="button" id="download" href="${escapeHtml(output)}" download hidden>Download</a></p>
<section class="panel" aria-label="Job"><dl class="facts" id="facts"></dl></section>
<section class="panel" aria-labelledby="profile-title"><h2 id="profile-title">Profile</h2><dl class="facts" id="profile"></dl></section>
<section class="panel" aria-labelledby="history"><h2 id="history">History</h2><ol class="timeline" id="timeline"></ol></section>`;
}

export const INPUT = `<h1>Input folders</h1>
<p><button type="button" id="rescan-all">Rescan all</button></p>
<div id="folders"></div>`;

export function mailListPage(states: readonly string[]): string {
  const options = states.map((state) => `<option>${state}</option>`);
  return `<h1>E-mails</h1>
<form id="filters" class="filters">
<label>Status <select name="status"><option value="">all</option>${options.join('')}</select></label>
</form>
<p id="total" role="status"></p>
${tableOf('rows', 'E-mails', ['To', 'About', 'Status', 'Tries', 'Last error', 'Created'])}
<p class="row"><button type="button" id="previous" disabled>Previous</button><button type="button" id="next" disabled>Next</button></p>`;
}

export function systemPage(facts: SystemFacts): string {
  const rows = facts.map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`);
  return `<h1>System</h1>
<section class="panel" aria-labelledby="pipeline-title"><h2 id="pipeline-title">Pipeline</h2>
<dl class="facts" id="pipeline"></dl>
<p class="row"><button type="button" id="toggle" hidden>Pause</button> <button type="button" id="cleanup">Cleanup</button></p></section>
<section class="panel" aria-labelledby="program-title"><h2 id="program-title">Program</h2><dl class="facts">${rows.join('')}</dl></section>
<h2>Readiness</h2>
${tableOf('checks', 'Readiness', ['Check', 'State', 'Detail'])}
<h2>Profiles</h2>
${tableOf('profiles', 'Profiles', ['Name', 'Format', 'Method', 'Verify', 'Encrypt', 'Certificate', 'Valid until'])}`;
}

/**
 * HTML of the operator pages about actors, threads, documents, webhooks, certificates and failures, before their scripts
 * fill in data from the API.
 */
import { type Html, html } from '../../../contracts/texts/html.ts';
import { FILTERS_FOLD, tableOf } from './operator.ts';

const MORE = html`<p class="row"><button type="button" id="first" disabled>First page</button><button type="button" id="next" disabled>Next</button></p>`;

export const ACTORS = html`<h1>Actors</h1>
<section id="all-kinds" aria-label="Kinds of actors"><p class="quiet">Everything with stored state is an actor: jobs, documents, folders, e-mails, deliveries. A kind opens the list of its actors.</p>
${tableOf('kinds', 'Kinds of actors', ['Kind', 'Actors', 'By state', 'Given up', 'Waiting messages', 'Messages / s', 'Last error'])}</section>
<section id="one-kind" hidden aria-labelledby="kind-title">
<p><a href="/actors">All kinds</a></p>
<h2 id="kind-title">Actors of one kind</h2>
${FILTERS_FOLD}
<form id="filters" class="filters">
<input type="hidden" name="kind">
<label>State <select name="state"><option value="">any</option></select></label>
<label>Id begins with <input name="id" type="search" autocomplete="off" maxlength="200"></label>
<label>Name or id contains <input name="text" type="search" autocomplete="off" maxlength="200"></label>
<fieldset><legend>Only</legend><label><input type="checkbox" name="stuck" value="true"> failing work</label>
<label><input type="checkbox" name="stopped" value="true"> given up</label></fieldset>
<label><input type="checkbox" name="oldest" value="true"> Oldest first</label>
<button type="submit">Filter</button>
</form>
<p id="total" role="status"></p>
${tableOf('rows', 'Actors', ['Id', 'State', 'Steps', 'Waiting messages', 'Trouble'])}
${MORE}
</section>`;

export const ACTOR = html`<p><a href="/actors" id="back">All actors</a></p>
<h1 id="name">Actor</h1>
<p class="row"><span id="status"></span><button type="button" id="restart" hidden>Let it go on</button>
<button type="button" id="copy">Copy as curl</button></p>
<section class="panel" aria-label="Actor"><dl class="facts" id="facts"></dl></section>
<section class="panel" aria-labelledby="machine-title"><h2 id="machine-title">State machine</h2>
<div class="scroll" id="machine" tabindex="0" role="group" aria-label="Picture of the state machine"></div>
<p id="path" class="quiet"></p>
<details><summary>As text</summary><div id="machine-text"></div></details></section>
<section class="panel" aria-labelledby="pending-title"><h2 id="pending-title">Pending</h2><div id="pending"></div></section>
<section class="panel" aria-labelledby="relatives-title"><h2 id="relatives-title">Parent and children</h2><ul id="relatives"></ul></section>
<section class="panel" aria-labelledby="history-title"><h2 id="history-title">History</h2><ol class="timeline" id="timeline"></ol></section>
<section class="panel" aria-labelledby="context-title"><h2 id="context-title">Stored state, without secrets</h2><details><summary>Show</summary><pre id="context" tabindex="0"></pre></details></section>`;

export const RUNTIME = html`<h1>Runtime</h1>
<ul class="cards" id="figures"></ul>
<h2>Threads that host actors</h2>
${tableOf('shards', 'Threads', ['Thread', 'Busy', 'Active actors', 'Fullest mailbox', 'Commit p50 / p99', 'Loop delay p99', 'Losses'])}
<h2>Tasks that take long</h2>
${tableOf('stalled', 'Stalled tasks', ['Task', 'About', 'State', 'Running', 'Limit'])}
<section id="nodes-section" hidden aria-labelledby="nodes-title"><h2 id="nodes-title">Nodes on the store</h2>
${tableOf('nodes', 'Nodes', ['Node', 'Version', 'Started', 'Last heard', 'Leases', 'Effects', 'Behind by', 'Store read', 'Action'])}</section>`;

export const DOCUMENTS = html`<h1>Documents</h1>
<p class="quiet">States of the portal's documents. Titles, people and content are shown to their organization only, so documents are found here by their state and the beginning of their id.</p>
<ul class="cards" id="states"></ul>
${FILTERS_FOLD}
<form id="filters" class="filters">
<input type="hidden" name="kind" value="document">
<label>State <select name="state"><option value="">any</option></select></label>
<label>Id begins with <input name="id" type="search" autocomplete="off" maxlength="200"></label>
<fieldset><legend>Only</legend><label><input type="checkbox" name="stuck" value="true"> failing work</label>
<label><input type="checkbox" name="stopped" value="true"> given up</label></fieldset>
<button type="submit">Filter</button>
</form>
<p id="total" role="status"></p>
${tableOf('rows', 'Documents', ['Id', 'State', 'Steps', 'Waiting messages', 'Trouble'])}
${MORE}
<section class="panel" aria-labelledby="activity-title"><h2 id="activity-title">By the time of their creation, in 24 hours</h2>
<h3>Documents</h3><p id="created" class="quiet"></p><div id="chart-documents"></div>
<h3>Webhook deliveries</h3><div id="chart-webhooks"></div>
<h3>E-mails</h3><div id="chart-mails"></div></section>`;

export function webhooksPage(states: readonly string[]): Html {
  const options = states.map((state) => html`<option value="${state}">${state}</option>`);
  return html`<h1>Webhooks</h1>
<h2>Ends of jobs</h2>
<form id="filters" class="filters">
<label>Status <select name="status"><option value="">any</option>${options}</select></label>
<button type="button" id="replay">Send all failed ones again</button>
</form>
<p id="total" role="status"></p>
${tableOf('rows', 'Deliveries', ['Event', 'Job', 'Status', 'Attempts', 'Last answer', 'Created', 'Action'])}
<p class="row"><button type="button" id="previous" disabled>Previous</button><button type="button" id="next" disabled>Next</button></p>
<section id="portal-section" hidden aria-labelledby="portal-title"><h2 id="portal-title">Events of documents</h2>
<p class="quiet">One queue for each webhook and document, in the order of the events. Organizations see the bodies in the portal.</p>
${tableOf('queues', 'Queues', ['Queue', 'State', 'Steps', 'Trouble'])}
<h3>Deliveries of an organization</h3>
<form id="portal-filters" class="filters">
<label>Organization <select name="organization"><option value="">choose</option></select></label>
<label>State <select name="portal-status"><option value="">any</option>${options}</select></label>
</form>
<p id="portal-total" role="status"></p>
${tableOf('portal-rows', 'Deliveries of an organization', ['Event', 'Document', 'Status', 'Attempts', 'Last answer', 'Created', 'Action'])}</section>`;
}

export const CERTIFICATES = html`<h1>Certificates and keys</h1>
<h2>Certificates</h2>
<p class="quiet">Certificates that profiles sign with. Jobs of a profile whose certificate cannot sign fail with the reason; the others run.</p>
${tableOf('rows', 'Certificates', ['Profile', 'State', 'Subject', 'Source', 'Valid until', 'Left'])}
<section id="keys-section" hidden aria-labelledby="keys-title"><h2 id="keys-title">Keys of applications</h2>
<p class="quiet">Keys of the portal's applications, those that expire first at the top. An administrator of the organization makes and revokes them.</p>
<p id="keys-total" role="status"></p>
${tableOf('keys', 'Keys of applications', ['Application', 'Organization', 'Key', 'State', 'Expires', 'Last used', 'Created'])}</section>`;

export const FAILURES = html`<h1>Failures</h1>
<p id="total" role="status"></p>
<div id="groups"></div>`;

/** `/actors/{kind}/{id}`: one actor with the chart of its machine, its timers and its effects. */
import type { Actor, ActorChart } from '../../../../clients/typescript/batch.d.ts';
import { createElement, requireElement } from '../../dom.ts';
import { actorLink, troubleText } from '../actors.ts';
import { getJson, getShared, post, promptReason, runAction, toast } from '../api.ts';
import { startPage } from '../live-page.ts';
import { describeNext, describePath, machinePicture, machineText } from '../machine-picture.ts';
import { chip, countdown, definitionList, jobLink, refill, timeElement } from '../state-labels.ts';

const path = `/api${location.pathname}`;
const restart = requireElement('#restart', HTMLButtonElement);
let chart: ActorChart | undefined;

function startActorPage(refresh: () => void): void {
  restart.addEventListener('click', async () => {
    const reason = await promptReason('Let this actor go on?', 'Go on', { required: true });
    if (reason === undefined) return;
    await runAction(
      restart,
      () => post(`${path}/restart`, { reason }),
      () => 'The actor goes on from its last stored state.',
    );
    refresh();
  });
  const copy = requireElement('#copy', HTMLButtonElement);
  copy.addEventListener('click', async () => {
    const command = `curl -H "X-API-Key: $SEALWRIGHT_KEY" '${location.origin}${path}'`;
    try {
      await navigator.clipboard.writeText(command);
      toast('ok', 'The command is copied.');
    } catch {
      // Browsers give no clipboard to pages without HTTPS.
      toast('ok', command);
    }
  });
}

async function refreshActorPage(): Promise<void> {
  const actor = await getShared<Actor>(path);
  chart ??= await getJson<ActorChart>(`/api/actor-kinds/${encodeURIComponent(actor.kind)}`);
  const { kind, id, state, stopped, trouble } = actor;
  requireElement('#name').textContent = `${kind} ${id}`;
  requireElement('#back').setAttribute('href', `/actors?${new URLSearchParams({ kind })}`);
  refill(requireElement('#status'), chip(stopped === null ? state : 'Given up'));
  restart.hidden = stopped === null && trouble === null;
  refill(requireElement('#facts'), ...definitionList(facts(actor)));
  const states = statePath(actor);
  showMachine(chart, states);
  requireElement('#path').textContent = `${describePath(states)} ${describeNext(chart, state)}`;
  refill(requireElement('#machine-text'), machineText(chart, states));
  refill(requireElement('#pending'), pending(actor));
  refill(requireElement('#relatives'), ...relatives(actor));
  refill(requireElement('#timeline'), ...[...actor.history].reverse().map(historyLine));
  requireElement('#context').textContent = JSON.stringify(actor.context, undefined, 2);
}

/** Shows the current state, also where the picture is wider than the screen. */
function showMachine(chart: ActorChart, states: readonly string[]): void {
  const place = requireElement('#machine');
  const picture = machinePicture(chart, states);
  const isFirst = place.childElementCount === 0;
  const { scrollLeft } = place;
  refill(place, picture);
  const current = picture.querySelector('.current')?.getBoundingClientRect();
  const { left, width } = place.getBoundingClientRect();
  place.scrollLeft =
    isFirst && current !== undefined ? current.left - left - (width - current.width) / 2 : scrollLeft;
}

function facts(actor: Actor): (readonly [string, HTMLElement | string])[] {
  const { stopped, trouble } = actor;
  const more = troubleText(actor);
  return [
    ...(actor.kind === 'job' ? [['Job', jobLink(actor.id, 'Page of the job')] as const] : []),
    ['State', actor.state],
    ['Steps', String(actor.revision)],
    ['Waiting messages', String(actor.mailbox)],
    ['Accepts', actor.accepts.join(', ') || 'nothing'],
    ['Version of its machine', String(actor.version)],
    ['Thread', String(actor.shard)],
    ...(stopped === null && trouble === null
      ? []
      : [['Trouble', createElement('span', { class: 'trouble' }, more)] as const]),
  ];
}

/** States in the order of the history, each once in a row; the last one is the current state. */
function statePath({ history, state }: Actor): readonly string[] {
  const states: string[] = [];
  for (const line of [...history, { state }]) if (states.at(-1) !== line.state) states.push(line.state);
  return states;
}

function pending({ effects, timers }: Actor): HTMLElement {
  if (effects.length + timers.length === 0)
    return createElement('p', { class: 'quiet' }, 'It waits for nothing.');
  const items = [
    ...effects.map(({ do: what, dueAt, failures, lastError }) => {
      const failed = failures === 0 ? '' : `, failed ${failures} times: ${lastError ?? ''}`;
      return createElement('li', {}, `${what}, next try `, countdown(dueAt), failed);
    }),
    ...timers.map(({ name, due }) => createElement('li', {}, `deadline ${name} `, countdown(due))),
  ];
  return createElement('ul', {}, ...items);
}

function relatives({ parent, children }: Actor): HTMLElement[] {
  const line = (word: string, { kind, id }: NonNullable<Actor['parent']>) =>
    createElement('li', {}, `${word} `, actorLink(kind, id, `${kind} ${id}`));
  const lines = [
    ...(parent === null ? [] : [line('parent', parent)]),
    ...children.map((child) => line('child', child)),
  ];
  return lines.length > 0 ? lines : [createElement('li', { class: 'quiet' }, 'none')];
}

function historyLine({ at, state, message, cause }: Actor['history'][number]): HTMLElement {
  return createElement(
    'li',
    {},
    timeElement(at),
    ' ',
    chip(state),
    ` ${message} `,
    createElement('span', { class: 'quiet' }, `(${cause})`),
  );
}

startPage(refreshActorPage, startActorPage);

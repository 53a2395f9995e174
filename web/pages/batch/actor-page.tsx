/** `/actors/{kind}/{id}`: one actor with the picture of its machine, its timers and its effects. */
import type { Actor, ActorChart } from '../../../clients/typescript/batch.d.ts';
import { Button } from '../../components/controls.tsx';
import { Card, Facts, PageHead, Skeleton } from '../../components/surfaces.tsx';
import { Time } from '../../components/time.tsx';
import { describeNext, describePath, MachinePicture, MachineText } from './machine-picture.tsx';
import { ActorLink, counted, JobLink, State, Trouble, troubleText, type View } from './parts.tsx';
import { ActionButton } from './rights.tsx';

export interface ActorData {
  readonly actor: Actor;
  readonly chart: ActorChart;
}

export interface ActorActions {
  restart(button: HTMLButtonElement): void;
  copy(): void;
  /** The place of the picture, which scrolls on narrow screens. */
  shown(place: HTMLElement | null): void;
}

export function ActorView({ data, actions }: View<ActorData, ActorActions>) {
  const actor = data?.actor;
  const isStuck = actor !== undefined && (actor.stopped !== null || actor.trouble !== null);
  return (
    <>
      <PageHead
        from={{
          href: actor === undefined ? '/actors' : `/actors?${new URLSearchParams({ kind: actor.kind })}`,
          text: 'Actors',
        }}
        id="name"
        title={actor === undefined ? 'Actor' : `${actor.kind} ${actor.id}`}
        state={actor && <State of={actor.stopped === null ? actor.state : 'Given up'} />}
      >
        <Button id="copy" onClick={() => actions?.copy()}>
          Copy as curl
        </Button>
        <ActionButton
          sends="POST /api/actors/{kind}/{id}/restart"
          id="restart"
          rank="main"
          icon="play"
          hidden={!isStuck}
          onClick={({ currentTarget }) => actions?.restart(currentTarget)}
        >
          Let it go on
        </ActionButton>
      </PageHead>
      {data === undefined || actor === undefined ? (
        <Skeleton lines={8} label="The actor is being loaded." />
      ) : (
        <>
          <Card title="Actor" label="Actor" hasBody>
            <Facts id="facts" pairs={factsOf(actor)} />
          </Card>
          <Machine data={data} actions={actions} />
          <div class="columns halves">
            <Card title="History" label="History">
              <ol class="timeline body" id="timeline">
                {[...actor.history].reverse().map(({ id, at, state, message, cause }) => (
                  <li key={id}>
                    <Time at={at} /> <State of={state} /> {message} <span class="muted">({cause})</span>
                  </li>
                ))}
              </ol>
            </Card>
            <div class="stack">
              <Card title="Pending" label="Pending">
                <div class="body" id="pending">
                  <Pending actor={actor} />
                </div>
              </Card>
              <Card title="Parent and children" label="Parent and children">
                <ul class="body" id="relatives">
                  <Relatives actor={actor} />
                </ul>
              </Card>
            </div>
          </div>
          <Card title="Stored state, without secrets" label="Stored state">
            <details class="body">
              <summary>Show</summary>
              <pre id="context" tabIndex={0}>
                {JSON.stringify(actor.context, undefined, 2)}
              </pre>
            </details>
          </Card>
        </>
      )}
    </>
  );
}

function Machine({
  data: { actor, chart },
  actions,
}: {
  data: ActorData;
  actions: ActorActions | undefined;
}) {
  const path = statePath(actor);
  return (
    <Card title="State machine" label="State machine">
      <div class="body stack">
        <div
          class="scroll"
          id="machine"
          tabIndex={0}
          role="group"
          aria-label="Picture of the state machine"
          {...(actions && { ref: actions.shown })}
        >
          <MachinePicture chart={chart} path={path} />
        </div>
        <p id="path" class="muted">
          {describePath(path)} {describeNext(chart, actor.state)}
        </p>
        <details>
          <summary>As text</summary>
          <MachineText chart={chart} path={path} />
        </details>
      </div>
    </Card>
  );
}

function factsOf(actor: Actor) {
  return [
    ...(actor.kind === 'job' ? [['Job', <JobLink id={actor.id}>Page of the job</JobLink>] as const] : []),
    ['State', actor.state] as const,
    ['Steps', actor.revision] as const,
    ['Waiting messages', actor.mailbox] as const,
    ['Accepts', actor.accepts.join(', ') || 'nothing'] as const,
    ['Version of its machine', actor.version] as const,
    ['Thread', actor.shard] as const,
    ...(actor.stopped === null && actor.trouble === null
      ? []
      : [['Trouble', <Trouble>{troubleText(actor)}</Trouble>] as const]),
  ];
}

/** States in the order of the history, each once in a row; the last one is the current state. */
function statePath({ history: lines, state }: Actor): readonly string[] {
  const states: string[] = [];
  for (const line of [...lines, { state }]) if (states.at(-1) !== line.state) states.push(line.state);
  return states;
}

function Pending({ actor: { effects, timers } }: { actor: Actor }) {
  if (effects.length + timers.length === 0) return <p class="muted">It waits for nothing.</p>;
  return (
    <ul>
      {effects.map(({ key, do: what, dueAt, failures, lastError }) => (
        <li key={key}>
          {what}, next try <Time at={dueAt} countdown />
          {failures > 0 && `, failed ${counted(failures, 'time', 'times')}: ${lastError ?? ''}`}
        </li>
      ))}
      {timers.map(({ name: timer, due }) => (
        <li key={`timer ${timer}`}>
          deadline {timer} <Time at={due} countdown />
        </li>
      ))}
    </ul>
  );
}

function Relatives({ actor }: { actor: Actor }) {
  const all = [
    ...(actor.parent === null ? [] : [{ word: 'parent', ...actor.parent }]),
    ...actor.children.map((child) => ({ word: 'child', ...child })),
  ];
  if (all.length === 0) return <li class="muted">none</li>;
  return all.map(({ word, kind, id }) => (
    <li key={`${word} ${kind} ${id}`}>
      {word}{' '}
      <ActorLink kind={kind} id={id}>
        {kind} {id}
      </ActorLink>
    </li>
  ));
}

/** Whatever happens to a document in whatever order, what its flow promises holds. Seeded: a failure names its seed. */
import test from 'ava';
import { transition } from 'xstate';
import { documentMachine } from '../../../machines/portal/documents/document.ts';
import type {
  DocumentContext,
  DocumentMessage,
} from '../../../machines/portal/documents/document-context.ts';
import type { DocumentEffect } from '../../../machines/portal/documents/document-effects.ts';
import { currentStep, isSigning, usersOf } from '../../../machines/portal/documents/document-flow.ts';
import type { DocumentEvent, FlowAction } from '../../../machines/portal/portal-types.ts';
import { initialContext } from '../table.ts';
import { documentInput, person, plan } from './document-harness.ts';

const RUNS = 400;
const MESSAGES = 60;

/** A small generator of numbers from 0 to below 1, the same for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface FlowModel {
  readonly random: () => number;
  state: string;
  context: DocumentContext;
  readonly effects: DocumentEffect[];
  readonly events: DocumentEvent[];
  /** Deadlines by name: when they are due, and what they say. */
  readonly timers: Map<string, { readonly due: number; readonly type: string }>;
  fresh: number;
  at: number;
}

function pick<Item>(random: () => number, items: readonly Item[]): Item | undefined {
  return items[Math.floor(random() * items.length)];
}

function randomFlow(random: () => number) {
  const count = 1 + Math.floor(random() * 5);
  return Array.from({ length: count }, (_, index) => {
    const step = Math.floor(random() * 3);
    const isRule = random() < 0.3;
    const isSigner = random() < 0.7;
    if (!isRule) {
      const user = person(`u${index}`);
      const type = isSigner ? 'Signer' : 'Approver';
      return plan(`action-${index}`, { type, step, user, allowElectronicSignature: isSigner });
    }
    const ruleUsers = Array.from({ length: 1 + Math.floor(random() * 3) }, (__, at) =>
      person(`u${index}-${at}`),
    );
    return plan(`action-${index}`, {
      type: isSigner ? 'SignRule' : 'ApproverRule',
      step,
      ruleUsers,
      numberRequiredSignatures: 1 + Math.floor(random() * ruleUsers.length),
      allowRuleFlowToContinueIfRefused: random() < 0.5,
      allowElectronicSignature: isSigner,
    });
  });
}

const blob = (fresh: number) => ({ sha256: fresh.toString(16).padStart(64, '0'), length: 9 });

/** A message that somebody might send now; mostly one that fits. */
function randomMessage(model: FlowModel): object {
  const { random, context } = model;
  const action = pick(random, context.actions);
  const user = action && pick(random, usersOf(action));
  const turn = { flowActionId: action?.id, userId: user?.id };
  model.fresh += 1;
  const id = `id-${model.fresh}`;
  const work = model.effects.find(({ type }) => type === 'applySignature' || type === 'conclude');
  const outcomes = (): object => {
    if (work?.type === 'conclude')
      return random() < 0.7
        ? { type: 'CONCLUDED', output: null, tellParticipants: true }
        : { type: 'CONCLUSION_FAILED', code: 'x', message: 'x' };
    if (work?.type !== 'applySignature') return { type: 'RETRY' };
    const signature = work.params.signature.id;
    if (random() < 0.75)
      return {
        type: 'SIGNATURE_ADDED',
        id: signature,
        output: blob(model.fresh),
        certificate: 'c',
        ...(work.params.conclude && random() < 0.5 && { concluded: { tellParticipants: true } }),
      };
    return { type: 'SIGNATURE_FAILED', id: signature, code: 'x', message: 'x', isFinal: random() < 0.3 };
  };
  const reservation = pick(random, context.reservations);
  const doer = { id: 'app', type: 'Application', name: 'App' };
  const choice = random();
  const { updateDate, current, signatures } = context;
  const base = { updateDate: updateDate - (random() < 0.3 ? 1 : 0), current, signatures };
  const result = { output: blob(model.fresh), certificate: 'c' };
  const made = { base, signingTime: Math.floor(model.at / 1000) * 1000, result };
  if (choice < 0.25) return outcomes();
  if (choice < 0.45) {
    return {
      type: 'SIGN',
      id,
      ...turn,
      evidence: {},
      evidenceSha256: 'x',
      marks: [],
      image: null,
      isQuiet: false,
      ...(random() < 0.3 && { made }),
    };
  }
  if (choice < 0.6) return { type: 'APPROVE', ...turn, evidence: null, evidenceSha256: null, isQuiet: false };
  if (choice < 0.66) return { type: 'RESERVE', id, ...turn, marks: [] };
  if (choice < 0.71)
    return { type: 'BEGUN', id: reservation?.id ?? 'none', state: blob(model.fresh), certificate: 'p' };
  if (choice < 0.77)
    return {
      type: 'COMPLETE',
      id: reservation?.id ?? 'none',
      value: 'AA==',
      evidence: null,
      evidenceSha256: null,
      isQuiet: false,
      ...(random() < 0.3 && { made }),
    };
  if (choice < 0.79) return { type: 'REFUSE_TURN', ...turn, reason: 'No.' };
  if (choice < 0.83) return { type: pick(random, ['TRY_AGAIN', 'RETRY', 'RESERVATION_OVER', 'GIVE_UP']), id };
  if (choice < 0.86)
    return {
      type: 'EDIT_FLOW',
      change: {
        added:
          random() < 0.5
            ? [plan(`added-${id}`, { user: person(id), step: Math.floor(random() * 4), type: 'Approver' })]
            : [],
        edited: [],
        deleted: random() < 0.3 && action ? [action.id] : [],
        addedObservers: [],
        editedObservers: [],
        deletedObservers: [],
      },
    };
  if (choice < 0.88)
    return {
      type: 'NEW_VERSION',
      name: 'Next',
      file: { ...context.file, blob: blob(model.fresh) },
      format: pick(random, ['Pades', 'Cades']),
      parts: [],
      quietStart: false,
      tellParticipants: false,
      marks: [],
    };
  if (choice < 0.9) return { type: 'REFUSE', by: doer, reason: 'No.' };
  if (choice < 0.91) return { type: 'CANCEL', by: doer, reason: 'No.' };
  if (choice < 0.92) return { type: 'EXPIRE' };
  if (choice < 0.93) return { type: 'DELETE', action: 'DeletedByUserOrApplication' };
  return { type: 'REMIND', flowActionId: action?.id };
}

/** One message, as the runtime does it: state, context, and what is asked for. */
function step(model: FlowModel, message: object): void {
  const snapshot = documentMachine.resolveState({ value: model.state as never, context: model.context });
  const event = { ...message, at: model.at } as DocumentMessage;
  const [next, asked] = transition(documentMachine, snapshot, event);
  if (settles(event, next !== snapshot || asked.length > 0)) model.effects.shift();
  model.state = next.value as string;
  model.context = next.context;
  for (const { type, params } of asked as readonly { readonly type: string; readonly params: unknown }[]) {
    if (type === 'xstate.raise') {
      const { id, delay, event: said } = params as { id: string; delay?: number; event: { type: string } };
      // The same step has handled it.
      if (delay === undefined) continue;
      model.timers.set(id, { due: model.at + delay, type: said.type });
    }
    if (type === 'xstate.cancel') model.timers.delete((params as { sendId: string }).sendId);
    const effect = { type, params } as DocumentEffect;
    if (effect.type === 'announce') model.events.push(...effect.params.events);
    if (effect.type === 'applySignature' || effect.type === 'conclude') model.effects.push(effect);
  }
}

function fireDue(model: FlowModel): void {
  for (const [name, { due, type }] of [...model.timers]) {
    if (due > model.at) continue;
    model.timers.delete(name);
    step(model, { type });
  }
}

/** An outcome settles its work whether the document still wants it or not. */
function settles({ type }: DocumentMessage, _accepted: boolean): boolean {
  return ['SIGNATURE_ADDED', 'SIGNATURE_FAILED', 'CONCLUDED', 'CONCLUSION_FAILED'].includes(type);
}

/** Everything that has to hold at every moment; a text says what does not. */
function broken({ state, context, effects, timers }: FlowModel): string | undefined {
  const { actions, accepted, made, applying } = context;
  const now = currentStep(actions);
  for (const action of actions) {
    if (action.status === 'Created' && action.step === now && state === 'Pending')
      return 'a turn is kept back';
    if (action.status === 'Pending' && action.step !== now) return 'a turn came before its step';
    if (action.status === 'Completed' && action.step > (now ?? action.step))
      return 'a later step was done first';
  }
  if (state === 'FlowConcluded' || state === 'Concluded') {
    if (now !== undefined) return 'concluded with something left to do';
    if (accepted.length > 0) return 'concluded with a signature on its way';
  }
  if (state === 'Pending' && now === undefined) return 'everything is done and nobody says so';
  const doers = made.map(({ flowActionId, userId }) => `${flowActionId} ${userId}`);
  if (new Set(doers).size !== doers.length) return 'somebody did the same twice';
  const promised = accepted.map(({ flowActionId, userId }) => `${flowActionId} ${userId}`);
  if (promised.some((one) => doers.includes(one)) || new Set(promised).size !== promised.length)
    return 'somebody is promised what is done';
  for (const action of actions) {
    const done = made.filter(({ flowActionId }) => flowActionId === action.id).length;
    const enough = neededOf(action);
    if (action.status === 'Completed' && done !== enough) return 'an action is done by too few or too many';
    if (action.status !== 'Completed' && done >= enough)
      return 'an action is not done although enough did it';
  }
  if (applying !== null && !accepted.some(({ id }) => id === applying))
    return 'what is put in was not accepted';
  const atWork = effects.filter(
    (one) => one.type === 'applySignature' && one.params.signature.id === applying,
  );
  if (applying !== null && atWork.length !== 1) return 'nobody puts in what is being put in';
  const signatures = [...made, ...accepted].filter(({ signingTime }) => signingTime !== null);
  if (new Set(signatures.map(({ fieldName }) => fieldName)).size !== signatures.length)
    return 'two signatures have one name';
  const late = [
    ...made.map(({ at, signingTime }) => [at, signingTime]),
    ...accepted.map(({ acceptedAt, signingTime }) => [acceptedAt, signingTime]),
  ].some(([at, claimed]) => (claimed ?? 0) > (at ?? 0));
  if (late) return 'a signature claims a time that is yet to come';
  if (accepted.length === 0 || applying !== null) return undefined;
  return context.processingError !== null && timers.has('again')
    ? undefined
    : 'an accepted signature waits for nothing';
}

function neededOf({ user, numberRequiredSignatures }: FlowAction): number {
  return user === null ? numberRequiredSignatures : 1;
}

test('a flow keeps its invariants in any order of turns, refusals, versions, edits, failures and ends', (t) => {
  let concluded = 0;
  for (let seed = 1; seed <= RUNS; seed++) {
    const random = seeded(seed);
    const input = documentInput({ actions: randomFlow(random), siblings: null });
    const context = initialContext(documentMachine, input) as DocumentContext;
    const model: FlowModel = {
      random,
      state: 'Pending',
      context,
      effects: [],
      events: [],
      timers: new Map(),
      fresh: 0,
      at: 1000,
    };
    for (let count = 0; count < MESSAGES; count++) {
      model.at += Math.floor(random() * 9000);
      fireDue(model);
      const message = randomMessage(model);
      step(model, message);
      const fault = broken(model);
      if (fault !== undefined) {
        t.fail(`seed ${seed}, message ${count} ${JSON.stringify(message)}: ${fault} (${model.state})`);
        return;
      }
    }
    t.deepEqual(
      model.events.map(({ sequence }) => sequence),
      model.events.map((_, index) => index + 1),
      `seed ${seed}: events are numbered without gaps`,
    );
    if (model.events.some(({ type }) => type === 'DocumentConcluded')) concluded += 1;
    const signed = model.events.filter(
      ({ type }) => type === 'DocumentSigned' || type === 'DocumentApproved',
    );
    t.true(signed.length >= model.context.made.length, `seed ${seed}: whatever was made was announced`);
    t.true(model.context.actions.every((action) => isSigning(action) || action.isElectronic === null));
  }
  t.true(concluded > RUNS / 20, `only ${concluded} of ${RUNS} flows were concluded`);
});

test('a flow that is verified with its last signature ends like one that is verified afterwards', (t) => {
  const user = person('u1');
  const approver = plan('action-0', { type: 'Approver', user: person('u0') });
  const signer = plan('action-1', { step: 1, user, allowElectronicSignature: true });
  const context = initialContext(documentMachine, documentInput({ actions: [approver, signer] }));
  const ended = (last: readonly object[], made: object = {}) => {
    let snapshot = documentMachine.resolveState({ value: 'Pending', context: context as DocumentContext });
    const requested: DocumentEffect[] = [];
    const notes: string[] = [];
    const evidence = { evidence: null, evidenceSha256: null, isQuiet: false };
    const sign = { ...evidence, evidence: {}, id: 's1', marks: [], image: null };
    const turns = [
      { type: 'APPROVE', flowActionId: 'action-0', userId: 'u0', ...evidence },
      { type: 'SIGN', flowActionId: 'action-1', userId: 'u1', ...sign, ...made },
    ];
    for (const message of [...turns, ...last]) {
      const [next, actions] = transition(documentMachine, snapshot, { at: 9000, ...message } as never);
      snapshot = next as typeof snapshot;
      for (const { type, params } of actions) {
        if (type === 'note') notes.push((params as { readonly message: string }).message);
        else requested.push({ type, params } as DocumentEffect);
      }
    }
    const events = requested.flatMap((one) => (one.type === 'announce' ? one.params.events : []));
    const mails = requested.flatMap((one) => (one.type === 'notify' ? one.params.notices : []));
    return { state: snapshot.value, context: snapshot.context, notes, events, mails, requested };
  };
  const added = { type: 'SIGNATURE_ADDED', id: 's1', output: blob(7), certificate: 'c' };
  const concluded = { tellParticipants: true };
  const { requested: two, ...after } = ended([added, { type: 'CONCLUDED', output: null, ...concluded }]);
  const { requested: one, ...together } = ended([{ ...added, concluded }]);
  t.is(together.state, 'Concluded');
  t.deepEqual(together, after);
  t.deepEqual(
    together.events.map(({ type }) => type),
    ['DocumentApproved', 'DocumentSigned', 'DocumentConcluded'],
  );
  t.true(two.some((effect) => effect.type === 'conclude'));
  t.false(one.some((effect) => effect.type === 'conclude'));
  const [sealing] = one.filter((effect) => effect.type === 'applySignature');
  const { current, signatures, file } = context as DocumentContext;
  const conclude = { expected: [], original: file.blob };
  t.deepEqual(sealing?.type === 'applySignature' && sealing.params.conclude, conclude);

  const base = { updateDate: 9000, current, signatures };
  const made = {
    made: { base, signingTime: 9000, result: { output: blob(7), certificate: 'c', concluded } },
  };
  const { requested: none, ...atOnce } = ended([], made);
  t.deepEqual(atOnce, together, 'a signature that is made before it is accepted');
  t.false(none.some((effect) => effect.type === 'applySignature'));
});

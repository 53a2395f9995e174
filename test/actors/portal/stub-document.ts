/** An actor that asks for whatever effect it is told to ask for: what a document is to the parts that serve it. */

import { defineActor } from '@sealwright/runtime';
import { setup } from 'xstate';
import { anyEffect } from '../../runtime/any-effect.ts';

const machine = setup({
  types: {
    events: {} as {
      type: string;
      at: number;
      effect: { readonly do: string; readonly [member: string]: unknown };
    },
  },
  actions: { effect: anyEffect },
}).createMachine({
  id: 'document',
  initial: 'Pending',
  states: {
    Pending: {
      on: {
        ASK: { actions: { type: 'effect', params: ({ event }) => event.effect } },
        TOUCH: { target: 'Pending', reenter: true },
      },
    },
  },
});

export const stubDocument = defineActor('document', { machine, version: 1 });

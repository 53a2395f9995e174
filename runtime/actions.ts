/** Actions that ask the runtime for something, for the modules of machines. Pure; loads no other part of the runtime. */

export type { WithoutTime } from './model/definition.ts';
export {
  type DeclaredEffect,
  declareEffect,
  dropEffects,
  type Erasure,
  erase,
  type NoteParams,
  note,
  type RequestOf,
  type TellParams,
  tell,
} from './model/effects.ts';
export type { RequestAction } from './model/requests.ts';

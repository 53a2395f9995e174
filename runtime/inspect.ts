/** Inspection of actors, for pages of operators: kinds, lists, single actors, charts of machines. */

export type { ActorPage, ActorQuery, ActorSummary } from './inspection/actor-pages.ts';
export type { ActorReport, Inspector, KindReport } from './inspection/inspect.ts';
export { type MachineChart, machineChart } from './inspection/machine-chart.ts';
export type {
  EffectQuery,
  EffectState,
  Page,
  PageQuery,
  PendingEffect,
  PendingTimer,
  TimerQuery,
} from './inspection/pending-work.ts';

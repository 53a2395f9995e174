/** States of components and input folders, with their look on pages. */
import type { Tone } from '../tone.ts';

/**
 * State of one component. `Degraded`: the component fails and the rest works, so `GET /api/ready` answers 200.
 * `Unhealthy`: the service cannot work (503). Source: docs/batch-values.md §3.
 */
const HEALTH_STATES = { Healthy: 'good', Degraded: 'warn', Unhealthy: 'bad' } as const;

export type HealthStatus = keyof typeof HEALTH_STATES;
export const HEALTH_TONES: { readonly [status in HealthStatus]: Tone } = HEALTH_STATES;
export const HEALTH_STATUSES = /* @__PURE__ */ Object.keys(HEALTH_TONES) as HealthStatus[];

/** Of an input folder. */
const STATES_OF_FOLDERS = { Initializing: 'warn', Running: 'good', Stopped: 'bad' } as const;

export type InputFolderState = keyof typeof STATES_OF_FOLDERS;
export const FOLDER_TONES: { readonly [state in InputFolderState]: Tone } = STATES_OF_FOLDERS;
export const FOLDER_STATES = /* @__PURE__ */ Object.keys(FOLDER_TONES) as InputFolderState[];

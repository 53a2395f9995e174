/** Words of the batch service: states, kinds and formats. Imports nothing, because threads load it with the machines. */

export const JOB_FORMATS = ['Pades', 'Cades', 'Xades'] as const;

export const JOB_SOURCES = ['Watcher', 'Upload', 'Retry'] as const;

export const JOB_STATES = [
  'Queued',
  'Processing',
  'Verifying',
  'AwaitingSigner',
  'Completed',
  'Failed',
  'Canceled',
] as const;

export const SYSTEM_EVENT_KINDS = [
  'PipelinePaused',
  'PipelineResumed',
  'RescanCompleted',
  'JobsCleared',
  'WatcherStopped',
  'InputDiverged',
  'JobFailed',
  'RecoverySwept',
  // Extension: an operator restarted a stopped actor.
  'ActorRestarted',
  // Extension: an operator's session began or was ended.
  'LoggedIn',
  'LoggedOut',
  // Extension: an operator asked a node to end.
  'NodeDraining',
  // Extension: a large operation has ended.
  'OperationEnded',
  // Beyond the document: a webhook delivery for the end of a job was given up.
  'WebhookFailed',
  // Extension: the original of a completed job could not be removed.
  'InputNotRemoved',
  // Extension: the document of a canceled job stays open on the remote portal.
  'RemoteCancelFailed',
  // Extension: a named API key was made, rotated or revoked.
  'KeyChanged',
] as const;

export const OPERATION_ACTIONS = ['retry', 'cancel', 'clear'] as const;

export const OPERATION_STATES = ['Running', 'Canceling', 'Completed', 'Canceled'] as const;

/**
 * State of one component. `Degraded`: the component fails and the rest works, so `GET /api/ready` answers 200.
 * `Unhealthy`: the service cannot work (503). Source: docs/batch-values.md §3.
 */
export const HEALTH_STATUSES = ['Healthy', 'Degraded', 'Unhealthy'] as const;

/** Job states that each action applies to. Source: docs/batch-values.md §0. */
export const ACTION_STATES = {
  retry: ['Failed'],
  cancel: ['Queued', 'AwaitingSigner'],
  clear: ['Completed', 'Failed', 'Canceled'],
} as const satisfies {
  readonly [action in (typeof OPERATION_ACTIONS)[number]]: readonly (typeof JOB_STATES)[number][];
};
